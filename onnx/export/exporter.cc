#include "onnx/export/exporter.h"

#include <utility>

#include "ir/dim_polynomial.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "onnx/export/call.h"
#include "pdl/op/error.h"
#include "runtime/call_error.h"

namespace pdl {

onnx::TensorProto::DataType DTypeToOnnx(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return onnx::TensorProto::FLOAT16;
    case DType::kBF16:
      return onnx::TensorProto::BFLOAT16;
    case DType::kF32:
      return onnx::TensorProto::FLOAT;
    case DType::kF64:
      return onnx::TensorProto::DOUBLE;
    case DType::kI8:
      return onnx::TensorProto::INT8;
    case DType::kI16:
      return onnx::TensorProto::INT16;
    case DType::kI32:
      return onnx::TensorProto::INT32;
    case DType::kI64:
      return onnx::TensorProto::INT64;
    case DType::kU8:
      return onnx::TensorProto::UINT8;
    case DType::kU16:
      return onnx::TensorProto::UINT16;
    case DType::kU32:
      return onnx::TensorProto::UINT32;
    case DType::kU64:
      return onnx::TensorProto::UINT64;
    case DType::kBool:
      return onnx::TensorProto::BOOL;
  }
  InternalError("a dtype without a counterpart in ONNX");
}

namespace {

void SetTensor(const Constant& value, onnx::TensorProto* tensor) {
  tensor->set_data_type(DTypeToOnnx(value.dtype()));
  for (int64_t size : value.sizes()) tensor->add_dims(size);
  tensor->set_raw_data(value.data(), static_cast<size_t>(value.num_bytes()));
}

void SetAttribute(const OnnxAttribute& from, onnx::AttributeProto* to) {
  to->set_name(from.name);
  if (const auto* i = std::get_if<int64_t>(&from.value)) {
    to->set_type(onnx::AttributeProto::INT);
    to->set_i(*i);
  } else if (const auto* f = std::get_if<double>(&from.value)) {
    to->set_type(onnx::AttributeProto::FLOAT);
    to->set_f(static_cast<float>(*f));
  } else if (const auto* s = std::get_if<std::string>(&from.value)) {
    to->set_type(onnx::AttributeProto::STRING);
    to->set_s(*s);
  } else if (const auto* ints = std::get_if<std::vector<int64_t>>(&from.value)) {
    to->set_type(onnx::AttributeProto::INTS);
    for (int64_t value : *ints) to->add_ints(value);
  } else if (const auto* floats = std::get_if<std::vector<double>>(&from.value)) {
    to->set_type(onnx::AttributeProto::FLOATS);
    for (double value : *floats) to->add_floats(static_cast<float>(value));
  } else if (const auto* body = std::get_if<const onnx::GraphProto*>(&from.value)) {
    to->set_type(onnx::AttributeProto::GRAPH);
    *to->mutable_g() = **body;
  } else {
    to->set_type(onnx::AttributeProto::TENSOR);
    SetTensor(std::get<Constant>(from.value), to->mutable_t());
  }
}

bool IsPlain(const Value* value) { return value->type().is_plain(); }

/// The results of a call whose results have no elements: ONNX Runtime rejects transposed
/// convolutions, one-hot vectors and others without elements.
std::optional<ExportedNames> EmptyResults(ExportCall& call) {
  const auto is_empty = [](const Value* result) {
    return NumElements(result->type().dims).is_constant(0);
  };
  if (call.num_inputs() == 0 || !llvm::all_of(call.op().results(), is_empty)) return std::nullopt;
  std::vector<std::string> names;
  for (const Value* result : call.op().results()) {
    llvm::Expected<std::string> sizes = call.Sizes(result->type().dims);
    if (!sizes) {  // the call itself decides one of them
      llvm::consumeError(sizes.takeError());
      return std::nullopt;
    }
    names.push_back(call.Zeros(result->type().dtype, *sizes));
  }
  return names;
}

}  // namespace

void Exporter::SetType(const Type& type, llvm::StringRef name, onnx::ValueInfoProto* info) {
  info->set_name(name.str());
  onnx::TypeProto::Tensor* tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(DTypeToOnnx(type.dtype));
  onnx::TensorShapeProto* shape = tensor->mutable_shape();
  for (const Dim& dim : type.dims) {
    onnx::TensorShapeProto::Dimension* to = shape->add_dim();
    if (dim.is_constant()) {
      to->set_dim_value(dim.constant());
    } else {
      to->set_dim_param(dim.ToString());
    }
  }
}

llvm::Error Exporter::Run(onnx::GraphProto* to) {
  main_ = target_ = to;
  ChooseNames();
  if (llvm::Error error = AddInputs()) return error;
  llvm::DenseSet<const Value*> results = outputs_;
  for (const GraphUpdate& update : graph_.updates()) results.insert(update.value);
  const BranchTable table(graph_, graph_.ops(),
                          [&](const Value* v) { return results.contains(v); });
  ExportOps(table.outside(), table);
  for (const GraphUpdate& update : graph_.updates()) {
    if (update.value == update.state) continue;
    rejected_[{"", "a run changes the state '" + update.state->name() +
                       "', and an ONNX model has no states"}]
        .push_back(graph_.PathToString(update.state->location()));
  }
  if (llvm::Error error = Rejected()) return WithTexts(graph_, std::move(error));
  return AddOutputs();
}

/// Values keep their names, except for those that an output of another value has. An output that is
/// a parameter or a state is a copy of it, which a node computes.
void Exporter::ChooseNames() {
  llvm::StringMap<const Value*> outputs;
  for (const GraphOutput& output : graph_.outputs()) {
    outputs[output.name] = output.value;
    outputs_.insert(output.value);
    output_names_.insert(output.name);
  }
  const auto choose = [&](const Value* value) {
    const auto found = outputs.find(value->name());
    const bool is_taken =
        found != outputs.end() && (found->second != value || value->kind() != ValueKind::kResult);
    names_[value] = is_taken ? value->name() + "/value" : value->name();
  };
  for (const Value* input : graph_.inputs()) names_[input] = input->name();
  for (const Value* parameter : graph_.parameters()) choose(parameter);
  for (const Value* state : graph_.states()) choose(state);
  for (const Op* op : graph_.ops())
    for (const Value* result : op->results()) choose(result);
}

llvm::Error Exporter::AddInputs() {
  for (const Value* input : graph_.inputs()) {
    if (!IsPlain(input)) {
      rejected_[{"", "input '" + input->name() + "' is " + input->type().ToString() +
                         ", but ONNX supports only dense tensors"}]
          .push_back(graph_.PathToString(input->location()));
      LearnSizes(input->type(), NameOf(input));  // so that calls do not report them again
      continue;
    }
    SetType(input->type(), NameOf(input), main_->add_input());
    if (!input->comment().empty())
      main_->mutable_input(main_->input_size() - 1)->set_doc_string(input->comment());
    LearnSizes(input->type(), NameOf(input));
  }
  if (rejected_.empty()) return AddVariables();
  return llvm::Error::success();
}

bool Exporter::IsUsed(const Value* value) const {
  return !value->uses().empty() || outputs_.contains(value);
}

/// Rejects a state whose size depends on the inputs.
void Exporter::RejectOpenState(const Value* state) {
  LearnSizes(state->type(), NameOf(state));
  names_[state].clear();
  // A state that a run changes is reported separately.
  if (llvm::any_of(graph_.updates(), [&](const GraphUpdate& u) { return u.state == state; }))
    return;
  rejected_[{"",
             "the state '" + state->name() + "' is " + state->type().ToString() +
                 ", but the initial states of an ONNX model have fixed sizes; make it an input, "
                 "or a computed value"}]
      .push_back(graph_.LocationToString(state->location()));
}

llvm::Error Exporter::AddVariables() {
  for (llvm::ArrayRef<Value*> values : {graph_.parameters(), graph_.states()}) {
    for (const Value* value : values) {
      if (!IsUsed(value)) continue;
      if (!value->type().has_constant_dims()) {
        RejectOpenState(value);
        continue;
      }
      llvm::Expected<Tensor> tensor = options_.value(value->name());
      if (!tensor) return tensor.takeError();
      onnx::TensorProto* initializer = main_->add_initializer();
      initializer->set_name(NameOf(value));
      if (!value->comment().empty()) initializer->set_doc_string(value->comment());
      const Constant bytes = tensor->ToConstant();
      if (options_.store && bytes.num_bytes() >= kSmallInitializer) {
        initializer->set_data_type(DTypeToOnnx(bytes.dtype()));
        for (int64_t size : bytes.sizes()) initializer->add_dims(size);
        if (llvm::Error error = options_.store(bytes, initializer)) return error;
      } else {
        SetTensor(bytes, initializer);
      }
      LearnSizes(value->type(), NameOf(value));
    }
  }
  return llvm::Error::success();
}

llvm::Error Exporter::AddOutputs() {
  llvm::StringSet<> inputs, given;
  for (const onnx::ValueInfoProto& input : main_->input()) inputs.insert(input.name());
  for (const GraphOutput& output : graph_.outputs()) {
    std::string name = output.name;
    // An input keeps its name.
    if (inputs.contains(name)) name += "/output";
    place_ = graph_.PathToString(output.value->location());
    if (NameOf(output.value) != name || output.value->kind() != ValueKind::kResult ||
        !given.insert(name).second) {
      onnx::NodeProto* node = main_->add_node();
      node->set_op_type("Identity");
      node->set_name(NodeName(name));
      node->add_input(NameOf(output.value));
      node->add_output(name);
    }
    onnx::ValueInfoProto* info = main_->add_output();
    SetType(output.value->type(), name, info);
    if (!output.comment.empty()) info->set_doc_string(output.comment);
  }
  return llvm::Error::success();
}

void Exporter::AddTo(onnx::GraphProto* graph, llvm::function_ref<void()> add) {
  onnx::GraphProto* const outside = std::exchange(target_, graph);
  const Known known = known_;
  add();
  known_ = known;
  target_ = outside;
}

llvm::Error Exporter::ExportBlock(const Block& block, onnx::GraphProto* to) {
  const std::string stem = stem_, place = place_;
  const unsigned next = next_;
  AddTo(to, [&] {
    for (const Value* input : block.inputs) LearnSizes(input->type(), NameOf(input));
    for (const Op* op : block.ops)
      for (const Value* result : op->results()) names_[result] = result->name();
    const BranchTable table(graph_, block.ops,
                            [&](const Value* v) { return llvm::is_contained(block.outputs, v); });
    ExportOps(table.outside(), table);
  });
  stem_ = stem;
  place_ = place;
  next_ = next;
  return llvm::Error::success();
}

void Exporter::ExportOps(llvm::ArrayRef<const Op*> ops, const BranchTable& table) {
  for (const Op* op : ops) {
    const Branches* branches = table.Find(op);
    if (branches == nullptr) {
      ExportOp(*op);
    } else if (op == branches->selects.front()) {
      ExportIf(*branches, table);
    }
  }
}

void Exporter::ExportIf(const Branches& branches, const BranchTable& table) {
  const auto is_packed = [](const Op* op) { return !IsPlain(op->result()); };
  // Both sides are there already.
  const auto is_there = [](const std::vector<const Op*>& side) { return side.empty(); };
  if (llvm::all_of(branches.sides, is_there) || llvm::any_of(branches.selects, is_packed)) {
    for (const auto& side : branches.sides) ExportOps(side, table);
    for (const Op* op : branches.selects) ExportOp(*op);
    return;
  }
  onnx::GraphProto sides[2] = {ExportSide(branches, 0, table), ExportSide(branches, 1, table)};
  const bool is_known = !names_.lookup(branches.condition).empty() &&
                        llvm::all_of(branches.selects, [&](const Op* op) {
                          return llvm::all_of(op->operands(), [&](const Value* operand) {
                            return !names_.lookup(operand).empty();
                          });
                        });
  if (!is_known) {  // a rejected call
    for (const Op* op : branches.selects) names_[op->result()].clear();
    return;
  }
  const Op& first = *branches.selects.front();
  stem_ = NameOf(first.result());
  place_ = graph_.PathToString(first.location());
  next_ = 0;
  onnx::NodeProto* node = target_->add_node();
  node->set_op_type("If");
  node->set_name(NodeName(stem_));
  node->add_input(NameOf(branches.condition));
  for (const unsigned side : {0u, 1u}) {
    onnx::AttributeProto* attribute = node->add_attribute();
    attribute->set_name(side == 0 ? "then_branch" : "else_branch");
    attribute->set_type(onnx::AttributeProto::GRAPH);
    *attribute->mutable_g() = std::move(sides[side]);
  }
  for (const Op* op : branches.selects) {
    node->add_output(NameOf(op->result()));
    LearnSizes(op->result()->type(), NameOf(op->result()));
  }
}

onnx::GraphProto Exporter::ExportSide(const Branches& branches, unsigned side,
                                      const BranchTable& table) {
  onnx::GraphProto graph;
  const std::string word = side == 0 ? "/then" : "/else";
  graph.set_name(NameOf(branches.selects.front()->result()) + word);
  AddTo(&graph, [&] { ExportOps(branches.sides[side], table); });
  for (const Op* op : branches.selects) {
    // The value may come from outside, or be a result of the other side.
    const Value* value = op->operands()[side + 1];
    const std::string name = NameOf(op->result()) + word;
    onnx::NodeProto* node = graph.add_node();
    node->set_op_type("Identity");
    node->set_name(name);
    node->add_input(names_.lookup(value));
    node->add_output(name);
    SetType(value->type(), name, graph.add_output());
  }
  return graph;
}

void Exporter::ExportOp(const Op& op) {
  stem_ = NameOf(op.result());
  place_ = graph_.PathToString(op.location());
  next_ = 0;
  const auto is_packed = [](const Value* value) { return !value->type().is_plain(); };
  if (llvm::any_of(op.results(), is_packed) || llvm::any_of(op.operands(), is_packed))
    return Reject(op, "ONNX supports only dense tensors");
  if (op.def().properties().random) return Reject(op, "ONNX cannot reproduce pdl's random numbers");
  const ExportRule* rule = FindExportRule(op.def());
  if (!rule) return Reject(op, "ONNX has no such operator");
  // A call with a rejected operand is not reported again.
  for (const Value* operand : op.operands())
    if (names_.lookup(operand).empty()) return;
  const int first = target_->node_size();
  ExportCall call(op, *this);
  std::optional<ExportedNames> empty = EmptyResults(call);
  llvm::Expected<ExportedNames> names =
      empty ? llvm::Expected<ExportedNames>(std::move(*empty)) : rule->rule(call);
  if (!names) return Reject(op, llvm::toString(names.takeError()));
  for (size_t i = 0; i < op.results().size() && i < names->names.size(); ++i) {
    const std::string requested = NameOf(op.result(static_cast<unsigned>(i)));
    const std::string& made = names->names[i];
    // A value that this call computes gets the name of the result; any other value keeps its name.
    bool is_own = false;
    for (int n = first; n < target_->node_size(); ++n)
      is_own |= llvm::is_contained(target_->node(n).output(), made);
    const bool is_taken =
        llvm::is_contained(llvm::ArrayRef<std::string>(names->names).take_front(i), made);
    if (!is_own || is_taken) {
      names_[op.result(static_cast<unsigned>(i))] = made;
      continue;
    }
    for (int n = first; n < target_->node_size(); ++n) {
      onnx::NodeProto* node = target_->mutable_node(n);
      for (std::string& input : *node->mutable_input())
        if (input == made) input = requested;
      for (std::string& output : *node->mutable_output()) {
        if (output != made) continue;
        output = requested;
        node->set_name(NodeName(requested));
      }
    }
  }
  for (const Value* result : op.results()) {
    LearnSizes(result->type(), NameOf(result));
    if (target_ == main_ && NameOf(result) == result->name() &&
        !output_names_.contains(result->name()))
      SetType(result->type(), NameOf(result), main_->add_value_info());
  }
}

void Exporter::Reject(const Op& op, std::string reason) {
  rejected_[{op.type(), std::move(reason)}].push_back(place_);
  for (const Value* result : op.results()) names_[result].clear();
}

/// Returns one Error for each operator and reason.
llvm::Error Exporter::Rejected() {
  llvm::Error errors = llvm::Error::success();
  for (auto& [what, places] : rejected_) {
    const std::string first = places.front();
    std::string text = what.first.empty() ? "" : "'" + what.first + "' cannot be exported: ";
    text += what.second;
    if (places.size() > 1) {
      constexpr size_t kShown = 5;
      const size_t count = places.size();
      if (places.size() > kShown) places.resize(kShown);
      text += llvm::formatv("; {0} calls, also at {1}{2}", count,
                            llvm::join(places.begin() + 1, places.end(), ", "),
                            count > kShown ? ", …" : "");
    }
    errors = llvm::joinErrors(std::move(errors), UserErrorAt(first, Code::kNotSupported, text));
  }
  return errors;
}

/// For example "h/0@model.pdl:3:5": the value that the node computes, and its source location.
std::string Exporter::NodeName(const std::string& value) const {
  return place_.empty() ? value : value + "@" + place_;
}

std::string Exporter::FreshName() { return stem_ + "/" + std::to_string(next_++); }

std::vector<std::string> Exporter::AddNode(llvm::StringRef type, llvm::ArrayRef<std::string> inputs,
                                           llvm::ArrayRef<OnnxAttribute> attributes,
                                           unsigned outputs) {
  onnx::NodeProto* node = target_->add_node();
  node->set_op_type(type.str());
  for (const std::string& input : inputs) node->add_input(input);
  // Omitted inputs at the end are removed.
  while (node->input_size() > 0 && node->input(node->input_size() - 1).empty())
    node->mutable_input()->RemoveLast();
  for (const OnnxAttribute& attribute : attributes) SetAttribute(attribute, node->add_attribute());
  std::vector<std::string> names;
  for (unsigned i = 0; i < outputs; ++i) {
    names.push_back(FreshName());
    node->add_output(names.back());
  }
  node->set_name(NodeName(names.front()));
  return names;
}

std::string Exporter::AddConstant(const Constant& value, llvm::StringRef name) {
  std::string key;
  if (value.num_bytes() <= kSmallInitializer) {
    key =
        TensorTypeToString(value.dtype(), value.sizes()) +
        std::string(static_cast<const char*>(value.data()), static_cast<size_t>(value.num_bytes()));
    if (const auto found = constants_.find(key); found != constants_.end()) return found->second;
  }
  const std::string chosen = name.empty() ? FreshName() : name.str();
  onnx::TensorProto* tensor = main_->add_initializer();
  tensor->set_name(chosen);
  SetTensor(value, tensor);
  if (!key.empty()) constants_[key] = chosen;
  return chosen;
}

std::string Exporter::AddInts(llvm::ArrayRef<int64_t> values) {
  return AddConstant(
      Constant::Copy(DType::kI64, {static_cast<int64_t>(values.size())}, values.data()));
}

}  // namespace pdl
