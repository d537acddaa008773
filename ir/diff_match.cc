// Which call of one graph is which of the other.
#include <algorithm>
#include <deque>

#include "ir/differ.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

namespace pdl {
namespace {

// A block without the names of its results, to compare it with one of another graph.
void PrintBlock(const Graph& graph, BlockId id, llvm::raw_ostream& os);

void PrintAttribute(const Graph& graph, const AttributeValue& value, llvm::raw_ostream& os) {
  if (const auto* block = std::get_if<BlockId>(&value)) return PrintBlock(graph, *block, os);
  os << AttributeToString(value);
}

void PrintBlock(const Graph& graph, BlockId id, llvm::raw_ostream& os) {
  const Block& block = graph.block(id);
  llvm::DenseMap<const Value*, size_t> numbers;
  auto add = [&](const Value* value) {
    numbers.try_emplace(value, numbers.size());
    os << value->type().ToString() << ' ';
  };
  auto print = [&](const Value* value) {
    auto found = numbers.find(value);
    if (found != numbers.end()) {
      os << '%' << found->second << ' ';
    } else {
      os << value->name() << ' ';
    }
  };
  os << '{';
  for (const Value* input : block.inputs) add(input);
  for (const Op* op : block.ops) {
    os << op->type() << '(';
    for (const Value* operand : op->operands()) print(operand);
    for (const AttributeValue& value : op->attribute_values()) {
      PrintAttribute(graph, value, os);
      os << ' ';
    }
    os << ')';
    for (const Value* result : op->results()) add(result);
  }
  for (const Value* output : block.outputs) print(output);
  os << '}';
}

}  // namespace

std::string BlockText(const Graph& graph, BlockId id) {
  std::string text;
  llvm::raw_string_ostream os(text);
  PrintBlock(graph, id, os);
  return text;
}

namespace {

// A name that the compiler made for a value in the middle of an expression: "y_relu", "y_relu_2".
// Another one there may have shifted its number.
bool IsMadeName(llvm::StringRef name, llvm::StringRef type) {
  const llvm::StringRef stem = name.rtrim("0123456789");
  if (stem.size() < name.size() && stem.ends_with("_")) name = stem.drop_back();
  return name == type || (name.consume_back(type) && name.ends_with("_"));
}

}  // namespace

void Differ::Match(const Op* before, const Op* after) {
  match_[before] = after;
  match_[after] = before;
  const size_t count = std::min(before->results().size(), after->results().size());
  for (size_t i = 0; i < count; ++i) MatchValues(before->results()[i], after->results()[i]);
}

bool Differ::HaveEqualAttributes(const Op& before, const Op& after) const {
  for (size_t i = 0; i < before.attribute_values().size(); ++i) {
    const AttributeValue& a = before.attribute_values()[i];
    const AttributeValue& b = after.attribute_values()[i];
    const auto* block_a = std::get_if<BlockId>(&a);
    const auto* block_b = std::get_if<BlockId>(&b);
    const bool same = block_a != nullptr && block_b != nullptr
                          ? BlockText(before_, *block_a) == BlockText(after_, *block_b)
                          : Identical(a, b);
    if (!same) return false;
  }
  return true;
}

// The operator and its operands, in the values of the graph before; empty where an operand of the
// graph after is new, or where nothing tells the call from others of its kind.
std::string Differ::Key(const Op& op, bool is_after) const {
  if (op.operands().empty()) return "";
  std::string key = op.type();
  for (const Value* operand : op.operands()) {
    if (is_after) operand = before_of_.lookup(operand);
    if (operand == nullptr) return "";
    key += ' ' + std::to_string(before_.number(operand));
  }
  return key;
}

// Calls of the same operator on the same operands; and, in the order of the calls, calls with the
// same name. Each match makes the operands of later calls known.
void Differ::MatchForward() {
  llvm::StringMap<std::deque<const Op*>> keyed;
  for (const Op* op : before_.ops()) {
    const std::string key = Key(*op, /*is_after=*/false);
    if (!key.empty() && !IsMatched(op)) keyed[key].push_back(op);
  }
  for (const Op* op : after_.ops()) {
    if (IsMatched(op)) continue;
    const Value* named = before_.FindValue(op->result()->name());
    const Op* namesake = named != nullptr ? named->producer() : nullptr;
    if (namesake != nullptr && (IsMatched(namesake) || namesake->type() != op->type()))
      namesake = nullptr;
    const std::string key = Key(*op, /*is_after=*/true);
    if (!key.empty()) {
      if (namesake != nullptr && Key(*namesake, false) == key) {
        Match(namesake, op);
        continue;
      }
      std::deque<const Op*>& queue = keyed[key];
      while (!queue.empty() && IsMatched(queue.front())) queue.pop_front();
      // The first with equal attributes, of those next in line.
      constexpr size_t kMaxTried = 16;
      const Op* found = nullptr;
      for (size_t i = 0; i < std::min(queue.size(), kMaxTried); ++i) {
        const Op* candidate = queue[i];
        const Value* heir = after_.FindValue(candidate->result()->name());
        const bool is_claimed = heir != nullptr && heir->producer() != nullptr &&
                                heir->producer() != op && !IsMatched(heir->producer()) &&
                                heir->producer()->type() == candidate->type();
        if (IsMatched(candidate) || is_claimed) continue;
        if (HaveEqualAttributes(*candidate, *op)) {
          found = candidate;
          break;
        }
        if (found == nullptr) found = candidate;
      }
      if (found != nullptr) {
        Match(found, op);
        continue;
      }
    }
    if (namesake != nullptr && !IsMadeName(op->result()->name(), op->type())) Match(namesake, op);
  }
}

void Differ::MatchByName(bool same_type) {
  for (const Op* op : after_.ops()) {
    if (IsMatched(op)) continue;
    const Value* named = before_.FindValue(op->result()->name());
    const Op* other = named != nullptr ? named->producer() : nullptr;
    if (other == nullptr || IsMatched(other) || (same_type && other->type() != op->type()))
      continue;
    if (same_type || !IsMadeName(op->result()->name(), op->type())) Match(other, op);
  }
}

// One may have become the other: they share an operand or the type of their result.
bool Differ::AreAlike(const Op& before, const Op& after) const {
  if (&before.def() != &after.def()) return false;
  if (before.result()->type() == after.result()->type()) return true;
  const size_t count = std::min(before.operands().size(), after.operands().size());
  for (size_t i = 0; i < count; ++i)
    if (AreSame(before.operands()[i], after.operands()[i])) return true;
  return false;
}

// The longest common subsequence of what is left; an operator with equal attributes weighs more.
void Differ::MatchBySequence() {
  constexpr size_t kMaxCells = 4'000'000;
  std::vector<const Op*> a, b;
  for (const Op* op : before_.ops())
    if (!IsMatched(op)) a.push_back(op);
  for (const Op* op : after_.ops())
    if (!IsMatched(op)) b.push_back(op);
  if (a.empty() || b.empty()) return;
  if (a.size() > kMaxCells / b.size()) return MatchByName(/*same_type=*/true);
  const size_t width = b.size() + 1;
  std::vector<uint32_t> best((a.size() + 1) * width);
  auto weight = [&](size_t i, size_t j) -> uint32_t {
    if (!AreAlike(*a[i], *b[j])) return 0;
    return HaveEqualAttributes(*a[i], *b[j]) ? 3 : 2;
  };
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t j = b.size(); j-- > 0;) {
      const uint32_t both = weight(i, j);
      uint32_t value = std::max(best[(i + 1) * width + j], best[i * width + j + 1]);
      if (both != 0) value = std::max(value, both + best[(i + 1) * width + j + 1]);
      best[i * width + j] = value;
    }
  }
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const uint32_t value = best[i * width + j];
    const uint32_t both = weight(i, j);
    if (both != 0 && value == both + best[(i + 1) * width + j + 1]) {
      Match(a[i++], b[j++]);
    } else if (value == best[(i + 1) * width + j]) {
      ++i;
    } else {
      ++j;
    }
  }
}

void Differ::MatchCalls() {
  MatchForward();
  MatchBySequence();
  MatchByName(/*same_type=*/false);
}

}  // namespace pdl
