#include "ir/padded_parts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace pdl {
namespace {

/// A concatenation of one value with zeros before and after it.
struct Padded {
  Value* term;   // the concatenation
  Value* value;  // the operand that is not zeros
  int64_t axis;
  Dim start, stop;  // the range of the value along the axis
};

class Joiner {
 public:
  /// More parts with symbolic ranges are not joined: to sort them takes quadratic time.
  static constexpr size_t kMostSymbolic = 256;

  Joiner(Graph& graph, const OpRegistry& registry, const CallOptions& options, llvm::StringRef name)
      : graph_(graph),
        concat_(registry.Find("concat")),
        zeros_(registry.Find("zeros")),
        options_(options),
        name_(name) {}

  llvm::Error Join(llvm::SmallVectorImpl<Value*>& terms) {
    if (concat_ == nullptr || zeros_ == nullptr || terms.size() < 2) return llvm::Error::success();
    std::map<int64_t, std::vector<Padded>> by_axis;
    for (Value* term : terms)
      if (std::optional<Padded> part = PaddedOf(term)) by_axis[part->axis].push_back(*part);
    for (auto& [axis, padded] : by_axis) {
      if (padded.size() < 2 || !Order(padded)) continue;
      llvm::Expected<Value*> joined = Concatenate(padded);
      if (!joined) return joined.takeError();
      llvm::DenseSet<const Value*> replaced;
      for (const Padded& part : padded) replaced.insert(part.term);
      llvm::erase_if(terms, [&](const Value* term) { return replaced.contains(term); });
      terms.push_back(*joined);
    }
    return llvm::Error::success();
  }

 private:
  bool IsZeros(const Value* value) const {
    return value->producer() != nullptr && &value->producer()->def() == zeros_;
  }

  std::optional<Padded> PaddedOf(Value* term) const {
    const Op* op = term->producer();
    if (op == nullptr || &op->def() != concat_) return std::nullopt;
    int64_t axis = op->attributes().Int("axis");
    if (axis < 0) axis += term->type().rank();
    Padded found = {term, nullptr, axis, 0, 0};
    Dim end = 0;
    for (Value* operand : op->operands()) {
      const Dim begin = end;
      end = end + operand->type().dims[static_cast<size_t>(axis)];
      if (IsZeros(operand)) continue;
      if (found.value != nullptr) return std::nullopt;
      found.value = operand;
      found.start = begin;
      found.stop = end;
    }
    return found.value != nullptr ? std::optional(found) : std::nullopt;
  }

  /// Sorts the parts by their ranges; false if they are not known to be disjoint.
  static bool Order(std::vector<Padded>& parts) {
    if (llvm::all_of(parts, [](const Padded& part) {
          return part.start.is_constant() && part.stop.is_constant();
        })) {
      llvm::sort(parts, [](const Padded& a, const Padded& b) {
        return std::pair(a.start.constant(), a.stop.constant()) <
               std::pair(b.start.constant(), b.stop.constant());
      });
    } else if (parts.size() > kMostSymbolic) {
      return false;
    } else {
      for (auto first = parts.begin(); first != parts.end(); ++first)
        for (auto other = first + 1; other != parts.end(); ++other)
          if (EndsBefore(*other, *first)) std::iter_swap(first, other);
    }
    return std::adjacent_find(parts.begin(), parts.end(), [](const Padded& a, const Padded& b) {
             return !EndsBefore(a, b);
           }) == parts.end();
  }
  static bool EndsBefore(const Padded& a, const Padded& b) {
    return (b.start - a.stop).ProvablyAtLeast(0);
  }

  llvm::Expected<Value*> Add(const OpDef& def, llvm::ArrayRef<Value*> operands,
                             llvm::ArrayRef<NamedAttribute> attributes) {
    llvm::Expected<Op*> op =
        graph_.AddOp(def, operands, attributes, {graph_.NewName(name_)}, options_);
    if (!op) return op.takeError();
    return (*op)->result();
  }

  llvm::Expected<Value*> Concatenate(llvm::ArrayRef<Padded> parts) {
    const Type& type = parts.front().term->type();
    const auto axis = static_cast<size_t>(parts.front().axis);
    llvm::SmallVector<Value*, 8> operands;
    auto fill = [&](const Dim& size) -> llvm::Error {
      if (size.is_constant(0)) return llvm::Error::success();
      Shape dims = type.dims;
      dims[axis] = size;
      llvm::Expected<Value*> zeros = Add(*zeros_, {}, {{"dims", dims}, {"dtype", type.dtype}});
      if (!zeros) return zeros.takeError();
      operands.push_back(*zeros);
      return llvm::Error::success();
    };
    Dim end = 0;
    for (const Padded& part : parts) {
      if (llvm::Error error = fill(part.start - end)) return error;
      operands.push_back(part.value);
      end = part.stop;
    }
    if (llvm::Error error = fill(type.dims[axis] - end)) return error;
    return Add(*concat_, operands, {{"axis", parts.front().axis}});
  }

  Graph& graph_;
  const OpDef *concat_, *zeros_;
  const CallOptions& options_;
  llvm::StringRef name_;
};

}  // namespace

llvm::Error JoinPaddedParts(Graph& graph, const OpRegistry& registry, const CallOptions& options,
                            llvm::StringRef name, llvm::SmallVectorImpl<Value*>& terms) {
  return Joiner(graph, registry, options, name).Join(terms);
}

}  // namespace pdl
