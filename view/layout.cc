#include "view/layout.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "ir/child_process.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

namespace pdl::view {
namespace {

/// Graphviz computes in inches of this many points, which are pixels of the page.
constexpr double kPointsPerInch = 72;
constexpr std::chrono::seconds kTimeLimit(10);
/// A diagram with more edges would be unreadable, and take the time of all others.
constexpr size_t kMaxEdges = 500;

std::string ToDot(const Diagram& diagram) {
  std::string text;
  llvm::raw_string_ostream os(text);
  // nslimit bounds the iterations of network simplex, whose number is not linear in the size.
  os << "digraph{graph[nodesep=0.3,ranksep=0.5,nslimit=20,nslimit1=20];"
        "node[shape=box,fixedsize=true,label=\"\"];edge[arrowhead=none];\n";
  for (size_t i = 0; i < diagram.boxes.size(); ++i)
    os << llvm::formatv("{0}[width={1:f4},height={2:f4}];\n", i,
                        diagram.boxes[i].first / kPointsPerInch,
                        diagram.boxes[i].second / kPointsPerInch);
  for (const auto& [from, to] : diagram.edges) os << from << "->" << to << ";\n";
  os << "}\n";
  return text;
}

/// The output of Graphviz for `text`; empty if it cannot be run.
std::string RunGraphviz(llvm::StringRef program, llvm::StringRef text) {
  const llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName(program);
  if (!path) return "";
  return RunProgram({*path, "-Tplain"}, text, ProgramErrors::kDiscard, kTimeLimit).output;
}

/// Reads Graphviz's plain format, a line for each box and each edge.
class PlainReader {
 public:
  explicit PlainReader(llvm::StringRef text) : text_(text) {}

  /// The next graph, which is `diagram`; nullopt if it is not complete.
  std::optional<Placement> Next(const Diagram& diagram) {
    Placement placement;
    placement.centers.resize(diagram.boxes.size());
    placement.curves.resize(diagram.edges.size());
    llvm::DenseMap<std::pair<uint32_t, uint32_t>, size_t> edge_of;
    for (size_t i = 0; i < diagram.edges.size(); ++i) edge_of[diagram.edges[i]] = i;
    while (!text_.empty()) {
      std::tie(line_, text_) = text_.split('\n');
      const llvm::StringRef kind = Word();
      if (kind == "stop") return placement;
      if (kind == "graph") {
        Number();  // the scale
        placement.width = Pixels(Number());
        height_ = Number();
        placement.height = Pixels(height_);
      } else if (kind == "node") {
        const auto box = static_cast<size_t>(Number());
        if (box >= placement.centers.size()) return std::nullopt;
        placement.centers[box] = Point();
      } else if (kind == "edge") {
        const auto from = static_cast<uint32_t>(Number()), to = static_cast<uint32_t>(Number());
        const auto count = static_cast<size_t>(Number());
        if (std::max(from, to) >= diagram.boxes.size() || count > line_.size()) return std::nullopt;
        const auto found = edge_of.find({from, to});
        if (found == edge_of.end()) return std::nullopt;
        std::vector<int>& curve = placement.curves[found->second];
        for (size_t i = 0; i < count; ++i) {
          const auto [x, y] = Point();
          curve.insert(curve.end(), {x, y});
        }
      }
    }
    return std::nullopt;
  }

 private:
  llvm::StringRef Word() {
    llvm::StringRef word;
    std::tie(word, line_) = line_.split(' ');
    return word;
  }
  double Number() {
    double number = 0;
    // A word that is not a number leaves 0.
    (void)Word().getAsDouble(number);
    return number < 0 ? 0 : number;
  }
  static int Pixels(double inches) {
    constexpr double kMost = 1e7;
    return static_cast<int>(std::lround(std::min(inches * kPointsPerInch, kMost)));
  }
  /// y counts from the bottom.
  std::pair<int, int> Point() {
    const int x = Pixels(Number());
    return {x, Pixels(height_ - std::min(Number(), height_))};
  }

  llvm::StringRef text_, line_;
  double height_ = 0;
};

}  // namespace

Layout PlaceDiagrams(llvm::ArrayRef<Diagram> diagrams, llvm::StringRef program) {
  Layout layout;
  layout.of.assign(diagrams.size(), -1);
  if (program.empty()) return layout;
  // The description of a diagram has only its structure, so repeated layers are placed once.
  std::map<std::string, std::vector<size_t>> equal;
  std::vector<size_t> distinct;
  std::string input;
  for (size_t i = 0; i < diagrams.size(); ++i) {
    if (diagrams[i].edges.size() > kMaxEdges) continue;
    std::string text = ToDot(diagrams[i]);
    std::vector<size_t>& same = equal[text];
    if (same.empty()) {
      distinct.push_back(i);
      input += text;
    }
    same.push_back(i);
  }
  const std::string output = RunGraphviz(program, input);
  PlainReader reader(output);
  for (const size_t first : distinct) {
    std::optional<Placement> placement = reader.Next(diagrams[first]);
    if (!placement) break;
    for (const size_t i : equal[ToDot(diagrams[first])])
      layout.of[i] = static_cast<int>(layout.placements.size());
    layout.placements.push_back(std::move(*placement));
  }
  return layout;
}

}  // namespace pdl::view
