#include "onnx/text.h"

#include <cmath>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"
#include "onnx/layers.h"
#include "pdl/error.h"
#include "pdl/format.h"

namespace pdl {
namespace {

/// A chain of pipes ends where its line would become longer, or have more calls.
constexpr size_t kMaxLine = 100;
constexpr unsigned kMaxCalls = 5;

/// Calls that one statement writes, the first operand of each being what comes before it.
struct Chain {
  std::string text;
  unsigned calls = 0;
  /// Whether text is one call that has its first operand in it: `relu(x)`.
  const Value* head = nullptr;
  std::string first_call;  // `relu()`, where text is one call
  bool ends_in_layer = false;
  std::vector<std::pair<std::string, std::vector<std::pair<std::string, Constant>>>> layers;
};

class TextWriter {
 public:
  TextWriter(const ImportedModel& model, llvm::StringRef weight_file)
      : model_(model), graph_(model.graph), weight_file_(weight_file) {}

  ImportedText Write();

 private:
  void FindLayers();
  void WriteDeclarations();
  void WriteOp(const Op& op);
  Chain MakeChain(const Op& op);
  void Flush(const Value* value);
  bool CanPipe(const Value* value, const Op& into) const;
  void AddLayer(const LayerCall& layer, Chain* chain);
  std::string Call(const Op& op, bool without_first) const;
  std::string Infix(const Op& op) const;
  bool IsLiteral(const Value* value) const { return literals_.contains(value); }
  void FindLiterals();

  const ImportedModel& model_;
  const Graph& graph_;
  std::string weight_file_;
  ImportedText out_;
  llvm::DenseMap<const Op*, LayerCall> layers_;  // by last call
  llvm::DenseSet<const Op*> inner_;
  llvm::DenseSet<const Value*> in_layers_;    // parameters
  llvm::DenseMap<const Value*, Chain> open_;  // not written yet
  llvm::DenseSet<const Value*> outputs_;
  llvm::DenseMap<const Value*, std::string> literals_;  // numbers that only infix operators use
  bool has_layers_ = false;
};

bool IsInfix(llvm::StringRef type) {
  return type == "add" || type == "sub" || type == "mul" || type == "div" || type == "pow";
}

void TextWriter::FindLiterals() {
  for (const Op* op : graph_.ops()) {
    if (op->type() != "constant" || outputs_.contains(op->result())) continue;
    const Type& type = op->result()->type();
    const Constant& constant = op->attributes().Tensor("value");
    if (!IsFloat(type.dtype) || type.rank() != 0 || !std::isfinite(constant.ElementAsDouble(0)) ||
        std::signbit(constant.ElementAsDouble(0)))
      continue;
    const bool fits = llvm::all_of(op->result()->uses(), [&](const Value::Use& use) {
      if (!IsInfix(use.op->type())) return false;
      const Value* other = use.op->operands()[1 - use.operand];
      return other->producer() != op &&
             (other->producer() == nullptr || other->producer()->type() != "constant");
    });
    if (!fits) continue;
    const double number = constant.ElementAsDouble(0);
    literals_[op->result()] = type.dtype == DType::kF64 ? FloatToString(number)
                                                        : FloatToString(static_cast<float>(number));
  }
}

void TextWriter::FindLayers() {
  for (const Op* op : graph_.ops()) {
    std::optional<LayerCall> layer = FindLayer(model_, *op);
    if (!layer) continue;
    for (const Op* inner : layer->inner) inner_.insert(inner);
    for (const Value* parameter : layer->parameters) in_layers_.insert(parameter);
    layers_[op] = std::move(*layer);
    has_layers_ = true;
  }
}

void TextWriter::WriteDeclarations() {
  for (const Value* input : graph_.inputs())
    out_.text += "input " + input->name() + ": " + input->type().ToString() + "\n";
  for (const Value* parameter : graph_.parameters()) {
    if (in_layers_.contains(parameter)) continue;
    const std::string& name = parameter->name();
    out_.text += "param " + name + ": " + parameter->type().ToString() + " = load(\"" +
                 weight_file_ + "\", \"" + name + "\")" +
                 (parameter->variable().trainable ? "" : " with {trainable=false}") + "\n";
    out_.tensors.emplace_back(name, model_.weights.lookup(name));
  }
  out_.text += "\n";
}

std::string TextWriter::Infix(const Op& op) const {
  const llvm::StringRef sign = llvm::StringSwitch<llvm::StringRef>(op.type())
                                   .Case("add", "+")
                                   .Case("sub", "-")
                                   .Case("mul", "*")
                                   .Case("div", "/")
                                   .Case("pow", "**")
                                   .Default("");
  if (sign.empty()) return "";
  // A literal takes the dtype of what stands beside it.
  const bool both = IsLiteral(op.operands()[0]) && IsLiteral(op.operands()[1]);
  auto text = [&](const Value* value) {
    return IsLiteral(value) && !both ? literals_.lookup(value) : value->name();
  };
  return text(op.operands()[0]) + " " + sign.str() + " " + text(op.operands()[1]);
}

std::string TextWriter::Call(const Op& op, bool without_first) const {
  std::vector<std::string> arguments;
  const OpSignature& signature = op.def().signature;
  bool is_positional = true;
  size_t skip = without_first ? 1 : 0;
  for (const Value* operand : op.operands()) {
    if (skip > 0) {
      --skip;
    } else {
      arguments.push_back(IsLiteral(operand) ? literals_.lookup(operand) : operand->name());
    }
  }
  for (size_t i = 0; i < signature.attributes.size(); ++i) {
    const AttributeDecl& declared = signature.attributes[i];
    const AttributeValue& value = op.attribute_values()[i];
    if (declared.counted || Identical(value, declared.default_value)) {
      is_positional &= !declared.positional;
      continue;
    }
    std::string text = AttributeToString(value);
    // One entry for all dims, where that is what one entry means.
    if (const auto* shape = std::get_if<Shape>(&value)) {
      const auto* usual = std::get_if<Shape>(&declared.default_value);
      const bool is_uniform = llvm::all_of(*shape, [&](const Dim& d) { return d == (*shape)[0]; });
      const bool may_shrink =
          is_uniform && !shape->empty() &&
          llvm::is_contained({"kernel", "stride", "pad", "dilation", "output_padding"},
                             declared.name);
      if (may_shrink && usual != nullptr && usual->size() == 1 && (*shape)[0] == (*usual)[0])
        continue;
      if (may_shrink) text = "[" + (*shape)[0].ToString() + "]";
    }
    // Those that come by position stand first.
    is_positional &= declared.positional;
    arguments.push_back(is_positional ? text : declared.name + "=" + text);
  }
  return op.type() + "(" + llvm::join(arguments, ", ") + ")";
}

bool TextWriter::CanPipe(const Value* value, const Op& into) const {
  if (!open_.contains(value) || value->uses().size() != 1 || outputs_.contains(value)) return false;
  return value->uses()[0].op == &into || inner_.contains(value->uses()[0].op);
}

void TextWriter::AddLayer(const LayerCall& layer, Chain* chain) {
  chain->layers.emplace_back(layer.layer, layer.tensors);
}

Chain TextWriter::MakeChain(const Op& op) {
  Chain chain;
  auto layer = layers_.find(&op);
  const bool is_layer = layer != layers_.end();
  const Value* first = is_layer                ? layer->second.input
                       : op.operands().empty() ? nullptr
                                               : op.operands()[0];
  const std::string call =
      is_layer ? layer->second.layer + "(" + layer->second.arguments + ")" : Call(op, true);
  // A second operand that is the same value cannot be piped.
  const bool pipes = first != nullptr && CanPipe(first, op) &&
                     llvm::count(op.operands(), first) <= 1 && !op.def().signature.has_counts();
  if (pipes) {
    Chain before = open_.lookup(first);
    const bool has_layer = is_layer && llvm::any_of(before.layers, [&](const auto& other) {
                             return other.first == layer->second.layer;
                           });
    const std::string base = before.calls == 1 && before.head != nullptr
                                 ? before.head->name() + " |> " + before.first_call
                                 : before.text;
    const size_t length = op.results()[0]->name().size() + base.size() + call.size() + 7;
    if (!has_layer && before.calls < kMaxCalls && length <= kMaxLine) {
      open_.erase(first);
      chain = std::move(before);
      chain.text = base + " |> " + call;
      chain.head = nullptr;
      ++chain.calls;
      if (is_layer) AddLayer(layer->second, &chain);
      chain.ends_in_layer = is_layer;
      return chain;
    }
  }
  chain.calls = 1;
  if (is_layer) {
    chain.head = first;
    chain.first_call = call;
    chain.text = first->name() + " |> " + call;
    AddLayer(layer->second, &chain);
    chain.ends_in_layer = true;
    return chain;
  }
  chain.text = Infix(op);
  if (chain.text.empty()) {
    chain.text = Call(op, false);
    if (first != nullptr && op.operands().size() == 1) {
      chain.head = first;
      chain.first_call = call;
    }
  }
  return chain;
}

void TextWriter::Flush(const Value* value) {
  auto found = open_.find(value);
  if (found == open_.end()) return;
  const Chain chain = std::move(found->second);
  open_.erase(found);
  out_.text += value->name() + " = " + chain.text + "\n";
  // The layer that is called last gives its parameters the statement's name.
  for (size_t i = 0; i < chain.layers.size(); ++i) {
    const auto& [layer, tensors] = chain.layers[i];
    const bool is_last = chain.ends_in_layer && i + 1 == chain.layers.size();
    const std::string way = is_last ? "" : layer + ".";
    for (const auto& [name, constant] : tensors)
      out_.tensors.emplace_back(value->name() + "." + way + name, constant);
  }
}

void TextWriter::WriteOp(const Op& op) {
  if (inner_.contains(&op) || (op.results().size() == 1 && IsLiteral(op.result()))) return;
  auto layer = layers_.find(&op);
  Chain chain = MakeChain(op);
  // All that it names must stand before it.
  if (layer != layers_.end()) {
    Flush(layer->second.input);
  } else {
    for (const Value* operand : op.operands()) Flush(operand);
  }
  // The last results need no names where nobody asks for them.
  size_t count = op.results().size();
  while (count > 1 && op.results()[count - 1]->uses().empty() &&
         !outputs_.contains(op.results()[count - 1]))
    --count;
  if (count == 1) {
    open_[op.results()[0]] = std::move(chain);
    return;
  }
  std::vector<std::string> names;
  for (const Value* result : op.results().take_front(count)) names.push_back(result->name());
  out_.text += llvm::join(names, ", ") + " = " + chain.text + "\n";
}

ImportedText TextWriter::Write() {
  for (const GraphOutput& output : graph_.outputs()) outputs_.insert(output.value);
  FindLiterals();
  FindLayers();
  WriteDeclarations();
  for (const Op* op : graph_.ops()) WriteOp(*op);
  for (const Op* op : graph_.ops())
    for (const Value* result : op->results()) Flush(result);
  out_.text += "\n";
  if (has_layers_) out_.text += "load \"" + weight_file_ + "\"\n";
  for (const GraphOutput& output : graph_.outputs()) {
    const bool has_name = output.name == output.value->name();
    out_.text += "output " + output.name + (has_name ? "" : " = " + output.value->name()) + "\n";
  }
  auto file = std::make_shared<const SourceFile>("imported.pdl", std::move(out_.text));
  Diagnostics diagnostics;
  std::optional<std::string> formatted = FormatText(file, &diagnostics);
  if (!formatted) InternalError("the text of an imported network has syntax errors");
  out_.text = std::move(*formatted);
  return std::move(out_);
}

}  // namespace

ImportedText WriteImportedText(const ImportedModel& model, llvm::StringRef weight_file) {
  return TextWriter(model, weight_file).Write();
}

}  // namespace pdl
