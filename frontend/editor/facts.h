#ifndef PDL_FRONTEND_EDITOR_FACTS_H_
#define PDL_FRONTEND_EDITOR_FACTS_H_

#include <string>
#include <utility>
#include <vector>

#include "frontend/elaborate/elaboration_state.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "pdl/compiler/graph.h"

namespace pdl {

/// The types that a name has at one position of the source. A layer is elaborated once for each
/// call, and a loop for each iteration.
struct NameFact {
  /// Different types, in the order of the elaboration; empty if the value is not a tensor.
  llvm::SmallVector<Type, 1> types;
  /// There are more types.
  bool has_more = false;
  bool is_size = false;
  /// A description of a value that is not a tensor: "the int 3"; empty for a tensor.
  std::string constant;
  /// Where the parameter, state or input with this value is defined; kUnknownLocation for others.
  LocationId location = kUnknownLocation;
  /// Its full name in the graph.
  std::string variable;
};

/// A call of an operator or a layer at one position of the source.
struct CallFact {
  /// The types of one call, or descriptions of values that are not tensors.
  struct Types {
    std::vector<std::string> operands;
    std::vector<std::pair<std::string, std::string>> results;  // names and types
    friend bool operator==(const Types&, const Types&) = default;
  };
  const OpDef* op = nullptr;  // null for a layer
  /// The attributes of the first call, in the order of the declaration.
  std::vector<AttributeValue> attributes;
  /// Different types, in the order of the elaboration.
  llvm::SmallVector<Types, 1> types;
  bool has_more = false;
  uint32_t seen = 0;  // how often it was elaborated
};

/// Records facts about the files of an elaboration, except for the standard layers. Of source that
/// is elaborated many times, only a few facts are kept.
class Facts : public ElaborationObserver {
 public:
  /// With `tests_only`, only those about the statements of tests are recorded.
  explicit Facts(bool tests_only = false) : tests_only_(tests_only) {}

  void OnName(const Position& at, SourceRange range, const Datum& value, bool is_size) override;
  void OnCall(const Position& at, SourceRange callee, const Op& op) override;
  void OnLayerCall(const Position& at, const LayerArguments& arguments,
                   llvm::ArrayRef<CallResult> results) override;

  /// The fact about a name or a callee, or null.
  const NameFact* FindName(const SourceFile& file, SourceRange range) const;
  const CallFact* FindCall(const SourceFile& file, SourceRange callee) const;
  /// Adds the facts of `other`.
  void Add(const Facts& other);

 private:
  using Key = std::pair<const SourceFile*, uint64_t>;
  static Key KeyOf(const SourceFile& file, SourceRange range) {
    return {&file, uint64_t{range.begin} << 32 | range.end};
  }
  bool IsRecorded(const Position& at) const;
  /// The fact about a call with its attributes; null if enough are recorded.
  CallFact* AddCall(const Position& at, SourceRange callee);
  static void AddTypes(CallFact* fact, CallFact::Types types);

  bool tests_only_;
  llvm::DenseMap<Key, NameFact> names_;
  llvm::DenseMap<Key, CallFact> calls_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_EDITOR_FACTS_H_
