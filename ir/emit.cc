#include "pdl/compiler/emit.h"

#include <algorithm>

#include "ir/emit_text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler/weights.h"
#include "pdl/op/symbols.h"

namespace pdl {

llvm::StringSet<> SymbolsAround(const Graph& graph, const Block& body) {
  llvm::StringSet<> symbols;
  auto add = [&](llvm::StringRef symbol) { symbols.insert(symbol); };
  llvm::for_each(graph.Symbols(), add);
  for (const Value* input : body.inputs) ForEachSymbol(input->type(), add);
  for (const Op* op : body.ops) ForEachSymbol(*op, add);
  return symbols;
}

Shape DimsInSignature(const Graph& graph, Shape dims, llvm::StringSet<>* taken) {
  for (Dim& dim : dims) {
    if (dim.is_ragged() || !DeterminedSymbol(dim).empty()) continue;
    bool depends_on_data = false;
    dim.ForEachSymbol(
        [&](llvm::StringRef symbol) { depends_on_data |= graph.IsDataSymbol(symbol); });
    if (!depends_on_data) continue;
    std::string name = "rows";
    for (unsigned i = 2; !taken->insert(name).second; ++i) name = "rows_" + std::to_string(i);
    dim = Dim::Symbol(name);
  }
  return dims;
}

std::string TypedName(const Value& value) { return value.name() + ": " + value.type().ToString(); }

std::string Shorten(std::string string, size_t max_size) {
  if (string.size() <= max_size) return string;
  string.resize(max_size - 3);
  return string.append("...");
}

namespace {

std::string ConstantSummary(const Constant& value) {
  constexpr int64_t kMaxElements = 16;
  // A tensor without elements may have very many rows.
  const bool is_short = value.num_elements() > 0 || value.sizes().front() == 0;
  if (value.num_elements() <= kMaxElements && is_short) return AttributeToString(value);
  Shape shape(value.sizes().begin(), value.sizes().end());
  return "<" + Type(value.dtype(), shape).ToString() + ">";
}

std::string AttributeSummary(const AttributeValue& value) {
  if (const auto* constant = std::get_if<Constant>(&value)) return ConstantSummary(*constant);
  if (const auto* constants = std::get_if<std::vector<Constant>>(&value))
    return "[" + llvm::join(llvm::map_range(*constants, ConstantSummary), ", ") + "]";
  return AttributeToString(value);
}

/// The attributes as "scale=5.0" and so on, without those that are none.
std::vector<std::string> AttributesOf(const Op& op) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < op.attribute_values().size(); ++i) {
    const AttributeValue& value = op.attribute_values()[i];
    if (!IsNone(value))
      texts.push_back(op.def().signature.attributes[i].name + "=" + AttributeSummary(value));
  }
  return texts;
}

std::string CheckToString(const DimCheck& check) {
  const char* relation = check.relation == DimCheck::Relation::kEqual     ? " == "
                         : check.relation == DimCheck::Relation::kAtLeast ? " >= "
                                                                          : " != ";
  return check.left.ToString() + relation + check.right.ToString();
}

class IrEmitter {
 public:
  explicit IrEmitter(const Graph& graph) : graph_(graph), os_(text_) {}

  std::string Emit() {
    std::vector<std::string> symbols = graph_.Symbols();
    if (!symbols.empty()) os_ << "symbols " << llvm::join(symbols, ", ") << "\n";
    for (const GraphConstraint& constraint : graph_.constraints()) {
      os_ << "where " << CheckToString(constraint.check);
      EndLine(constraint.check.message, constraint.location);
    }
    for (const Value* input : graph_.inputs()) {
      os_ << "input " << TypedName(*input);
      EndLine("", input->location());
    }
    for (const Value* parameter : graph_.parameters()) EmitVariable("param ", *parameter);
    for (const Value* state : graph_.states()) EmitVariable("state ", *state);
    EmitOps({}, "");
    for (const GraphUpdate& update : graph_.updates())
      os_ << "update " << update.state->name() << " = " << update.value->name() << "\n";
    for (const GraphTraining& training : graph_.trainings()) {
      os_ << "minimize " << training.loss->name() << " over ["
          << llvm::join(
                 llvm::map_range(training.parameters, [](const Value* p) { return p->name(); }),
                 ", ")
          << "] with " << training.optimizer;
      if (training.every > 1) os_ << " every " << training.every;
      EndLine("", training.location);
    }
    for (const GraphOutput& output : graph_.outputs()) {
      os_ << "output " << output.name;
      if (output.name != output.value->name()) os_ << " = " << output.value->name();
      os_ << "\n";
    }
    for (uint32_t i = 1; i < graph_.num_blocks(); ++i) EmitBlock({i});
    return std::move(text_);
  }

 private:
  void EmitVariable(llvm::StringRef keyword, const Value& value) {
    const VariableInfo& info = value.variable();
    os_ << keyword << TypedName(value);
    if (info.weight) {
      os_ << " = " << WeightToString(*info.weight);
    } else if (info.initializer) {
      os_ << " = block " << info.initializer->index;
    } else if (!info.copy_of.empty()) {
      os_ << " = copy(" << info.copy_of << ")";
    }
    os_ << ParameterAttributesToString(info);
    EndLine("", value.location());
  }

  void EmitOps(BlockId block, llvm::StringRef indent) {
    for (const Op* op : graph_.block(block).ops) {
      os_ << indent
          << llvm::join(llvm::map_range(llvm::make_pointee_range(op->results()), TypedName), ", ")
          << " = " << op->type() << "(";
      std::vector<std::string> arguments;
      for (const Value* operand : op->operands()) arguments.push_back(operand->name());
      llvm::append_range(arguments, AttributesOf(*op));
      os_ << llvm::join(arguments, ", ") << ")";
      std::string comment = op->layer_path().empty() ? "" : "in " + op->layer_path();
      if (op->recompute()) comment += comment.empty() ? "recomputed" : ", recomputed";
      EndLine(comment, op->location());
      for (const DimCheck& check : op->checks())
        os_ << indent << "  where " << CheckToString(check) << "  # " << OneLine(check.message)
            << "\n";
    }
  }

  void EmitBlock(BlockId id) {
    const Block& block = graph_.block(id);
    os_ << "block " << id.index << " ("
        << llvm::join(llvm::map_range(llvm::make_pointee_range(block.inputs), TypedName), ", ")
        << ") {\n";
    EmitOps(id, "  ");
    os_ << "  return "
        << llvm::join(llvm::map_range(block.outputs, [](const Value* v) { return v->name(); }),
                      ", ")
        << "\n}\n";
  }

  void EndLine(const std::string& comment, LocationId location) {
    std::string place = graph_.LocationToString(location);
    if (!comment.empty() || !place.empty())
      os_ << "  # " << OneLine(comment) << (comment.empty() || place.empty() ? "" : ", ") << place;
    os_ << "\n";
  }

  static std::string OneLine(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
  }

  const Graph& graph_;
  std::string text_;
  llvm::raw_string_ostream os_;
};

class DotEmitter {
 public:
  explicit DotEmitter(const Graph& graph) : graph_(graph), os_(text_) {}

  std::string Emit() {
    os_ << "digraph network {\n  rankdir=TB;\n  node [fontname=\"Helvetica\", fontsize=11];\n"
           "  edge [fontname=\"Helvetica\", fontsize=9];\n";
    for (const Value* value : graph_.inputs()) EmitSource("input", *value, "  ");
    for (const Value* value : graph_.parameters()) EmitSource("param", *value, "  ");
    for (const Value* value : graph_.states()) EmitSource("state", *value, "  ");
    EmitOps({}, "  ");
    for (uint32_t i = 1; i < graph_.num_blocks(); ++i) {
      os_ << "  subgraph cluster_" << i << " {\n    label=\"block " << i << "\";\n";
      for (const Value* value : graph_.block({i}).inputs) EmitSource("input", *value, "    ");
      EmitOps({i}, "    ");
      os_ << "  }\n";
    }
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      const GraphOutput& output = graph_.outputs()[i];
      os_ << "  out" << i << " [shape=doubleoctagon, label=" << Quote("output " + output.name)
          << "];\n";
      EmitEdge(*output.value, "out" + std::to_string(i), "  ");
    }
    for (const GraphUpdate& update : graph_.updates()) {
      os_ << "  " << NodeOf(*update.value) << " -> " << NodeOf(*update.state)
          << " [style=dashed, constraint=false, label=\"update\"];\n";
    }
    os_ << "}\n";
    return std::move(text_);
  }

 private:
  /// Quotes a string for Graphviz; \n begins a new line of a label.
  static std::string Quote(llvm::StringRef text) {
    std::string quoted = "\"";
    for (char c : text) {
      if (c == '"' || c == '\\') quoted += '\\';
      if (c == '\n') {
        quoted += "\\n";
      } else {
        quoted += c;
      }
    }
    return quoted + "\"";
  }

  /// A call's node is named after its first result.
  std::string NodeOf(const Value& value) const {
    const Value* first = value.producer() ? value.producer()->result() : &value;
    return "v" + std::to_string(graph_.number(first));
  }

  void EmitSource(llvm::StringRef role, const Value& value, llvm::StringRef indent) {
    os_ << indent << NodeOf(value) << " [shape=" << (role == "input" ? "ellipse" : "cylinder")
        << ", label=" << Quote(role.str() + " " + value.name() + "\n" + value.type().ToString())
        << "];\n";
  }

  void EmitOps(BlockId block, llvm::StringRef indent) {
    constexpr size_t kMaxWidth = 60;
    for (const Op* op : graph_.block(block).ops) {
      std::string label = op->type();
      for (std::string text : AttributesOf(*op)) {
        label += "\n" + Shorten(std::move(text), kMaxWidth);
      }
      std::string node = NodeOf(*op->result());
      os_ << indent << node << " [shape=box, style=rounded, label=" << Quote(label)
          << ", tooltip=" << Quote(graph_.LocationToString(op->location())) << "];\n";
      for (const Value* operand : op->operands()) EmitEdge(*operand, node, indent);
    }
  }

  void EmitEdge(const Value& from, const std::string& to, llvm::StringRef indent) {
    os_ << indent << NodeOf(from) << " -> " << to << " [label=" << Quote(from.type().ToString());
    // A call with several results has one node.
    if (from.producer() && from.producer()->results().size() > 1)
      os_ << ", taillabel=" << Quote(from.name());
    os_ << "];\n";
  }

  const Graph& graph_;
  std::string text_;
  llvm::raw_string_ostream os_;
};

}  // namespace

std::string ShortAttribute(const AttributeValue& value) {
  constexpr size_t kMaxLength = 80;
  // Not even a part of a large tensor is printed, which would take the time to print all of it.
  constexpr int64_t kMaxElements = 1000;
  const auto* constant = std::get_if<Constant>(&value);
  if (constant != nullptr &&
      (constant->num_elements() > kMaxElements || constant->num_elements() == 0))
    return ConstantSummary(*constant);
  std::string text = AttributeToString(value);
  if (text.size() <= kMaxLength) return text;
  text.resize(kMaxLength - 3);
  return text + "...";
}

std::vector<std::string> GivenAttributes(const Op& op) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < op.attribute_values().size(); ++i) {
    const AttributeValue& value = op.attribute_values()[i];
    const AttributeDecl& decl = op.def().signature.attributes[i];
    if (IsNone(value) || (!decl.required() && Identical(value, decl.default_value))) continue;
    texts.push_back(decl.name + "=" + ShortAttribute(value));
  }
  return texts;
}

std::string ParameterAttributesToString(const VariableInfo& info) {
  const VariableInfo defaults;
  std::vector<std::string> fields;
  auto field = [&](llvm::StringRef name, double number, double fallback) {
    if (number != fallback) fields.push_back((name + "=" + FloatToString(number)).str());
  };
  field("weight_decay", info.weight_decay, defaults.weight_decay);
  field("l1", info.l1, defaults.l1);
  field("gradient_clipping", info.gradient_clipping, defaults.gradient_clipping);
  field("lr_scale", info.lr_scale, defaults.lr_scale);
  if (!info.trainable) fields.push_back("trainable=false");
  return fields.empty() ? "" : " with {" + llvm::join(fields, ", ") + "}";
}

std::string EmitIr(const Graph& graph) { return IrEmitter(graph).Emit(); }
std::string EmitDot(const Graph& graph) { return DotEmitter(graph).Emit(); }

}  // namespace pdl
