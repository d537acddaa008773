#ifndef PDL_MODEL_MODEL_H_
#define PDL_MODEL_MODEL_H_

#include <memory>
#include <string>

#include "llvm/Support/Error.h"
#include "pdl/compiler/load.h"
#include "pdl/op/device_context.h"
#include "pdl/op/tensor.h"
#include "pdl/pdl.h"
#include "pdl/runtime/network.h"

namespace pdl {

/// The state that copies of a Model share. Immutable except for the caches of the Network.
struct Model::Impl {
  ModelOptions options;
  /// The origin of the model, needed for training: a path, or bytes and their name.
  std::string path, bytes, name;
  /// The bytes are source, whatever the extension of the name.
  bool is_source = false;
  std::shared_ptr<const Network> network;
  std::shared_ptr<DeviceContext> context;
  std::string warnings;
};

/// Gives other sources of this module access to a Model.
struct ModelAccess {
  /// Null if the model was moved from.
  static const Model::Impl* Of(const Model& model) { return model.impl_.get(); }
};

/// An Error if `own` is null: the model was moved from.
llvm::Error CheckModel(const Model::Impl* own);

/// Checks an array that is to be an input of runs, without knowing the others: that the network has
/// an input with an array of that name, and that the array, if not null, is valid as in InputView.
llvm::Error CheckInput(const Graph& graph, llvm::StringRef name, const Array* array);

/// The output that an array belongs to; ragged and sparse outputs have several. An Error if there
/// is none.
llvm::Expected<std::string> OutputOf(const Graph& graph, llvm::StringRef name);

/// Loads the origin of `own` again, for inference or for training; see LoadNetwork.
llvm::Expected<LoadedNetwork> LoadAgain(const Model::Impl& own, bool training_step);

/// A Tensor that refers to the array's memory, which must outlive it. Fails if the array is
/// invalid: negative sizes, more elements than memory can hold, a null pointer.
llvm::Expected<Tensor> ViewOf(llvm::StringRef name, const Array& array);
/// The same for an array that a run reads, whose bools must be 0 or 1.
llvm::Expected<Tensor> InputView(llvm::StringRef name, const Array& array);
/// An Array that owns the Tensor's memory, on the CPU.
Array ToArray(Tensor tensor);

}  // namespace pdl

#endif  // PDL_MODEL_MODEL_H_
