#include "view/data.h"

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler/emit.h"
#include "view/labels.h"
#include "view/layout.h"
#include "view/levels.h"
#include "view/locations.h"

namespace pdl::view {
namespace {

using llvm::json::OStream;

/// A number; JSON has neither nan nor infinities, which become strings.
void WriteNumber(OStream& json, double number) {
  if (std::isfinite(number)) return json.value(number);
  json.value(FloatToString(number));
}

class DataWriter {
 public:
  DataWriter(const Graph& graph, const ViewOptions& options, OStream& json)
      : graph_(graph),
        options_(options),
        json_(json),
        levels_(FindLevels(graph)),
        locations_(graph, options.sources) {}

  void Write() {
    std::vector<Diagram> diagrams;
    for (const Level& level : levels_.levels) diagrams.push_back(DiagramOf(levels_, level));
    const Layout layout = PlaceDiagrams(diagrams, options_.layout_program);
    json_.objectBegin();
    json_.attribute("title", Text(options_.title));
    json_.attribute("summary", Summary());
    json_.attributeArray("nodes", [&] {
      for (auto [level, diagram] : llvm::zip_equal(levels_.levels, diagrams))
        for (uint32_t i = 0; i < level.count; ++i) WriteNode(level.first + i, diagram.boxes[i]);
    });
    json_.attributeArray("levels", [&] {
      for (auto [level, placement] : llvm::zip_equal(levels_.levels, layout.of))
        WriteLevel(level, placement);
    });
    json_.attributeArray("placements", [&] {
      for (const Placement& placement : layout.placements) WritePlacement(placement);
    });
    json_.attributeObject("facts", [&] { WriteFacts(); });
    WriteValues();
    locations_.Write(json_);
    json_.objectEnd();
  }

 private:
  std::string Summary() const {
    std::vector<const Value*> variables;
    llvm::append_range(variables, graph_.parameters());
    llvm::append_range(variables, graph_.states());
    const size_t calls = llvm::count_if(graph_.ops(), [](const Op* op) { return !IsInlined(*op); });
    std::string text = std::to_string(calls) + (calls == 1 ? " call" : " calls");
    return variables.empty() ? text : text + ", " + SummarizeVariables(variables);
  }

  /// The index of a value in the table of values.
  size_t IdOf(const Value* value) {
    const auto [found, is_new] = ids_.try_emplace(value, values_.size());
    if (is_new) values_.push_back(value);
    return found->second;
  }

  template <class Range>
  void WriteIds(llvm::StringRef name, const Range& values) {
    if (values.begin() == values.end()) return;
    json_.attributeArray(name, [&] {
      for (const Value* value : values) json_.value(IdOf(value));
    });
  }

  void WriteNode(uint32_t index, std::pair<double, double> box) {
    const Node& node = levels_.nodes[index];
    json_.object([&] {
      json_.attribute("k", static_cast<int>(node.kind));
      json_.attribute("t", Text(node.title));
      json_.attributeArray("s", [&] {
        for (const std::string& line : LinesOf(node)) json_.value(Text(line));
      });
      json_.attribute("w", std::lround(box.first));
      json_.attribute("h", std::lround(box.second));
      if (node.level != kNone) json_.attribute("v", node.level);
      WriteIds("p", node.variables);
      if (node.kind == NodeKind::kCall) {
        WriteCall(*node.ops.front());
        if (!node.ops.front()->results().empty())
          Find(DifferenceSubject::kCall, node.ops.front()->result()->name()).push_back(index);
      } else {
        json_.attribute("l", LocationOf(node));
        WriteIds("r", node.results);
        WriteIds("o", node.reads);
      }
      // A change of a variable concerns the calls that read it.
      if (node.level == kNone)
        for (const Value* variable : node.variables)
          Find(SubjectOf(*variable), variable->name()).push_back(index);
      if (node.kind == NodeKind::kUpdate)
        Find(DifferenceSubject::kUpdate, node.title).push_back(index);
      if (index >= levels_.levels[0].count) return;
      if (node.kind == NodeKind::kInput)
        Find(DifferenceSubject::kInput, node.title).push_back(index);
      if (node.kind == NodeKind::kOutput)
        Find(DifferenceSubject::kOutput, node.title).push_back(index);
    });
  }

  int LocationOf(const Node& node) {
    if (!node.ops.empty()) return locations_.OfLayer(node.ops);
    if (node.kind == NodeKind::kUpdate) return locations_.Of(*node.variables.front());
    for (const Value* value : llvm::concat<const Value* const>(node.results, node.reads))
      return value->producer() ? locations_.Of(*value->producer()) : locations_.Of(*value);
    return -1;
  }

  void WriteCall(const Op& op) {
    json_.attribute("l", locations_.Of(op));
    WriteIds("r", op.results());
    WriteIds("o", op.operands());
    if (!op.layer_path().empty()) json_.attribute("path", Text(op.layer_path()));
    const std::vector<std::string> attributes = GivenAttributes(op);
    if (!attributes.empty()) json_.attribute("a", Text(llvm::join(attributes, ", ")));
  }

  void WriteLevel(const Level& level, int placement) {
    json_.object([&] {
      json_.attribute("f", level.first);
      json_.attribute("n", level.count);
      if (placement >= 0) json_.attribute("p", placement);
      json_.attributeArray("e", [&] {
        for (const Edge& edge : level.edges)
          json_.array([&] {
            json_.value(edge.from);
            json_.value(edge.to);
            for (const Value* value : edge.values) json_.value(IdOf(value));
          });
      });
    });
  }

  void WritePlacement(const Placement& placement) {
    json_.object([&] {
      json_.attribute("w", placement.width);
      json_.attribute("h", placement.height);
      json_.attributeArray("c", [&] {
        for (auto [x, y] : placement.centers) {
          json_.value(x);
          json_.value(y);
        }
      });
      json_.attributeArray("e", [&] {
        for (const std::vector<int>& curve : placement.curves)
          json_.array([&] {
            for (const int coordinate : curve) json_.value(coordinate);
          });
      });
    });
  }

  void WriteValues() {
    std::vector<std::string> types;
    llvm::StringMap<size_t> type_ids;
    json_.attributeArray("values", [&] {
      for (size_t i = 0; i < values_.size(); ++i) {
        const Value& value = *values_[i];
        const auto [type, is_new] = type_ids.try_emplace(value.type().ToString(), types.size());
        if (is_new) types.push_back(type->first().str());
        json_.array([&] {
          json_.value(Text(value.name()));
          json_.value(type->second);
          json_.value(static_cast<int>(value.kind()));
          json_.value(locations_.Of(value));
          WriteDetail(value);
        });
      }
    });
    json_.attributeArray("types", [&] {
      for (const std::string& type : types) json_.value(Text(type));
    });
  }

  /// The size of a parameter or state, or the attributes of an inlined constant.
  void WriteDetail(const Value& value) {
    if (value.kind() == ValueKind::kParameter || value.kind() == ValueKind::kState) {
      const std::optional<int64_t> bytes = BytesOf(value.type());
      json_.value(bytes ? FormatBytes(*bytes) : "");
    } else if (value.producer() && IsInlined(*value.producer())) {
      json_.value(Text(llvm::join(GivenAttributes(*value.producer()), ", ")));
    }
  }

  static DifferenceSubject SubjectOf(const Value& variable) {
    return variable.kind() == ValueKind::kState ? DifferenceSubject::kState
                                                : DifferenceSubject::kParameter;
  }

  /// The nodes that show a call, by the name of its first result, or another entity by its name.
  std::vector<uint32_t>& Find(DifferenceSubject subject, llvm::StringRef name) {
    return nodes_[static_cast<size_t>(subject)][name];
  }

  void WriteFacts() {
    const ViewFacts& facts = options_.facts;
    if (facts.times) {
      json_.attributeArray("times", [&] {
        for (const auto& [name, time] : *facts.times) WriteTime(name, time);
      });
    }
    if (facts.live_bytes) {
      json_.attributeArray("live", [&] {
        for (const auto& [name, bytes] : *facts.live_bytes)
          for (const uint32_t node : Find(DifferenceSubject::kCall, name))
            json_.array([&, bytes = bytes] {
              json_.value(node);
              json_.value(bytes);
            });
      });
    }
    if (facts.statistics) {
      json_.attributeArray("statistics", [&] {
        for (const auto& [name, statistics] : *facts.statistics) WriteStatistics(name, statistics);
      });
    }
    if (!facts.before_name.empty()) json_.attribute("before", Text(facts.before_name));
    if (facts.differences) {
      json_.attributeArray("differences", [&] {
        for (const Difference& difference : *facts.differences) WriteDifference(difference);
      });
    }
    if (facts.deviations) {
      json_.attributeArray("deviations", [&] {
        for (const auto& [name, deviation] : *facts.deviations) WriteDeviation(name, deviation);
      });
    }
  }

  void WriteTime(llvm::StringRef name, const ViewTime& time) {
    // A step of the plan that computes no value of the network has no node.
    const std::vector<uint32_t>& nodes = Find(DifferenceSubject::kCall, name);
    json_.array([&] {
      json_.value(nodes.empty() ? -1 : static_cast<int>(nodes.front()));
      json_.value(time.seconds);
      json_.value(Text(time.calls));
    });
  }

  void WriteStatistics(llvm::StringRef name, const ViewStatistics& statistics) {
    const Value* value = graph_.FindValue(name);
    if (value == nullptr) return;
    json_.array([&] {
      json_.value(IdOf(value));
      json_.value(Text(statistics.type));
      for (const int64_t count : {statistics.elements, statistics.nans, statistics.infinities})
        json_.value(count);
      for (const double number :
           {statistics.min, statistics.max, statistics.mean, statistics.deviation})
        WriteNumber(json_, number);
      json_.array([&] {
        for (const int64_t count : statistics.bins) json_.value(count);
      });
    });
  }

  void WriteDifference(const Difference& difference) {
    json_.array([&] {
      json_.value(static_cast<int>(difference.kind));
      json_.value(DifferenceSubjectName(difference.subject));
      json_.value(Text(difference.text));
      json_.array([&] {
        for (const std::string& change : difference.changes) json_.value(Text(change));
      });
      json_.array([&] {
        if (difference.kind == DifferenceKind::kRemoved) return;
        for (const uint32_t node : Find(difference.subject, difference.name)) json_.value(node);
      });
    });
  }

  void WriteDeviation(llvm::StringRef name, const ViewDeviation& deviation) {
    const Value* value = graph_.FindValue(name);
    if (value == nullptr) return;
    json_.array([&] {
      json_.value(IdOf(value));
      json_.value(deviation.is_near);
      WriteNumber(json_, deviation.max_error);
    });
  }

  const Graph& graph_;
  const ViewOptions& options_;
  OStream& json_;
  const Levels levels_;
  Locations locations_;
  std::vector<const Value*> values_;
  llvm::DenseMap<const Value*, size_t> ids_;
  /// The nodes of entities by DifferenceSubject and name.
  static constexpr size_t kSubjects = static_cast<size_t>(DifferenceSubject::kTraining) + 1;
  std::array<llvm::StringMap<std::vector<uint32_t>>, kSubjects> nodes_;
};

}  // namespace

std::string PageData(const Graph& graph, const ViewOptions& options) {
  std::string text;
  llvm::raw_string_ostream os(text);
  OStream json(os);
  DataWriter(graph, options, json).Write();
  return text;
}

}  // namespace pdl::view
