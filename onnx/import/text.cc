#include "onnx/import/text.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ir/emit_text.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include "onnx/import/layers.h"
#include "pdl/compiler/format.h"
#include "pdl/compiler/graph_walk.h"
#include "pdl/op/error.h"
#include "pdl/op/symbols.h"

namespace pdl {
namespace {

/// A chain of pipes ends if its line would exceed these limits.
constexpr size_t kMaxLine = 100;
constexpr unsigned kMaxCalls = 5;

/// Calls in one statement; the first operand of each is the result of the previous one.
struct Chain {
  std::string text;
  unsigned calls = 0;
  /// The first operand, if `text` is a single call of it: `relu(x)`.
  const Value* head = nullptr;
  std::string first_call;  // `relu()`, if `text` is a single call
  bool ends_in_layer = false;
  bool defines_size = false;  // a data-dependent one
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
  /// Returns the name of the layer for the body of a loop; equal bodies share a layer.
  std::string WriteBody(BlockId id, const Op& caller);
  void WriteOp(const Op& op);
  Chain MakeChain(const Op& op);
  void Flush(const Value* value);
  void FindDefiners();
  void FlushSizes(const Op& op);
  bool CanPipe(const Value* value, const Op& into) const;
  void AddLayer(const LayerCall& layer, Chain* chain);
  void AddTensors(const Chain& chain, const Value* value);
  std::string Call(const Op& op, bool without_first) const;
  std::string Infix(const Op& op) const;
  bool IsLiteral(const Value* value) const { return literals_.contains(value); }
  void FindLiterals(llvm::ArrayRef<Op*> ops);
  void FlushAll(llvm::ArrayRef<Op*> ops);
  /// The name of a value in the source: in a body, the last part of its name.
  std::string NameOf(const Value* value) const {
    auto found = names_.find(value);
    return found == names_.end() ? value->name() : found->second;
  }
  std::string ArgumentOf(const Value* value) const {
    return IsLiteral(value) ? literals_.lookup(value) : NameOf(value);
  }

  /// The symbol for the number of rows in a body, if there is one, with the name that it has in
  /// every body.
  llvm::StringMap<Dim> RowsOf(const Block& block) const {
    const Type& first = block.inputs[0]->type();
    const llvm::StringRef symbol = first.rank() > 0 ? first.dims[0].symbol() : "";
    llvm::StringMap<Dim> rows;
    if (graph_.IsDataSymbol(symbol)) rows[symbol] = Dim::Symbol("rows");
    return rows;
  }
  std::string ToText(AttributeValue value) const {
    Substitute(&value, rows_);
    // The body of a loop sees no other values.
    if (text_ == &out_.text) Substitute(&value, sizes_);
    return AttributeToString(value);
  }

  const ImportedModel& model_;
  const Graph& graph_;
  std::string weight_file_;
  ImportedText out_;
  llvm::DenseMap<const Op*, LayerCall> layers_;  // by the last call of each
  llvm::DenseSet<const Op*> inner_;
  llvm::DenseSet<const Value*> in_layers_;    // parameters
  llvm::DenseMap<const Value*, Chain> open_;  // not written yet
  /// The one in `open_` whose statement defines data-dependent sizes; null if there is none.
  const Value* open_sizes_ = nullptr;
  llvm::DenseSet<const Op*> definers_;  // of data-dependent sizes
  llvm::StringMap<Dim> sizes_;          // those with the name of a value, as `dims(v)[0]`
  llvm::DenseSet<const Value*> sized_;  // the values in `sizes_`
  llvm::DenseSet<const Value*> outputs_;
  llvm::DenseMap<const Value*, std::string>
      literals_;  // numbers with only infix operators as users
  bool has_layers_ = false;
  std::string* text_ = &out_.text;                   // the source that statements are added to
  llvm::DenseMap<const Value*, std::string> names_;  // names of values in bodies
  std::string body_layers_;                          // the source of all of them
  llvm::StringSet<> body_names_;
  llvm::StringMap<std::string> bodies_;  // their names, by their source
  llvm::DenseMap<const Op*, std::string> body_of_;
  llvm::StringMap<Dim> rows_;  // the symbol for the rows of a step in the current body
};

bool IsInfix(llvm::StringRef type) {
  return type == "add" || type == "sub" || type == "mul" || type == "div" || type == "pow";
}

void TextWriter::FindLiterals(llvm::ArrayRef<Op*> ops) {
  for (const Op* op : ops) {
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
  const LayerFinder finder(model_);
  for (const Op* op : graph_.ops()) {
    std::optional<LayerCall> layer = finder.Find(*op);
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
  // A literal takes the dtype of the other operand.
  const bool both = IsLiteral(op.operands()[0]) && IsLiteral(op.operands()[1]);
  auto text = [&](const Value* value) { return both ? NameOf(value) : ArgumentOf(value); };
  return text(op.operands()[0]) + " " + sign.str() + " " + text(op.operands()[1]);
}

std::string TextWriter::Call(const Op& op, bool without_first) const {
  std::vector<std::string> arguments;
  const OpSignature& signature = op.def().signature;
  bool is_positional = true;
  size_t operand = 0;
  for (size_t i = 0; i < signature.inputs.size() && operand < op.operands().size(); ++i) {
    // If operands are counted, all inputs after the first one are passed by name.
    const bool has_counts = signature.has_counts();
    const size_t end = has_counts ? std::min(op.operands().size(),
                                             signature.FirstOperand(i + 1, op.attribute_values()))
                                  : op.operands().size();
    std::vector<std::string> names;
    for (; operand < end; ++operand)
      if (operand > 0 || !without_first) names.push_back(ArgumentOf(op.operands()[operand]));
    if (i == 0 || !has_counts) {
      arguments.insert(arguments.end(), names.begin(), names.end());
    } else if (!names.empty()) {
      const bool is_list = names.size() > 1;
      arguments.push_back(signature.inputs[i].name + "=" + (is_list ? "[" : "") +
                          llvm::join(names, ", ") + (is_list ? "]" : ""));
      is_positional = false;
    }
  }
  for (size_t i = 0; i < signature.attributes.size(); ++i) {
    const AttributeDecl& declared = signature.attributes[i];
    const AttributeValue& value = op.attribute_values()[i];
    if (declared.counted || Identical(value, declared.default_value)) {
      is_positional &= !declared.positional;
      continue;
    }
    std::string text =
        std::holds_alternative<BlockId>(value) ? body_of_.lookup(&op) + "()" : ToText(value);
    // One entry for all dims, for attributes in which that is equivalent.
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
    // Positional arguments come first.
    is_positional &= declared.positional;
    arguments.push_back(is_positional ? text : declared.name + "=" + text);
  }
  return op.type() + "(" + llvm::join(arguments, ", ") + ")";
}

bool TextWriter::CanPipe(const Value* value, const Op& into) const {
  if (!open_.contains(value) || value->uses().size() != 1 || outputs_.contains(value)) return false;
  if (sized_.contains(value)) return false;
  return value->uses()[0].op == &into || inner_.contains(value->uses()[0].op);
}

void TextWriter::AddLayer(const LayerCall& layer, Chain* chain) {
  chain->layers.emplace_back(layer.layer, layer.tensors);
}

Chain TextWriter::MakeChain(const Op& op) {
  Chain chain;
  for (const AttributeValue& value : op.attribute_values())
    if (const auto* block = std::get_if<BlockId>(&value)) body_of_[&op] = WriteBody(*block, op);
  auto layer = layers_.find(&op);
  const bool is_layer = layer != layers_.end();
  const Value* first = is_layer                ? layer->second.input
                       : op.operands().empty() ? nullptr
                                               : op.operands()[0];
  const std::string call =
      is_layer ? layer->second.layer + "(" + layer->second.arguments + ")" : Call(op, true);
  // A value that is also another operand cannot be piped.
  const bool pipes = first != nullptr && CanPipe(first, op) &&
                     llvm::count(op.operands(), first) <= 1 && !op.def().signature.has_counts();
  if (pipes) {
    Chain before = open_.lookup(first);
    const bool has_layer = is_layer && llvm::any_of(before.layers, [&](const auto& other) {
                             return other.first == layer->second.layer;
                           });
    const std::string base = before.calls == 1 && before.head != nullptr
                                 ? NameOf(before.head) + " |> " + before.first_call
                                 : before.text;
    const size_t length = NameOf(op.results()[0]).size() + base.size() + call.size() + 7;
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
    chain.text = NameOf(first) + " |> " + call;
    AddLayer(layer->second, &chain);
    chain.ends_in_layer = true;
    return chain;
  }
  chain.text = Infix(op);
  if (chain.text.empty()) {
    chain.text = Call(op, false);
    if (first != nullptr && op.operands().size() == 1 && !op.def().signature.has_counts()) {
      chain.head = first;
      chain.first_call = call;
    }
  }
  return chain;
}

/// Adds the tensors of the layers in a statement, which are named after its first value.
void TextWriter::AddTensors(const Chain& chain, const Value* value) {
  // The layer called last has no name of its own in the names of its parameters.
  for (size_t i = 0; i < chain.layers.size(); ++i) {
    const auto& [layer, tensors] = chain.layers[i];
    const bool is_last = chain.ends_in_layer && i + 1 == chain.layers.size();
    const std::string path = is_last ? "" : layer + ".";
    for (const auto& [name, constant] : tensors)
      out_.tensors.emplace_back(value->name() + "." + path + name, constant);
  }
}

void TextWriter::Flush(const Value* value) {
  auto found = open_.find(value);
  if (found == open_.end()) return;
  const Chain chain = std::move(found->second);
  open_.erase(found);
  if (value == open_sizes_) open_sizes_ = nullptr;
  *text_ += NameOf(value) + " = " + chain.text + "\n";
  AddTensors(chain, value);
}

/// The first call with a data-dependent size in the types of its results defines it.
void TextWriter::FindDefiners() {
  llvm::StringSet<> defined;
  for (const Op* op : graph_.ops()) {
    for (const Value* result : op->results())
      for (const auto& [axis, dim] : llvm::enumerate(result->type().dims))
        dim.ForEachSymbol([&, axis = axis](llvm::StringRef symbol) {
          if (!graph_.IsDataSymbol(symbol) || !defined.insert(symbol).second) return;
          definers_.insert(op);
          if (graph_.FindValue(symbol) == nullptr || dim.symbol() != symbol) return;
          sizes_[symbol] = Dim::Symbol(llvm::formatv("dims({0})[{1}]", result->name(), axis).str());
          sized_.insert(result);
        });
  }
}

/// Writes the calls that define data-dependent sizes before a call that reads one of them, and
/// before one that defines another: the order of those calls determines the names of the sizes. A
/// call of which they are an operand continues their statement, or comes after it anyway.
void TextWriter::FlushSizes(const Op& op) {
  if (open_sizes_ == nullptr || llvm::is_contained(op.operands(), open_sizes_)) return;
  bool is_needed = definers_.contains(&op);
  graph_.ForEachDefiner(op, [&](const Op*) { is_needed = true; });
  if (is_needed) Flush(open_sizes_);
}

void TextWriter::WriteOp(const Op& op) {
  if (inner_.contains(&op) || (op.results().size() == 1 && IsLiteral(op.result()))) return;
  auto layer = layers_.find(&op);
  FlushSizes(op);
  Chain chain = MakeChain(op);
  // The operands are written first.
  if (layer != layers_.end()) {
    Flush(layer->second.input);
  } else {
    for (const Value* operand : op.operands()) Flush(operand);
  }
  chain.defines_size |= definers_.contains(&op);
  if (chain.defines_size) open_sizes_ = nullptr;
  // Unused results at the end are omitted.
  size_t count = op.results().size();
  while (count > 1 && op.results()[count - 1]->uses().empty() &&
         !outputs_.contains(op.results()[count - 1]))
    --count;
  if (count == 1) {
    if (chain.defines_size) open_sizes_ = op.results()[0];
    open_[op.results()[0]] = std::move(chain);
    return;
  }
  std::vector<std::string> names;
  for (const Value* result : op.results().take_front(count)) names.push_back(NameOf(result));
  *text_ += llvm::join(names, ", ") + " = " + chain.text + "\n";
  AddTensors(chain, op.result());
}

void TextWriter::FlushAll(llvm::ArrayRef<Op*> ops) {
  for (const Op* op : ops)
    for (const Value* result : op->results()) Flush(result);
}

/// `name`, with a suffix if it is taken.
std::string Unique(llvm::StringRef name, llvm::StringSet<>& taken) {
  std::string unique = name.str();
  for (unsigned i = 2; !taken.insert(unique).second; ++i)
    unique = (name + "_" + llvm::Twine(i)).str();
  return unique;
}

std::string TextWriter::WriteBody(BlockId id, const Op& caller) {
  const Block& block = graph_.block(id);
  llvm::StringSet<> taken = SymbolsAround(graph_, block);
  auto take = [&](const Value* value) {
    const llvm::StringRef name = value->name();
    names_[value] = Unique(name.substr(name.rfind('.') + 1), taken);
  };
  llvm::for_each(block.inputs, take);
  for (const Op* op : block.ops) llvm::for_each(op->results(), take);
  std::string text = "(";
  llvm::ListSeparator comma(", ");
  llvm::StringMap<Dim> rows = std::exchange(rows_, RowsOf(block));
  for (const Value* input : block.inputs) {
    Type type = input->type();
    for (Dim& dim : type.dims) dim = Substitute(dim, rows_);
    type.dims = DimsInSignature(graph_, std::move(type.dims), &taken);
    type.index_bound.reset();  // it may contain sizes of later inputs
    text += comma;
    text += NameOf(input) + ": " + type.ToString();
  }
  text += ") {\n";
  std::string statements;
  std::string* const outer = std::exchange(text_, &statements);
  llvm::DenseMap<const Value*, Chain> open;
  std::swap(open, open_);
  const Value* const open_sizes = std::exchange(open_sizes_, nullptr);
  for (const Value* output : block.outputs) outputs_.insert(output);
  FindLiterals(block.ops);
  for (const Op* op : block.ops) WriteOp(*op);
  FlushAll(block.ops);
  open_ = std::move(open);
  open_sizes_ = open_sizes;
  text_ = outer;
  rows_ = std::move(rows);
  text += statements + "return ";
  llvm::StringSet<> returned;
  // Carried values keep their names.
  const LoopBody counts(graph_, caller);
  const size_t num_xs = counts.num_xs(), num_init = counts.num_init();
  llvm::ListSeparator next(", ");
  for (size_t i = 0; i < block.outputs.size(); ++i) {
    const Value* output = block.outputs[i];
    text += next;
    const std::string name = i < num_init ? NameOf(block.inputs[num_xs + i]) : "y";
    text += Unique(name, returned) + "=" + NameOf(output);
  }
  text += "\n}\n";
  auto [entry, is_new] = bodies_.try_emplace(text);
  if (is_new) {
    std::string stem = caller.result()->name();
    std::replace(stem.begin(), stem.end(), '.', '_');
    entry->second = Unique(stem + "_step", body_names_);
    body_layers_ += "layer " + entry->second + text + "\n";
  }
  return entry->second;
}

ImportedText TextWriter::Write() {
  for (const GraphOutput& output : graph_.outputs()) outputs_.insert(output.value);
  FindLiterals(graph_.ops());
  FindLayers();
  FindDefiners();
  WriteDeclarations();
  for (const Op* op : graph_.ops()) WriteOp(*op);
  FlushAll(graph_.ops());
  out_.text = body_layers_ + out_.text + "\n";
  if (has_layers_) out_.text += "load \"" + weight_file_ + "\"\n";
  for (const GraphOutput& output : graph_.outputs()) {
    const bool has_name = output.name == output.value->name();
    out_.text += "output " + output.name + (has_name ? "" : " = " + output.value->name()) + "\n";
  }
  auto file = std::make_shared<const SourceFile>("imported.pdl", std::move(out_.text));
  Diagnostics diagnostics;
  std::optional<std::string> formatted = FormatText(file, &diagnostics);
  if (!formatted) InternalError("the source of an imported network has syntax errors");
  out_.text = std::move(*formatted);
  return std::move(out_);
}

}  // namespace

ImportedText WriteImportedText(const ImportedModel& model, llvm::StringRef weight_file) {
  return TextWriter(model, weight_file).Write();
}

}  // namespace pdl
