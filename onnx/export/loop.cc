// Export of loops: Scan, whose body is a graph.
#include "llvm/ADT/STLExtras.h"
#include "onnx/export/call.h"
#include "pdl/op/symbols.h"

namespace pdl {
namespace {

using Exported = llvm::Expected<ExportedNames>;

/// Adds an output of the body under a new name: the value may be an input, or come from outside.
void Give(onnx::GraphProto* body, const std::string& from, const std::string& name) {
  onnx::NodeProto* node = body->add_node();
  node->set_op_type("Identity");
  node->set_name(name);
  node->add_input(from);
  node->add_output(name);
}

/// Whether each row of the results depends only on the same row of the operands.
bool KeepsRows(const Op& op, const Dim& rows) {
  const auto has_rows = [&](const Value* value) {
    const Shape& dims = value->type().dims;
    return !dims.empty() && dims[0] == rows;
  };
  const auto mentions_rows = [&](llvm::ArrayRef<Dim> dims) {
    return llvm::any_of(dims, [&](const Dim& dim) {
      bool found = false;
      dim.ForEachSymbol([&](llvm::StringRef symbol) { found |= symbol == rows.symbol(); });
      return found;
    });
  };
  const auto is_whole = [&](const Value* value) { return !mentions_rows(value->type().dims); };
  bool gives_rows = false;  // to the call, by an attribute
  for (const AttributeValue& value : op.attribute_values())
    ForEachSymbol(value, [&](llvm::StringRef symbol) { gives_rows |= symbol == rows.symbol(); });
  if (gives_rows && op.operands().empty()) {
    // Each row of these is the same, whatever the number of rows.
    static constexpr llvm::StringRef kFilled[] = {"zeros", "ones", "fill"};
    return llvm::is_contained(kFilled, op.type()) && has_rows(op.result()) &&
           !mentions_rows(llvm::ArrayRef(op.result()->type().dims).drop_front());
  }
  if (llvm::all_of(op.operands(), is_whole))
    return !gives_rows && llvm::all_of(op.results(), is_whole);
  const auto is_kept = [&](const Value* value) {
    return has_rows(value) && !mentions_rows(llvm::ArrayRef(value->type().dims).drop_front());
  };
  const unsigned rank = op.result()->type().rank();
  if (!llvm::all_of(op.results(), is_kept)) return false;
  if (op.def().properties().elementwise) {
    return llvm::all_of(op.operands(), [&](const Value* operand) {
      return is_whole(operand) || (is_kept(operand) && operand->type().rank() == rank);
    });
  }
  const AttributeReader attributes = op.attributes();
  if (op.type() == "matmul") {
    return rank == 2 && is_kept(op.operands()[0]) && is_whole(op.operands()[1]) &&
           !attributes.Bool("transpose_a");
  }
  if (op.type() == "split" || op.type() == "concat") {
    const int64_t axis = attributes.Int("axis");
    return llvm::all_of(op.operands(), is_kept) && (axis < 0 ? axis + rank : axis) != 0;
  }
  return false;
}

/// Rows with different numbers of steps: all rows run to the end; after the end of a row, its
/// carried values do not change and its outputs are 0.
class RowLengths {
 public:
  RowLengths(ExportCall& c, onnx::GraphProto* body, std::string stem)
      : c_(c), body_(body), stem_(std::move(stem)) {}

  /// Adds the index of the step to the sequences of the loop.
  llvm::Error Begin(const Dim& steps, const std::string& lengths,
                    std::vector<std::string>* inputs) {
    llvm::Expected<std::string> count = c_.Number(steps, DType::kI64);
    if (!count) return count.takeError();
    inputs->push_back(
        c_.Node("Range", {c_.Scalar(0, DType::kI64), *count, c_.Scalar(1, DType::kI64)}));
    Exporter::SetType(Type(DType::kI64, {}), stem_ + "/step", body_->add_input());
    c_.exporter().AddTo(body_, [&] { running_ = c_.Node("Less", {stem_ + "/step", lengths}); });
    return llvm::Error::success();
  }
  /// `next` if the row is still running, else `before`.
  std::string Keep(const Type& type, const std::string& next, const std::string& before) {
    std::vector<int64_t> axes;
    for (unsigned i = 1; i < type.rank(); ++i) axes.push_back(i);
    std::string kept;
    c_.exporter().AddTo(
        body_, [&] { kept = c_.Where(c_.Unsqueeze(running_, axes), next, before, type.dtype); });
    return kept;
  }

 private:
  ExportCall& c_;
  onnx::GraphProto* body_;
  std::string stem_, running_;
};

Exported Scan(ExportCall& c) {
  const AttributeReader& a = c.attributes();
  const auto num_xs = static_cast<unsigned>(a.Int("num_xs"));
  const auto num_init = static_cast<unsigned>(a.Int("num_init"));
  const auto num_captured = static_cast<unsigned>(a.Int("num_captured"));
  const bool has_lengths = c.num_inputs() > num_xs + num_init + num_captured;
  const int64_t axis = c.Axis("axis", c.type(0).rank());
  Exporter& exporter = c.exporter();
  BlockId id;
  if (llvm::Error error = a.Get("body", &id)) return error;
  const Block& block = exporter.graph().block(id);
  const std::string stem = c.op().result()->name() + "/body";
  if (has_lengths) {
    const Dim& rows = block.inputs[0]->type().dims[0];
    const auto is_carried_by_row = [&](const Value* value) {
      return value->type().rank() > 0 && value->type().dims[0] == rows;
    };
    const auto keeps = [&](const Op* op) { return KeepsRows(*op, rows); };
    if (!llvm::all_of(block.ops, keeps) ||
        !llvm::all_of(llvm::ArrayRef(block.inputs).slice(num_xs, num_init), is_carried_by_row))
      return c.Reject("Scan has no lengths of rows, and rows of the body may depend on each other");
  }

  onnx::GraphProto body;
  body.set_name(stem);
  // The body of pdl's scan takes slices, carried and captured values; the body of ONNX's Scan takes
  // carried values first, and can refer to outer values directly.
  std::vector<std::string> inputs;
  for (unsigned i = 0; i < num_init; ++i) inputs.push_back(c.In(num_xs + i));
  for (unsigned i = 0; i < num_xs; ++i) inputs.push_back(c.In(i));
  for (unsigned i = 0; i < block.inputs.size(); ++i) {
    const Value* input = block.inputs[i];
    exporter.SetName(input, i < num_xs + num_init ? stem + "/" + input->name() : c.In(i));
  }
  const auto port = [&](unsigned i) {
    Exporter::SetType(block.inputs[i]->type(), exporter.NameOf(block.inputs[i]), body.add_input());
  };
  for (unsigned i = 0; i < num_init; ++i) port(num_xs + i);
  for (unsigned i = 0; i < num_xs; ++i) port(i);
  RowLengths lengths(c, &body, stem);
  if (has_lengths) {
    const Dim& steps = c.type(0).dims[static_cast<size_t>(axis)];
    if (llvm::Error error = lengths.Begin(steps, c.In(c.num_inputs() - 1), &inputs)) return error;
  }
  if (llvm::Error error = exporter.ExportBlock(block, &body)) return error;
  for (size_t i = 0; i < block.outputs.size(); ++i) {
    const Value* output = block.outputs[i];
    if (exporter.NameOf(output).empty()) return c.Reject("its body cannot be exported");
    const std::string name = stem + "/" + std::to_string(i);
    std::string value = exporter.NameOf(output);
    if (has_lengths) {
      const std::string before = i < num_init ? exporter.NameOf(block.inputs[num_xs + i])
                                              : c.Scalar(0, output->type().dtype);
      value = lengths.Keep(output->type(), value, before);
    }
    Give(&body, value, name);
    Exporter::SetType(output->type(), name, body.add_output());
  }
  const size_t num_steps = block.outputs.size() - num_init;
  const int64_t backwards = a.Bool("reverse") ? 1 : 0;
  const size_t num_along = inputs.size() - num_init;
  std::vector<int64_t> axes(num_xs, axis);
  axes.resize(num_along);  // step indices have one axis
  std::vector<OnnxAttribute> attributes = {
      {"body", static_cast<const onnx::GraphProto*>(&body)},
      {"num_scan_inputs", static_cast<int64_t>(num_along)},
      {"scan_input_axes", axes},
      {"scan_input_directions", std::vector<int64_t>(num_along, backwards)}};
  if (num_steps > 0) {
    attributes.push_back({"scan_output_axes", std::vector<int64_t>(num_steps, axis)});
    attributes.push_back({"scan_output_directions", std::vector<int64_t>(num_steps, backwards)});
  }
  std::vector<std::string> names =
      c.Nodes("Scan", inputs, attributes, static_cast<unsigned>(block.outputs.size()));
  // In pdl, the outputs of steps come first.
  std::rotate(names.begin(), names.begin() + num_init, names.end());
  return names;
}

/// The results of the steps that ran, with zeros for those that did not.
Exported PadSteps(ExportCall& c, const std::string& ran, const Type& type) {
  llvm::Expected<std::string> steps = c.Sizes({type.dims[0]});
  if (!steps) return steps.takeError();
  const std::string shape = c.Node("Shape", {ran});
  const std::string count = c.Node("Slice", {shape, c.Ints({0}), c.Ints({1})});
  std::string sizes = c.Node("Sub", {*steps, count});
  if (type.rank() > 1) {
    llvm::Expected<std::string> rest = c.Sizes(llvm::ArrayRef(type.dims).drop_front());
    if (!rest) return rest.takeError();
    sizes = c.Node("Concat", {sizes, *rest}, {{"axis", int64_t{0}}});
  }
  return c.Node("Concat", {ran, c.Zeros(type.dtype, sizes)}, {{"axis", int64_t{0}}});
}

Exported WhileLoop(ExportCall& c) {
  const AttributeReader& a = c.attributes();
  const auto num_init = static_cast<unsigned>(a.Int("num_init"));
  Exporter& exporter = c.exporter();
  BlockId id;
  if (llvm::Error error = a.Get("body", &id)) return error;
  const Block& block = exporter.graph().block(id);
  const std::string stem = c.op().result()->name() + "/body";
  llvm::Expected<std::string> steps = c.Number(a.Dims("max_steps")[0], DType::kI64);
  if (!steps) return steps.takeError();
  onnx::GraphProto body;
  body.set_name(stem);
  // ONNX's Loop does not return its condition, so the condition is also carried.
  std::vector<std::string> inputs = {*steps, c.In(0)};
  for (unsigned i = 0; i < num_init; ++i) inputs.push_back(c.In(i));
  Exporter::SetType(Type(DType::kI64, {}), stem + "/step", body.add_input());
  Exporter::SetType(Type(DType::kBool, {}), stem + "/continues", body.add_input());
  for (unsigned i = 0; i < block.inputs.size(); ++i) {
    const Value* input = block.inputs[i];
    exporter.SetName(input, i < num_init ? stem + "/" + input->name() : c.In(i));
    if (i < num_init) Exporter::SetType(input->type(), exporter.NameOf(input), body.add_input());
  }
  if (llvm::Error error = exporter.ExportBlock(block, &body)) return error;
  const auto give = [&](const Value* output, const std::string& name) {
    Give(&body, exporter.NameOf(output), name);
    Exporter::SetType(output->type(), name, body.add_output());
  };
  for (const Value* output : block.outputs)
    if (exporter.NameOf(output).empty()) return c.Reject("its body cannot be exported");
  give(block.outputs[0], stem + "/next");
  for (size_t i = 0; i < block.outputs.size(); ++i)
    give(block.outputs[i], stem + "/" + std::to_string(i));
  std::vector<std::string> names =
      c.Nodes("Loop", inputs, {{"body", static_cast<const onnx::GraphProto*>(&body)}},
              static_cast<unsigned>(block.outputs.size()));
  // In pdl, the outputs of steps come first.
  std::rotate(names.begin(), names.begin() + num_init, names.end());
  for (size_t i = 0; i + num_init < names.size(); ++i) {
    Exported padded = PadSteps(c, names[i], c.op().results()[i]->type());
    if (!padded) return padded.takeError();
    names[i] = padded->names[0];
  }
  return names;
}

/// ONNX cannot end a run with an error: checks are left out.
Exported UncheckedIndex(ExportCall& c) { return c.In(0); }
Exported UncheckedAssertion(ExportCall& c) { return c.Scalar(1, DType::kBool); }

/// Cumulative products, or linear recurrences: a Scan whose body is one step.
Exported Recurrence(ExportCall& c) {
  const bool is_product = c.op().type() == "cumprod";
  const AttributeReader& a = c.attributes();
  const DType dtype = ComputeDType(c.dtype());
  const Type& type = c.type(0);
  const int64_t axis = c.Axis("axis", type.rank());
  if (NumElements(type.dims).is_constant(0)) return c.In(0);
  Type slice(dtype, type.dims);
  slice.dims.erase(slice.dims.begin() + axis);
  llvm::Expected<std::string> sizes = c.Sizes(slice.dims);
  if (!sizes) return sizes.takeError();
  const std::string stem = c.op().result()->name() + "/body";
  onnx::GraphProto body;
  body.set_name(stem);
  const auto add = [&](const char* type_name, const std::string& x, const std::string& y,
                       const std::string& name) {
    onnx::NodeProto* node = body.add_node();
    node->set_op_type(type_name);
    node->set_name(name);
    node->add_input(x);
    node->add_input(y);
    node->add_output(name);
  };
  const std::string state = stem + "/state", x = stem + "/x", next = stem + "/next";
  Exporter::SetType(slice, state, body.add_input());
  Exporter::SetType(slice, x, body.add_input());
  std::vector<std::string> inputs = {
      c.Node("Expand", {c.Scalar(is_product ? 1 : 0, dtype), *sizes}), c.In(0, dtype)};
  if (is_product) {
    add("Mul", state, x, next);
  } else {
    const std::string decay = stem + "/decay", kept = stem + "/kept";
    Exporter::SetType(slice, decay, body.add_input());
    inputs.push_back(c.In(1, dtype));
    add("Mul", decay, state, kept);
    add("Add", kept, x, next);
  }
  Exporter::SetType(slice, next, body.add_output());
  const std::string step = stem + "/step";
  Give(&body, is_product && a.Bool("exclusive") ? state : next, step);
  Exporter::SetType(slice, step, body.add_output());
  const auto count = static_cast<size_t>(inputs.size() - 1);
  const int64_t backwards = a.Bool("reverse") ? 1 : 0;
  return c.Out(c.Nodes("Scan", inputs,
                       {{"body", static_cast<const onnx::GraphProto*>(&body)},
                        {"num_scan_inputs", static_cast<int64_t>(count)},
                        {"scan_input_axes", std::vector<int64_t>(count, axis)},
                        {"scan_input_directions", std::vector<int64_t>(count, backwards)},
                        {"scan_output_axes", std::vector<int64_t>{axis}},
                        {"scan_output_directions", std::vector<int64_t>{backwards}}},
                       2)[1],
               dtype);
}

constexpr ExportRule kLoopRules[] = {{"scan", Scan},
                                     {"while_loop", WhileLoop},
                                     {"check_index", UncheckedIndex},
                                     {"assert_true", UncheckedAssertion},
                                     {"cumprod", Recurrence},
                                     {"linear_recurrence", Recurrence}};

}  // namespace

llvm::ArrayRef<ExportRule> LoopExportRules() { return kLoopRules; }

}  // namespace pdl
