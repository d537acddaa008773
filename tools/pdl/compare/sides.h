#ifndef PDL_TOOLS_PDL_COMPARE_SIDES_H_
#define PDL_TOOLS_PDL_COMPARE_SIDES_H_

#include <memory>
#include <optional>
#include <string>

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/device_context.h"
#include "pdl/runtime/network.h"
#include "pdl/runtime/scope.h"
#include "tools/pdl/support/common_options.h"
#include "tools/pdl/support/run_inputs.h"

namespace pdl {

struct Side;

/// Maps the names of values in the first network to those in the second one; names without an entry
/// map to themselves.
class Pairs {
 public:
  /// Adds one value of --pair: "A=B". A UsageError if it is malformed or contradicts an earlier
  /// one.
  llvm::Error Add(llvm::StringRef argument);
  bool is_empty() const { return second_of_.empty(); }
  /// Pairs the values of outputs of the same name, which may have other names of their own, unless
  /// one of them is paired already.
  void AddOutputs(const Graph& first, const Graph& second);
  /// Reports names that are not those of an input, output or other value of their network, as it
  /// was loaded or optimized.
  llvm::Error Check(const Side& first, const Side& second) const;
  /// The name in the first network of the second network's value `name`, and vice versa.
  std::string FirstOf(llvm::StringRef name) const { return Lookup(first_of_, second_of_, name); }
  std::string SecondOf(llvm::StringRef name) const { return Lookup(second_of_, first_of_, name); }

 private:
  static std::string Lookup(const llvm::StringMap<std::string>& to,
                            const llvm::StringMap<std::string>& back, llvm::StringRef name);
  llvm::StringMap<std::string> first_of_, second_of_;
};

/// One of the two sides of a comparison: a network that is ready to run.
struct Side {
  std::string path;
  CommonOptions options;
  /// The dtype to convert all floats to; nullopt: they are not converted.
  std::optional<DType> floats;

  std::shared_ptr<const Network> network;
  /// The graph as it was loaded, before floats were converted; only its inputs are used.
  std::shared_ptr<const Network> loaded;
  std::unique_ptr<DeviceContext> context;
  Scope scope;
  /// "model.pdl", "model.pdl on cuda:0 in bf16".
  std::string Title() const;
};

/// Reads the network and opens the device. With `options.training_step`, the network is that of a
/// training step. With `floats`, the values of parameters are rounded.
llvm::Error Open(Side& side);
/// Opens the network of `opened` again, on the device of the options of `side`.
llvm::Error OpenSame(const Side& opened, Side& side);

/// The values of parameters and states, without states whose size is known only to a run.
llvm::Expected<llvm::StringMap<Constant>> InitialValues(const Network& network);

/// Feeds the first network with `inputs` and the second one with the same values, floats rounded to
/// the dtypes that each network declares. Reports all errors at once. `pairs` are those of --pair;
/// null if the command has no such option.
llvm::Error FeedBoth(RunInputs& inputs, const Pairs* pairs, Side& first, Side& second);
/// Feeds only one network.
llvm::Error FeedOne(RunInputs& inputs, Side& side);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_COMPARE_SIDES_H_
