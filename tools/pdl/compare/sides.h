#ifndef PDL_TOOLS_PDL_COMPARE_SIDES_H_
#define PDL_TOOLS_PDL_COMPARE_SIDES_H_

#include <memory>
#include <optional>
#include <string>

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "pdl/op/device_context.h"
#include "pdl/runtime/network.h"
#include "pdl/runtime/scope.h"
#include "tools/pdl/support/common_options.h"
#include "tools/pdl/support/run_inputs.h"

namespace pdl {

/// Names of values of the second network, by the names in the first one that they go with; those
/// that are not there go with their own.
class Pairs {
 public:
  /// One value of --pair: "A=B". A UsageError where it is none, or says something twice.
  llvm::Error Add(llvm::StringRef argument);
  /// The first one's name of what the second one calls `name`, and the other way round.
  std::string FirstOf(llvm::StringRef name) const { return Lookup(first_of_, second_of_, name); }
  std::string SecondOf(llvm::StringRef name) const { return Lookup(second_of_, first_of_, name); }

 private:
  static std::string Lookup(const llvm::StringMap<std::string>& to,
                            const llvm::StringMap<std::string>& back, llvm::StringRef name);
  llvm::StringMap<std::string> first_of_, second_of_;
};

/// One of the two that are compared: a network, ready to run.
struct Side {
  std::string path;
  CommonOptions options;
  /// What its floats are made; nullopt: they stay what they are.
  std::optional<DType> floats;

  std::shared_ptr<const Network> network;
  /// The graph as it was loaded, with the floats that it had; of no other use than its inputs.
  std::shared_ptr<const Network> loaded;
  std::unique_ptr<DeviceContext> context;
  Scope scope;
  /// "model.pdl", "model.pdl on cuda:0 in bf16".
  std::string Title() const;
};

/// Reads the network and opens the device. With `floats` parameters are the network's own values,
/// rounded.
llvm::Error Open(Side& side);
/// The same network as `side` on the device of its own options.
llvm::Error OpenSame(const Side& opened, Side& side);

/// Feeds the first one what `inputs` gives, and the second one the same, with floats rounded to
/// what each wants. All mistakes at once.
llvm::Error FeedBoth(RunInputs& inputs, const Pairs& pairs, Side& first, Side& second);
/// Feeds one alone.
llvm::Error FeedOne(RunInputs& inputs, Side& side);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_COMPARE_SIDES_H_
