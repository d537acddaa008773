// A graph as flat text: each value is declared, or each call a statement, in the order in which
// they came to be, so that the text makes the same graph again.
#include <algorithm>

#include "frontend/sugar.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler.h"

namespace pdl {
namespace {

class PdlPrinter {
 public:
  PdlPrinter(const Graph& graph, llvm::raw_ostream& os) : graph_(graph), os_(os) {}

  void Print();

 private:
  void PrintComment(llvm::StringRef comment);
  void PrintVariable(const Value& value, llvm::StringRef keyword);
  void PrintOp(const Op& op);
  // `cos(x, scale=5.0)`; an initializer leaves out what its declaration says.
  void PrintCall(const Op& op, const Type* declared);

  const Graph& graph_;
  llvm::raw_ostream& os_;
};

void PdlPrinter::PrintComment(llvm::StringRef comment) {
  if (comment.empty()) return;
  for (llvm::StringRef line : llvm::split(comment, '\n')) {
    os_ << (line.empty() ? "##" : "## ") << line << '\n';
  }
}

void PdlPrinter::PrintCall(const Op& op, const Type* declared) {
  os_ << op.type() << '(';
  bool first = true;
  auto next = [&]() -> llvm::raw_ostream& {
    if (!first) os_ << ", ";
    first = false;
    return os_;
  };
  for (const Value* operand : op.operands()) next() << operand->name();
  const OpSignature& signature = op.def().signature;
  const bool is_repeatable = !signature.inputs.empty() && signature.inputs.back().repeatable;
  // A positional attribute directly behind all inputs reads best without its name.
  const int positional = signature.PositionalAttribute();
  const bool may_stand_bare = !is_repeatable && op.operands().size() == signature.inputs.size();
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t i = 0; i < signature.attributes.size(); ++i) {
      const AttributeDecl& decl = signature.attributes[i];
      const AttributeValue& value = op.attribute_values()[i];
      const bool is_bare = static_cast<int>(i) == positional && may_stand_bare;
      if (is_bare != (pass == 0)) continue;
      if (!decl.required() && Identical(value, decl.default_value)) continue;
      if (declared != nullptr && !decl.is_list) {
        if (decl.kind == AttributeKind::kShape && decl.name == sugar::kDims) continue;
        if (decl.kind == AttributeKind::kDType) continue;
      }
      next();
      if (!is_bare) os_ << decl.name << '=';
      os_ << AttributeToString(value);
    }
  }
  os_ << ')';
}

void PdlPrinter::PrintVariable(const Value& value, llvm::StringRef keyword) {
  PrintComment(value.comment());
  os_ << keyword << ' ' << value.name() << ": " << value.type().ToString();
  if (value.kind() == ValueKind::kInput) {
    os_ << '\n';
    return;
  }
  os_ << " = ";
  const VariableInfo& info = value.variable();
  if (info.weight) {
    os_ << "load(" << AttributeToString(info.weight->file) << ", "
        << AttributeToString(info.weight->tensor) << ')';
  } else if (info.initializer) {
    PrintCall(*graph_.block(*info.initializer).ops.back(), &value.type());
  }
  const VariableInfo defaults;
  std::vector<std::string> fields;
  auto field = [&](llvm::StringRef name, double number, double fallback) {
    if (number != fallback) fields.push_back((name + "=" + FloatToString(number)).str());
  };
  field("weight_decay", info.weight_decay, defaults.weight_decay);
  field("gradient_clipping", info.gradient_clipping, defaults.gradient_clipping);
  field("lr_scale", info.lr_scale, defaults.lr_scale);
  if (!info.trainable) fields.push_back("trainable=false");
  if (!fields.empty()) os_ << " with {" << llvm::join(fields, ", ") << '}';
  os_ << '\n';
}

void PdlPrinter::PrintOp(const Op& op) {
  PrintComment(op.result()->comment());
  llvm::ListSeparator separator(", ");
  for (const Value* result : op.results()) os_ << separator << result->name();
  os_ << " = ";
  PrintCall(op, nullptr);
  os_ << '\n';
}

void PdlPrinter::Print() {
  // What is printed, by the number of its first value.
  struct Item {
    uint32_t number;
    const Value* value;
    const Op* op;
  };
  std::vector<Item> items;
  for (auto values : {graph_.inputs(), graph_.parameters(), graph_.states()}) {
    for (const Value* value : values) items.push_back({graph_.number(value), value, nullptr});
  }
  for (const Op* op : graph_.ops()) items.push_back({graph_.number(op->result()), nullptr, op});
  llvm::sort(items, [](const Item& a, const Item& b) { return a.number < b.number; });
  for (const Item& item : items) {
    if (item.op != nullptr) {
      PrintOp(*item.op);
    } else {
      PrintVariable(*item.value, item.value->kind() == ValueKind::kInput       ? "input"
                                 : item.value->kind() == ValueKind::kParameter ? "param"
                                                                               : "state");
    }
  }
  for (const GraphConstraint& constraint : graph_.constraints()) {
    const DimCheck& check = constraint.check;
    const llvm::StringRef sign = check.relation == DimCheck::Relation::kEqual      ? "=="
                                 : check.relation == DimCheck::Relation::kNotEqual ? "!="
                                                                                   : ">=";
    const std::string relation =
        (check.left.ToString() + " " + sign + " " + check.right.ToString()).str();
    os_ << "assert " << relation;
    if (check.message != relation) os_ << ", " << AttributeToString(check.message);
    os_ << '\n';
  }
  for (const GraphUpdate& update : graph_.updates()) {
    os_ << "update " << update.state->name() << " = " << update.value->name() << '\n';
  }
  for (const GraphTraining& training : graph_.trainings()) {
    os_ << "minimize " << training.loss->name() << " over ["
        << llvm::join(
               llvm::map_range(training.parameters, [](const Value* p) { return p->name(); }), ", ")
        << "] with " << training.optimizer;
    if (training.every > 1) os_ << " every " << training.every;
    os_ << '\n';
  }
  for (const GraphOutput& output : graph_.outputs()) {
    PrintComment(output.comment);
    os_ << "output " << output.name;
    if (output.name != output.value->name()) os_ << " = " << output.value->name();
    os_ << '\n';
  }
}

}  // namespace

std::string EmitPdl(const Graph& graph) {
  std::string text;
  llvm::raw_string_ostream os(text);
  PdlPrinter(graph, os).Print();
  return text;
}

}  // namespace pdl
