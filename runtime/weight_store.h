#ifndef PDL_RUNTIME_WEIGHT_STORE_H_
#define PDL_RUNTIME_WEIGHT_STORE_H_

#include <mutex>
#include <optional>
#include <string>

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/tensor.h"
#include "pdl/runtime/io.h"
#include "pdl/runtime/network.h"
#include "runtime/evaluator.h"

namespace pdl {

/// Returns the CPU tensor in another dtype; both are floating-point, or the same. Shares the memory
/// if there is nothing to do.
llvm::Expected<Tensor> ConvertTo(DType dtype, const Tensor& value);

/// The initial values of a network's parameters and states, and the copies of parameters on
/// devices. Values in files are mapped and checked when the store is created; initializers are
/// evaluated when their value is first requested. Safe to use from several threads.
class WeightStore {
 public:
  WeightStore(const Graph& graph, const NetworkOptions& options)
      : graph_(graph), options_(options) {}

  /// Opens the files and checks their contents. Reports all mismatches at once.
  llvm::Error Load();
  /// The initial value on the CPU. `lookup` gives the sizes of symbols in the dims of a state. For
  /// a copy this is the initial value of its source, unless the copy was given a value of its own.
  llvm::Expected<Tensor> Initial(const Value& variable, SymbolLookup lookup);
  /// The parameter or state whose value a state gets when it is created; null if it is not a copy,
  /// or was given a value of its own.
  const Value* SourceOf(const Value& state);
  /// The initial value of a state if it is the same tensor each time, so that a Scope which holds
  /// this tensor is known to hold the initial value; an empty Tensor if it is not.
  llvm::Expected<Tensor> KeptInitial(const Value& state);
  /// The value on the context's device; the same tensor each time.
  llvm::Expected<Tensor> OnDevice(const Value& parameter, DeviceContext& context);

 private:
  /// The files that were opened, by the names that variables give; nullopt if one cannot be read.
  using WeightFilesByName = llvm::StringMap<std::optional<SafetensorsFile>>;
  llvm::Expected<Tensor> LoadOne(const Value& variable, WeightFilesByName& files) const;
  /// The error with the location of the variable before its message.
  llvm::Error AtLocationOf(const Value& variable, llvm::Error error) const;
  llvm::Error HasNoValue(const Value& variable) const;
  /// The error of a value with an element outside the declared range.
  llvm::Error CheckRange(const Value& variable, const Tensor& tensor) const;
  /// The error of a value of that type, described by `where`.
  llvm::Error WrongType(const Value& variable, DType dtype, llvm::ArrayRef<int64_t> sizes,
                        const std::string& where) const;

  const Graph& graph_;
  const NetworkOptions& options_;
  std::mutex mutex_;
  llvm::StringMap<Tensor> values_;
  llvm::StringMap<Tensor> device_values_;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_WEIGHT_STORE_H_
