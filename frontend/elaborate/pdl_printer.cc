// Prints a graph as flat source: one declaration per input or variable and one statement per call,
// in their order of creation, so that compiling it makes the same graph.
#include <algorithm>

#include "frontend/elaborate/sugar.h"
#include "ir/emit_text.h"
#include "ir/names.h"
#include "ir/passes/block_effects.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler/compiler.h"
#include "pdl/compiler/emit.h"
#include "pdl/compiler/weights.h"
#include "pdl/op/symbols.h"

namespace pdl {
namespace {

class PdlPrinter {
 public:
  PdlPrinter(const Graph& graph, const EmitPdlOptions& options, llvm::raw_ostream& os)
      : graph_(graph), options_(options), os_(os) {}

  void Print();

 private:
  // Inputs, variables and calls, each after the values that it uses.
  void PrintDefinitions();
  void PrintConstraints();
  void PrintComment(llvm::StringRef comment);
  void PrintVariable(const Value& value, llvm::StringRef keyword);
  void PrintOp(const Op& op);
  // `cos(x, scale=5.0)`; an initializer omits the attributes given by its declaration.
  void PrintCall(const Op& op, const Type* declared);
  // The operands of counted inputs: `x, init=[h, c]`.
  void PrintCounted(const Op& op, llvm::function_ref<llvm::raw_ostream&()> next);
  // Prints the layers that are the bodies of a call, after those nested in them. Their names begin
  // with that of the layer that the call is in.
  void PrintBodies(const Op& op, llvm::StringRef layer = "");
  void PrintBody(BlockId id, const Op& caller, llvm::StringRef outer);
  // Finds what each data-dependent size is written as.
  void FindSizes();
  // In the body of a loop only the last part of a name, since the call provides its path.
  llvm::StringRef NameOf(const Value* value) const {
    auto found = names_.find(value);
    return found == names_.end() ? llvm::StringRef(value->name()) : found->second;
  }

  const Graph& graph_;
  const EmitPdlOptions& options_;
  llvm::raw_ostream& os_;
  llvm::StringRef indent_;
  llvm::DenseMap<const Value*, std::string> names_;
  // Data-dependent sizes as `dims(v)[0]`, by their symbols. A symbol itself could be the name of a
  // value, too, and its name depends on the calls before.
  llvm::StringMap<Dim> sizes_;
  llvm::DenseMap<uint32_t, std::string> bodies_;  // layers by block
  llvm::StringSet<> layers_;
};

// `name`, with a suffix if it is taken.
std::string Unique(llvm::StringRef name, llvm::StringSet<>& taken) {
  std::string unique = name.str();
  for (unsigned i = 2; !taken.insert(unique).second; ++i)
    unique = (name + "_" + llvm::Twine(i)).str();
  return unique;
}

std::string AsIdentifier(llvm::StringRef name) {
  std::string text = name.str();
  for (char& c : text)
    if (!llvm::isAlnum(c)) c = '_';
  if (IsReservedWord(text)) return text + "_";
  return text.empty() || llvm::isDigit(text[0]) ? "v" + text : text;
}

void PdlPrinter::PrintComment(llvm::StringRef comment) {
  if (comment.empty()) return;
  for (llvm::StringRef line : llvm::split(comment, '\n')) {
    os_ << (line.empty() ? "##" : "## ") << line << '\n';
  }
}

// Whether nested lists determine the sizes: nothing does after a 0.
static bool SaysItsSizes(const Op& op) {
  const llvm::ArrayRef<Dim> dims = op.result()->type().dims;
  return op.type() != sugar::kConstant || dims.empty() ||
         llvm::none_of(dims.drop_back(), [](const Dim& dim) { return dim.is_constant(0); });
}

// The dtype of a literal for which `decl` is not given, if the literal would be read as another
// one. Only files of other programs have such calls.
static std::optional<DType> UnstatedDType(const Op& op, const AttributeDecl& decl) {
  const OpSignature& signature = op.def().signature;
  for (size_t i = 0; i < signature.attributes.size(); ++i) {
    if (signature.attributes[i].dtype_from != decl.name) continue;
    const auto* literal = std::get_if<Constant>(&op.attribute_values()[i]);
    constexpr DTypeSet kOfLiterals =
        DTypeSet(DType::kF32) | DTypeSet(DType::kI64) | DTypeSet(DType::kBool);
    if (literal != nullptr && !kOfLiterals.Contains(literal->dtype())) return literal->dtype();
  }
  return std::nullopt;
}

void PdlPrinter::FindSizes() {
  // Among dims, these names are sizes, even if a value has such a name, too.
  const std::vector<std::string> symbols = graph_.Symbols();
  llvm::StringSet<> defined;
  for (const Op* op : graph_.ops()) {
    // This call takes the name of the size that it defines, and the following ones use it.
    if (op->def().properties().defines_size)
      defined.insert(op->attributes().Dims("dims")[0].symbol());
    llvm::StringSet<> of_call;
    for (const Value* result : op->results()) {
      for (const auto& [axis, dim] : llvm::enumerate(result->type().dims)) {
        const llvm::StringRef symbol = dim.symbol();
        if (!graph_.IsDataSymbol(symbol) || defined.contains(symbol)) continue;
        of_call.insert(symbol);
        if (!llvm::is_contained(symbols, result->name()))
          sizes_.try_emplace(
              symbol, Dim::Symbol(llvm::formatv("dims({0})[{1}]", result->name(), axis).str()));
      }
    }
    for (const auto& symbol : of_call) defined.insert(symbol.first());
  }
}

void PdlPrinter::PrintCall(const Op& op, const Type* declared) {
  if (!SaysItsSizes(op)) {
    const Type& type = op.result()->type();
    AttributeValue dims = type.dims;
    Substitute(&dims, sizes_);
    os_ << sugar::kFirstStep << '(' << AttributeToString(dims);
    if (type.dtype != DType::kF32) os_ << ", dtype=" << DTypeName(type.dtype);
    os_ << ')';
    return;
  }
  os_ << op.type() << '(';
  bool first = true;
  auto next = [&]() -> llvm::raw_ostream& {
    if (!first) os_ << ", ";
    first = false;
    return os_;
  };
  const OpSignature& signature = op.def().signature;
  if (signature.has_counts()) {
    PrintCounted(op, next);
  } else {
    for (const Value* operand : op.operands()) next() << NameOf(operand);
  }
  const bool is_repeatable = !signature.inputs.empty() && signature.inputs.back().repeatable;
  const bool is_in_body = !indent_.empty();  // where no other value can be named
  // A positional attribute directly after all inputs reads best without its name.
  const int positional = signature.PositionalAttribute();
  const bool may_stand_bare = !is_repeatable && op.operands().size() == signature.inputs.size();
  // In a body the names of values, which determine their random numbers, are other ones.
  const std::vector<AttributeValue> values =
      is_in_body ? AttributesWithStream(op) : op.attribute_values().vec();
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t i = 0; i < signature.attributes.size(); ++i) {
      const AttributeDecl& decl = signature.attributes[i];
      AttributeValue value = values[i];
      if (!is_in_body) Substitute(&value, sizes_);
      if (IsNone(value) && decl.kind == AttributeKind::kDType)
        if (const std::optional<DType> dtype = UnstatedDType(op, decl)) value = *dtype;
      const bool is_bare = static_cast<int>(i) == positional && may_stand_bare;
      if (is_bare != (pass == 0)) continue;
      if (decl.counted) continue;
      if (!decl.required() && Identical(value, decl.default_value)) continue;
      if (const auto* block = std::get_if<BlockId>(&value)) {
        next() << decl.name << '=' << bodies_.lookup(block->index) << "()";
        continue;
      }
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
  if (info.weight && !options_.loads) {
    os_ << sugar::kFirstStep << "()";
  } else if (info.weight) {
    os_ << WeightToString(*info.weight);
  } else if (info.initializer) {
    PrintCall(*graph_.block(*info.initializer).ops.back(), &value.type());
  } else if (!info.copy_of.empty()) {
    os_ << "copy(" << info.copy_of << ')';
  }
  // In the network of a training step, trained parameters are states, which have no attributes.
  if (value.kind() == ValueKind::kState) {
    os_ << '\n';
    return;
  }
  os_ << ParameterAttributesToString(info) << '\n';
}

void PdlPrinter::PrintCounted(const Op& op, llvm::function_ref<llvm::raw_ostream&()> next) {
  const OpSignature& signature = op.def().signature;
  size_t operand = 0;
  for (size_t i = 0; i < signature.inputs.size(); ++i) {
    const InputDecl& input = signature.inputs[i];
    const size_t end =
        std::min(op.operands().size(), signature.FirstOperand(i + 1, op.attribute_values()));
    llvm::ArrayRef<Value*> given = op.operands().slice(operand, end - operand);
    operand = end;
    if (given.empty()) continue;
    if (i == 0) {
      for (const Value* value : given) next() << NameOf(value);
    } else if (!input.repeatable) {
      next() << input.name << '=' << NameOf(given.front());
    } else {
      next() << input.name << "=[";
      llvm::ListSeparator separator(", ");
      for (const Value* value : given) os_ << separator << NameOf(value);
      os_ << ']';
    }
  }
}

void PdlPrinter::PrintBodies(const Op& op, llvm::StringRef layer) {
  for (const AttributeValue& value : op.attribute_values())
    if (const auto* block = std::get_if<BlockId>(&value)) PrintBody(*block, op, layer);
}

void PdlPrinter::PrintBody(BlockId id, const Op& caller, llvm::StringRef outer) {
  if (bodies_.contains(id.index)) return;
  const Block& block = graph_.block(id);
  const std::string prefix = outer.empty() ? "" : (outer + "_").str();
  const std::string layer =
      Unique(prefix + AsIdentifier(NameOf(caller.result())) + "_body", layers_);
  bodies_[id.index] = layer;
  llvm::StringSet<> taken = SymbolsAround(graph_, block);
  auto take = [&](const Value* value) {
    const llvm::StringRef name = value->name();
    names_[value] = Unique(AsIdentifier(name.substr(name.rfind('.') + 1)), taken);
  };
  llvm::for_each(block.inputs, take);
  for (const Op* op : block.ops) llvm::for_each(op->results(), take);
  for (const Op* op : block.ops) PrintBodies(*op, layer);
  os_ << "layer " << layer << '(';
  llvm::ListSeparator input_separator(", ");
  llvm::StringSet<> sizes;
  for (const Value* input : block.inputs) {
    Type type = input->type();
    type.dims = DimsInSignature(graph_, std::move(type.dims), &taken);
    for (const Dim& dim : type.dims) sizes.insert(dim.symbol());
    // A bound may contain sizes that only later inputs introduce; the call has it anyway.
    bool is_known = true;
    if (type.index_bound)
      type.index_bound->ForEachSymbol(
          [&](llvm::StringRef symbol) { is_known &= sizes.contains(symbol); });
    if (!is_known) type.index_bound.reset();
    os_ << input_separator << NameOf(input) << ": " << type.ToString();
  }
  os_ << ") {\n";
  const llvm::StringRef indent = std::exchange(indent_, "  ");
  for (const Op* op : block.ops) PrintOp(*op);
  indent_ = indent;
  os_ << "  return ";
  llvm::ListSeparator output_separator(", ");
  for (size_t i = 0; i < block.outputs.size(); ++i)
    os_ << output_separator << "out" << i << '=' << NameOf(block.outputs[i]);
  os_ << "\n}\n";
}

void PdlPrinter::PrintOp(const Op& op) {
  PrintBodies(op);
  PrintComment(op.result()->comment());
  os_ << indent_;
  llvm::ListSeparator separator(", ");
  for (const Value* result : op.results()) os_ << separator << NameOf(result);
  os_ << " = ";
  PrintCall(op, nullptr);
  os_ << '\n';
}

void PdlPrinter::PrintDefinitions() {
  // Inputs and variables in their order of creation, and calls in their order, after everything
  // that they read.
  struct Item {
    uint32_t number;
    const Value* value;
    const Op* op;
  };
  std::vector<Item> items;
  for (auto values : {graph_.inputs(), graph_.parameters(), graph_.states()}) {
    for (const Value* value : values)
      if (value->kind() != ValueKind::kInput ||
          !llvm::is_contained(options_.without_inputs, value->name()))
        items.push_back({graph_.number(value), value, nullptr});
  }
  uint32_t number = 0;
  for (const Op* op : graph_.ops()) {
    number = std::max(number, graph_.number(op->result()));
    for (const Value* value : op->operands()) number = std::max(number, graph_.number(value));
    items.push_back({number, nullptr, op});
  }
  llvm::stable_sort(items, [](const Item& a, const Item& b) { return a.number < b.number; });
  for (const Item& item : items) {
    if (item.op != nullptr) {
      PrintOp(*item.op);
    } else {
      PrintVariable(*item.value, item.value->kind() == ValueKind::kInput       ? "input"
                                 : item.value->kind() == ValueKind::kParameter ? "param"
                                                                               : "state");
    }
  }
}

void PdlPrinter::PrintConstraints() {
  for (const GraphConstraint& constraint : graph_.constraints()) {
    const DimCheck& check = constraint.check;
    const llvm::StringRef sign = check.relation == DimCheck::Relation::kEqual      ? "=="
                                 : check.relation == DimCheck::Relation::kNotEqual ? "!="
                                                                                   : ">=";
    auto relation = [&](const Dim& left, const Dim& right) {
      return (left.ToString() + " " + sign + " " + right.ToString()).str();
    };
    os_ << "assert " << relation(Substitute(check.left, sizes_), Substitute(check.right, sizes_));
    if (check.message != relation(check.left, check.right))
      os_ << ", " << AttributeToString(check.message);
    os_ << '\n';
  }
}

void PdlPrinter::Print() {
  FindSizes();
  PrintDefinitions();
  PrintConstraints();
  for (const GraphUpdate& update : graph_.updates()) {
    os_ << "update " << update.state->name() << " = " << update.value->name() << '\n';
  }
  for (const GraphTraining& training : graph_.trainings()) {
    std::string statement;
    llvm::raw_string_ostream os(statement);
    os << "minimize " << training.loss->name() << " over ["
       << llvm::join(llvm::map_range(training.parameters, [](const Value* p) { return p->name(); }),
                     ", ")
       << "] with " << training.optimizer;
    if (training.every > 1) os << " every " << training.every;
    if (options_.trainings) {
      os_ << statement << '\n';
    } else {
      // The source of an optimizer may have several lines.
      os_ << "# with a layer of another file: " << llvm::join(llvm::split(statement, '\n'), "\n# ")
          << '\n';
    }
  }
  for (const GraphOutput& output : graph_.outputs()) {
    PrintComment(output.comment);
    os_ << "output " << output.name;
    if (output.name != output.value->name() || llvm::StringRef(output.name).contains('.'))
      os_ << " = " << output.value->name();
    os_ << '\n';
  }
}

}  // namespace

std::string EmitPdl(const Graph& graph, const EmitPdlOptions& options) {
  std::string text;
  llvm::raw_string_ostream os(text);
  PdlPrinter(graph, options, os).Print();
  return text;
}

}  // namespace pdl
