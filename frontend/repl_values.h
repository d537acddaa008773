#ifndef PDL_FRONTEND_REPL_VALUES_H_
#define PDL_FRONTEND_REPL_VALUES_H_

#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"
#include "pdl/constant.h"
#include "pdl/graph.h"
#include "pdl/repl.h"

namespace pdl {

/// The values that a session knows: fed, or computed once and kept. The text grows at its end only,
/// so a value is the same one in each of its graphs where name and place are the same.
class ReplValues {
 public:
  explicit ReplValues(ReplHost& host) : host_(host) {}

  /// The values of that name in `graph`, of the first `kept_lines` lines of whose text they are
  /// kept from now on; nullopt where an input that one depends on was not fed. The Error is the
  /// run's.
  llvm::Expected<std::vector<std::optional<Constant>>> Get(const Graph& graph, uint32_t kept_lines,
                                                           llvm::ArrayRef<std::string> names);
  /// Gives an input, parameter or state a value, and forgets what depends on it. Returns the names
  /// of all those values.
  llvm::StringSet<> Feed(const Graph& graph, const Value* value, Constant constant);
  /// "y:3:1", or empty for a value that cannot be told apart from others.
  static std::string Key(const Graph& graph, const Value* value);
  void Clear() { known_.clear(); }

 private:
  const Constant* Find(const Graph& graph, const Value* value) const;

  ReplHost& host_;
  llvm::StringMap<Constant> known_;  // by Key
};

}  // namespace pdl

#endif  // PDL_FRONTEND_REPL_VALUES_H_
