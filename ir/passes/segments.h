// Partition of a network with data-dependent sizes into segments that run one after another.
#ifndef PDL_IR_PASSES_SEGMENTS_H_
#define PDL_IR_PASSES_SEGMENTS_H_

#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include "pdl/compiler/graph.h"

namespace pdl {

/// The prefix, before the value's name, of the names of outputs that only later segments read. No
/// other output has such a name.
inline constexpr llvm::StringLiteral kCrossing = "@";
/// A name in lists of outputs that selects no output.
inline constexpr llvm::StringLiteral kNoOutput = "@";

/// One segment of a network, a network itself. Values that earlier segments compute are its inputs.
struct Segment {
  Graph graph;
  /// A size that the segment determines: the symbol, its value (i64[]), and the location of the
  /// call.
  struct Size {
    std::string symbol;
    std::string value;
    std::string place;
  };
  std::vector<Size> sizes;
  /// The symbols that earlier segments determine.
  std::vector<std::string> given;
  /// Whether it has updates or side effects, so that it must run even if none of its outputs is
  /// requested.
  bool always_runs = false;
};

/// Partitions a graph of dense values after the calls that define sizes
/// (OpProperties::defines_size): calls that use such a size are in later segments. Values that a
/// Plan knows are recomputed in each segment that needs them.
class Segments {
 public:
  /// `graph` must outlive this.
  explicit Segments(const Graph& graph);

  /// Whether the graph needs no partition.
  bool empty() const { return segments_.empty(); }
  size_t size() const { return segments_.size(); }
  const Segment& operator[](size_t index) const { return segments_[index]; }

  /// Returns the names of the outputs that each segment has to compute for the given outputs of the
  /// network (empty: all); none if the segment need not run.
  std::vector<std::vector<std::string>> Requested(llvm::ArrayRef<std::string> outputs) const;

 private:
  /// In every segment that needs it.
  static constexpr unsigned kEverywhere = ~0U;

  void Place();
  unsigned HomeOf(const Value* value) const;
  Segment Make(unsigned index) const;
  /// Calls `visit` with each value that one segment computes and `op`, in another segment, reads.
  void ForEachCrossing(const Op& op, llvm::function_ref<void(Value*)> visit) const;

  const Graph& graph_;
  llvm::DenseMap<const Op*, unsigned> home_;
  unsigned count_ = 1;
  std::vector<Segment> segments_;
};

}  // namespace pdl

#endif  // PDL_IR_PASSES_SEGMENTS_H_
