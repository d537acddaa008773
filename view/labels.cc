#include "view/labels.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "pdl/compiler/source.h"
#include "pdl/op/dtype.h"

namespace pdl::view {
namespace {

/// The width of a character of the title and of the other lines, in pixels: those of a monospaced
/// font in the sizes of page.css. The page shortens what does not fit.
constexpr double kTitleWidth = 8, kLineWidth = 6.7;
constexpr double kTitleHeight = 28, kLineHeight = 15, kPadding = 22;
/// The most characters of a line that make its box wider.
constexpr size_t kMaxTitle = 30, kMaxLine = 36;

std::string Count(size_t count, llvm::StringRef noun) {
  return llvm::formatv("{0} {1}{2}", count, noun, count == 1 ? "" : "s").str();
}

std::vector<std::string> LinesOfCall(const Node& node) {
  constexpr size_t kMaxVariables = 3;
  const Op& op = *node.ops.front();
  std::vector<std::string> lines;
  if (!node.subtitle.empty()) {
    lines.push_back(node.subtitle);
  } else if (op.results().size() == 1) {
    lines.push_back(ShortName(*op.result()).str());
  } else {
    lines.push_back(Count(op.results().size(), "result"));
  }
  if (node.variables.size() > kMaxVariables) {
    lines.push_back(SummarizeVariables(node.variables));
    return lines;
  }
  for (const Value* variable : node.variables)
    lines.push_back(ShortName(*variable, op.layer_path()).str() + " " +
                    variable->type().ToString());
  return lines;
}

}  // namespace

std::optional<int64_t> BytesOf(const Type& type) {
  if (!type.is_plain()) return std::nullopt;
  int64_t bytes = DTypeSize(type.dtype);
  for (const Dim& dim : type.dims)
    if (!dim.is_constant() || llvm::MulOverflow(bytes, dim.constant(), bytes)) return std::nullopt;
  return bytes;
}

std::string FormatBytes(int64_t bytes) {
  constexpr double kStep = 1000;
  if (bytes < static_cast<int64_t>(kStep)) return std::to_string(bytes) + " B";
  auto value = static_cast<double>(bytes);
  const char* unit = "";
  for (const char* next : {"kB", "MB", "GB", "TB", "PB", "EB"}) {
    value /= kStep;
    unit = next;
    if (value < kStep) break;
  }
  return llvm::formatv(value < 10    ? "{0:f2} {1}"
                       : value < 100 ? "{0:f1} {1}"
                                     : "{0:f0} {1}",
                       value, unit)
      .str();
}

std::string SummarizeVariables(llvm::ArrayRef<const Value*> variables) {
  if (variables.empty()) return "";
  int64_t bytes = 0;
  size_t states = 0;
  for (const Value* variable : variables) {
    states += variable->kind() == ValueKind::kState;
    if (llvm::AddOverflow(bytes, BytesOf(variable->type()).value_or(0), bytes)) bytes = INT64_MAX;
  }
  std::string text;
  if (states < variables.size()) text = Count(variables.size() - states, "parameter");
  if (states > 0) text += (text.empty() ? "" : ", ") + Count(states, "state");
  return text + ", " + FormatBytes(bytes);
}

std::vector<std::string> LinesOf(const Node& node) {
  std::vector<std::string> lines;
  switch (node.kind) {
    case NodeKind::kInput:
      return {node.results.front()->type().ToString()};
    case NodeKind::kCall:
      return LinesOfCall(node);
    case NodeKind::kLayer:
      lines.push_back(
          Count(llvm::count_if(node.ops, [](const Op* op) { return !IsInlined(*op); }), "call"));
      break;
    case NodeKind::kPart:
      // The names show where in the network the part is.
      for (const Op* op : {node.ops.front(), node.ops.back()})
        if (!op->results().empty()) lines.push_back(op->result()->name());
      break;
    case NodeKind::kOutput:
    case NodeKind::kUpdate:
      for (const Value* value : llvm::concat<const Value* const>(node.reads, node.variables)) {
        lines.push_back(value->type().ToString());
        break;
      }
      return lines;
    case NodeKind::kTraining:
      return {node.subtitle};
  }
  if (!node.variables.empty()) lines.push_back(SummarizeVariables(node.variables));
  return lines;
}

Diagram DiagramOf(const Levels& levels, const Level& level) {
  Diagram diagram;
  for (uint32_t i = 0; i < level.count; ++i) {
    const Node& node = levels.nodes[level.first + i];
    const std::vector<std::string> lines = LinesOf(node);
    double width = kTitleWidth * std::min(CountCharacters(node.title) + 2, kMaxTitle);
    for (const std::string& line : lines)
      width = std::max(width, kLineWidth * std::min(CountCharacters(line), kMaxLine));
    // The type of the result is below the box.
    for (const Value* result : node.results)
      width = std::max(width,
                       kLineWidth * std::min(CountCharacters(result->type().ToString()), kMaxLine));
    diagram.boxes.emplace_back(width + kPadding, kTitleHeight + kLineHeight * lines.size());
  }
  for (const Edge& edge : level.edges) diagram.edges.emplace_back(edge.from, edge.to);
  return diagram;
}

}  // namespace pdl::view
