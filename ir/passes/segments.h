// A network whose sizes the data decide, cut into parts that run one after another.
#ifndef PDL_IR_PASSES_SEGMENTS_H_
#define PDL_IR_PASSES_SEGMENTS_H_

#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include "pdl/compiler/graph.h"

namespace pdl {

/// What an output of a segment is called that only later segments read: this and the value's name.
/// No output has such a name otherwise.
inline constexpr llvm::StringLiteral kCrossing = "@";
/// Stands among names of outputs where none is wanted.
inline constexpr llvm::StringLiteral kNoOutput = "@";

/// One part of a network, a network itself. It reads what earlier ones compute as inputs.
struct Segment {
  Graph graph;
  /// A size that it decides: the symbol, the value (i64[]) that says it, and the call's place.
  struct Size {
    std::string symbol;
    std::string value;
    std::string place;
  };
  std::vector<Size> sizes;
  /// The symbols that earlier ones have decided.
  std::vector<std::string> given;
  /// It has updates or effects: it runs even where none of its outputs is wanted.
  bool always_runs = false;
};

/// A graph of dense values cut behind the values that decide sizes (OpProperties::defines_size): a
/// call that has such a size is in a later segment. What a Plan knows is repeated in each segment
/// that needs it.
class Segments {
 public:
  /// `graph` must outlive this.
  explicit Segments(const Graph& graph);

  /// Nothing is cut.
  bool empty() const { return segments_.empty(); }
  size_t size() const { return segments_.size(); }
  const Segment& operator[](size_t index) const { return segments_[index]; }

  /// The names of the outputs that each segment has to compute for those of the network; none
  /// where it need not run. `outputs`: names that the graph has; empty means all.
  std::vector<std::vector<std::string>> Wanted(llvm::ArrayRef<std::string> outputs) const;

 private:
  /// In every segment that needs it.
  static constexpr unsigned kEverywhere = ~0U;

  void Place();
  unsigned HomeOf(const Value* value) const;
  Segment Make(unsigned index) const;
  /// Calls `visit` with the values that one segment computes and `op`, in another one, reads.
  void ForEachCrossing(const Op& op, llvm::function_ref<void(Value*)> visit) const;

  const Graph& graph_;
  llvm::DenseMap<const Op*, unsigned> home_;
  unsigned count_ = 1;
  std::vector<Segment> segments_;
};

}  // namespace pdl

#endif  // PDL_IR_PASSES_SEGMENTS_H_
