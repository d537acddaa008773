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

/// What copies of a Model share. Immutable but for the Network's own caches.
struct Model::Impl {
  ModelOptions options;
  /// What it was loaded from, for training: a path, or source and its name.
  std::string path, source, name;
  std::shared_ptr<const Network> network;
  std::shared_ptr<DeviceContext> context;
  std::string warnings;
};

/// Loads what `own` says, as it is run or for training; see LoadNetwork.
llvm::Expected<LoadedNetwork> LoadAgain(const Model::Impl& own, bool training_step);

/// A Tensor over the array's memory, which must outlive it. An Error where the array is none:
/// negative sizes, more elements than memory can hold, no memory.
llvm::Expected<Tensor> ViewOf(llvm::StringRef name, const Array& array);
/// An Array that owns the Tensor's memory, on the CPU.
Array ToArray(Tensor tensor);

}  // namespace pdl

#endif  // PDL_MODEL_MODEL_H_
