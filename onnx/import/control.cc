// Nodes with subgraphs, which become loops or are expanded at import, and lists of tensors.
#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "onnx/import/node.h"
#include "onnx/import/rules.h"

namespace pdl {
namespace {

/// The most steps of an unrolled loop.
constexpr int64_t kMaxSteps = 256;
/// The bound of a loop that only its condition ends.
constexpr int64_t kUnboundedSteps = int64_t{1} << 62;

const onnx::GraphProto* Body(Node& n, llvm::StringRef name) {
  const auto* attribute = n.Attribute(name);
  if (attribute == nullptr || !attribute->has_g()) {
    n.Fail("it has no graph '{0}'", name);
    return nullptr;
  }
  return &attribute->g();
}

std::vector<Value*> Import(Node& n, const onnx::GraphProto& graph, llvm::ArrayRef<Value*> inputs) {
  llvm::Expected<std::vector<Value*>> outputs =
      n.importer().ImportSubgraph(graph, n.scope(), inputs);
  if (outputs) return *outputs;
  n.Take(outputs.takeError());
  return {};
}

/// The sizes that both branches declare for a result, where those inferred from their nodes differ;
/// empty if they do not.
Shape DeclaredSizes(Node& n, const onnx::ValueInfoProto& a, const onnx::ValueInfoProto& b,
                    const Type& type, const Type& other) {
  const onnx::TensorShapeProto &mine = a.type().tensor_type().shape(),
                               &theirs = b.type().tensor_type().shape();
  const auto rank = static_cast<int>(type.rank());
  if (type.dtype != other.dtype || type.rank() != other.rank() || mine.dim_size() != rank ||
      theirs.dim_size() != rank)
    return {};
  Shape dims;
  for (int i = 0; i < rank; ++i) {
    const auto axis = static_cast<size_t>(i);
    const std::optional<Dim> one = n.importer().DeclaredSize(mine.dim(i)),
                             another = n.importer().DeclaredSize(theirs.dim(i));
    if (type.dims[axis] == other.dims[axis]) {
      dims.push_back(type.dims[axis]);
    } else if (one && another && *one == *another) {
      dims.push_back(*one);
    } else {
      return {};
    }
  }
  return dims;
}

void ConvertIf(Node& n) {
  Value* condition = n.In(0);
  const onnx::GraphProto* then = Body(n, "then_branch");
  const onnx::GraphProto* otherwise = Body(n, "else_branch");
  if (condition == nullptr || n.failed()) return;
  if (const std::optional<double> known = n.KnownReal(condition)) {
    const std::vector<Value*> taken = Import(n, *known != 0 ? *then : *otherwise, {});
    for (size_t i = 0; i < taken.size(); ++i) n.Out(static_cast<unsigned>(i), taken[i]);
    return;
  }
  // On sizes, a run computes one of the branches, otherwise both.
  const bool is_on_sizes = IsKnownToPlan(condition);
  std::vector<Value*> a = Import(n, *then, {});
  std::vector<Value*> b = Import(n, *otherwise, {});
  if (n.failed()) return;
  if (a.size() != b.size()) return n.Fail("its branches return different numbers of values");
  for (size_t i = 0; i < a.size(); ++i) {
    if (is_on_sizes && a[i]->type() != b[i]->type()) {
      const auto at = static_cast<int>(i);
      const Shape dims =
          DeclaredSizes(n, then->output(at), otherwise->output(at), a[i]->type(), b[i]->type());
      if (!dims.empty()) {
        a[i] = n.Reshape(a[i], dims);
        b[i] = n.Reshape(b[i], dims);
        if (n.failed()) return;
      }
    }
    if (a[i]->type() != b[i]->type())
      return n.Unsupported("branches that return values of different types: {0} and {1}",
                           a[i]->type().ToString(), b[i]->type().ToString());
    n.Out(static_cast<unsigned>(i),
          n.Call(is_on_sizes ? "plan_select" : "where", {n.Reshape(condition, {}), a[i], b[i]}));
  }
}

/// Imports a step of a loop; empty after an error.
std::vector<Value*> ImportStep(Node& n, const onnx::GraphProto& body, int64_t step,
                               llvm::ArrayRef<Value*> carried, size_t scanned) {
  std::vector<Value*> inputs = {n.Scalar(static_cast<double>(step), DType::kI64),
                                n.Scalar(1, DType::kBool)};
  inputs.insert(inputs.end(), carried.begin(), carried.end());
  std::vector<Value*> results = Import(n, body, inputs);
  if (n.failed()) return {};
  if (results.size() == 1 + carried.size() + scanned) return results;
  n.Fail("its body returns {0} values, not {1}", results.size(), 1 + carried.size() + scanned);
  return {};
}

/// The stacked values of a loop without steps; a step determines their types.
void StackNothing(Node& n, const onnx::GraphProto& body, llvm::ArrayRef<Value*> carried,
                  size_t scanned) {
  const std::vector<Value*> step = ImportStep(n, body, 0, carried, scanned);
  for (size_t i = 0; i < scanned && !n.failed(); ++i) {
    const Type& type = step[1 + carried.size() + i]->type();
    Shape dims = {0};
    dims.append(type.dims.begin(), type.dims.end());
    n.Out(static_cast<unsigned>(carried.size() + i), n.Filled(dims, 0, type.dtype));
  }
}

/// Unrolls a loop: the types of carried values may change from step to step, and a condition that
/// is known at import ends the loop. Returns false if the condition is not known.
bool Unroll(Node& n, const onnx::GraphProto& body, int64_t steps, bool runs) {
  std::vector<Value*> carried;
  for (unsigned i = 2; i < n.num_inputs(); ++i) carried.push_back(n.In(i));
  const size_t scanned = n.num_outputs() > carried.size() ? n.num_outputs() - carried.size() : 0;
  std::vector<std::vector<Value*>> slices(scanned);
  for (int64_t step = 0; runs && step < steps && !n.failed(); ++step) {
    if (step >= kMaxSteps) return n.Unsupported("a loop of more than {0} steps", kMaxSteps), true;
    const std::vector<Value*> results = ImportStep(n, body, step, carried, scanned);
    if (n.failed()) return true;
    const std::optional<double> continues = n.KnownReal(results[0]);
    if (!continues) return false;
    runs = *continues != 0;
    for (size_t i = 0; i < carried.size(); ++i) carried[i] = results[1 + i];
    for (size_t i = 0; i < scanned; ++i) slices[i].push_back(results[1 + carried.size() + i]);
  }
  for (size_t i = 0; i < carried.size(); ++i) n.Out(static_cast<unsigned>(i), carried[i]);
  if (scanned > 0 && slices[0].empty()) return StackNothing(n, body, carried, scanned), true;
  for (size_t i = 0; i < scanned; ++i)
    n.Out(static_cast<unsigned>(carried.size() + i), n.Call("stack", slices[i]));
  return true;
}

/// The names of the inputs of a loop's body.
std::vector<std::string> InputNames(const onnx::GraphProto& body, int first) {
  std::vector<std::string> names;
  for (int i = first; i < body.input_size(); ++i) names.push_back(body.input(i).name());
  return names;
}

/// Whether a loop's condition never changes: the first output of the body is its own input or a
/// constant.
bool ContinuesAlways(const onnx::GraphProto& body) {
  if (body.output_size() == 0 || body.input_size() < 2) return false;
  std::string name = body.output(0).name();
  for (int i = body.node_size(); i-- > 0;) {
    const onnx::NodeProto& node = body.node(i);
    if (node.output_size() != 1 || node.output(0) != name) continue;
    if (node.op_type() == "Constant") return true;  // its value is checked in the loop
    if ((node.op_type() != "Identity" && node.op_type() != "Cast") || node.input_size() != 1)
      return false;
    name = node.input(0);
  }
  const bool is_tensor = llvm::any_of(
      body.initializer(), [&](const onnx::TensorProto& tensor) { return tensor.name() == name; });
  return is_tensor || name == body.input(1).name();
}

/// Whether the largest number of steps is known at import, or determined by sizes.
bool KnowsSteps(Node& n) {
  if (!n.Has(0)) return false;
  const std::optional<KnownSizes> sizes = n.KnownSizesOf(n.In(0));
  return n.KnownReal(n.In(0)) || (sizes && sizes->elements.size() == 1);
}

/// A loop that ends when its body returns false, or after `most` steps.
void WhileLoop(Node& n, const onnx::GraphProto& body, Value* runs) {
  // Without a bound, or with one that depends on data, a carried number counts the steps.
  Value* most = nullptr;
  Dim bound = kUnboundedSteps;
  if (KnowsSteps(n)) {
    bound = n.SizeIn(0);
  } else if (n.Has(0)) {
    most = n.Reshape(n.Cast(n.In(0), DType::kI64), {});
  }
  if (n.failed()) return;
  const size_t num_carried = n.num_inputs() > 2 ? n.num_inputs() - 2 : 0;
  const size_t num_scanned = n.num_outputs() > num_carried ? n.num_outputs() - num_carried : 0;
  if (num_scanned > 0 && bound == Dim(kUnboundedSteps)) {
    // Reports that the number must be known at import.
    if (n.Has(0)) (void)n.SizeIn(0);
    if (!n.failed()) n.Unsupported("a loop that stacks values, without a largest number of steps");
    return;
  }
  Value* zero = n.Scalar(0, DType::kI64);
  runs = n.Reshape(n.Cast(runs, DType::kBool), {});
  if (most != nullptr) runs = n.Call("logical_and", {runs, n.Call("greater", {most, zero})});
  Node::Loop loop;
  loop.max_steps = bound;
  loop.init = {runs, zero};
  for (unsigned i = 2; i < n.num_inputs(); ++i) loop.init.push_back(n.In(i));
  loop.names = InputNames(body, 2);
  loop.names.insert(loop.names.begin(), {"continues", "step"});
  std::vector<Value*> results = n.Scan(loop, [&](llvm::ArrayRef<Value*> given) {
    std::vector<Value*> inputs = {given[1], n.Scalar(1, DType::kBool)};
    inputs.insert(inputs.end(), given.begin() + 2, given.end());
    std::vector<Value*> gives = Import(n, body, inputs);
    if (n.failed()) return std::vector<Value*>();
    if (gives.size() != 1 + num_carried + num_scanned) {
      n.Fail("its body returns {0} values, not {1}", gives.size(), 1 + num_carried + num_scanned);
      return std::vector<Value*>();
    }
    Value* next = n.Add(given[1], n.Scalar(1, DType::kI64));
    Value* continues = n.Reshape(n.Cast(gives[0], DType::kBool), {});
    if (most != nullptr)
      continues = n.Call("logical_and", {continues, n.Call("less", {next, most})});
    gives[0] = continues;
    gives.insert(gives.begin() + 1, next);
    return gives;
  });
  if (n.failed()) return;
  // Results: the stacked values, the condition, the number of steps, the carried values.
  for (size_t i = 0; i < num_carried; ++i)
    n.Out(static_cast<unsigned>(i), results[num_scanned + 2 + i]);
  if (num_scanned == 0) return;
  Value* steps = n.Call("range", {}, {{"start", Shape{0}}, {"stop", Shape{bound}}});
  Value* ran = n.Call("nonzero", {n.Call("less", {steps, results[num_scanned + 1]})});
  if (ran == nullptr) return;
  ran = n.Reshape(ran, {ran->type().dims[0]});
  for (size_t i = 0; i < num_scanned; ++i)
    n.Out(static_cast<unsigned>(num_carried + i), n.Call("gather", {results[i], ran}));
}

void ConvertLoop(Node& n) {
  const onnx::GraphProto* body = Body(n, "body");
  if (body == nullptr) return;
  const std::optional<double> runs = n.Has(1) ? n.KnownReal(n.In(1)) : 1.0;
  if (n.failed()) return;
  const bool stacks = n.num_outputs() + 2 > n.num_inputs();
  // All of its steps, or none: the number of stacked values must be known.
  if (!runs && stacks && ContinuesAlways(*body)) (void)n.RealIn(1);
  if (n.failed()) return;
  if (!runs || (n.Has(0) && !stacks && !KnowsSteps(n)))
    return WhileLoop(n, *body, n.Has(1) ? n.In(1) : n.Scalar(1, DType::kBool));
  const Dim steps = n.Has(0) ? n.SizeIn(0) : Dim(kMaxSteps + 1);
  if (n.failed()) return;
  if (steps.is_constant() &&
      (steps.constant() <= kMaxSteps || !n.Has(0) || *runs == 0 || !ContinuesAlways(*body)))
    if (Unroll(n, *body, steps.constant(), *runs != 0)) return;
  if (!ContinuesAlways(*body)) return WhileLoop(n, *body, n.Scalar(*runs, DType::kBool));
  Node::Loop loop;
  loop.xs = {n.Call("range", {}, {{"start", Shape{0}}, {"stop", Shape{steps}}})};
  loop.names = InputNames(*body, 2);
  loop.names.insert(loop.names.begin(), body->input_size() > 0 ? body->input(0).name() : "step");
  for (unsigned i = 2; i < n.num_inputs(); ++i) loop.init.push_back(n.In(i));
  std::vector<Value*> results = n.Scan(loop, [&](llvm::ArrayRef<Value*> given) {
    std::vector<Value*> inputs = {given[0], n.Scalar(1, DType::kBool)};
    inputs.insert(inputs.end(), given.begin() + 1, given.end());
    std::vector<Value*> gives = Import(n, *body, inputs);
    if (n.failed()) return std::vector<Value*>();
    if (gives.size() != n.num_outputs() + 1) {
      n.Fail("its body returns {0} values, not {1}", gives.size(), n.num_outputs() + 1);
    } else if (const std::optional<double> continues = n.KnownReal(gives[0]);
               !continues || *continues == 0) {
      n.Unsupported("a loop whose end depends on data");
    }
    gives.erase(gives.begin());
    return gives;
  });
  if (n.failed()) return;
  // In ONNX, carried values come first.
  std::rotate(results.begin(), results.end() - static_cast<std::ptrdiff_t>(loop.init.size()),
              results.end());
  for (size_t i = 0; i < results.size(); ++i) n.Out(static_cast<unsigned>(i), results[i]);
}

/// Moves the axis `from` of a tensor to `to`.
Value* MoveAxis(Node& n, Value* x, unsigned from, unsigned to) {
  if (x == nullptr) return nullptr;
  std::vector<int64_t> perm;
  for (unsigned i = 0; i < x->type().rank(); ++i)
    if (i != from) perm.push_back(i);
  perm.insert(perm.begin() + to, from);
  return n.Transpose(x, perm);
}

void ConvertScan(Node& n) {
  const onnx::GraphProto* body = Body(n, "body");
  if (body == nullptr) return;
  const bool is_old = n.opset() < 9;  // with a batch dim, and lengths as the first input
  const int64_t sequences = n.Int("num_scan_inputs", 0);
  const int64_t first = is_old ? 1 : 0;
  const int64_t others = static_cast<int64_t>(n.num_inputs()) - first;
  if (sequences < 1 || sequences > others) return n.Fail("{0} sequences", sequences);
  const int64_t states = others - sequences;
  if (is_old && n.Has(0)) return n.Unsupported("lengths of sequences");
  if (n.num_outputs() < states) return n.Fail("{0} outputs", n.num_outputs());
  const std::vector<int64_t> in_axes = n.Ints("scan_input_axes");
  const std::vector<int64_t> directions = n.Ints(is_old ? "directions" : "scan_input_directions");
  const std::vector<int64_t> out_axes = n.Ints("scan_output_axes");
  const std::vector<int64_t> out_directions = n.Ints("scan_output_directions");
  auto at = [](llvm::ArrayRef<int64_t> list, size_t i) { return i < list.size() ? list[i] : 0; };
  const auto flip = [&](Value* x) {
    return n.Call("flip", {x}, {{"axes", std::vector<int64_t>{0}}});
  };
  Node::Loop loop;
  loop.reverse = at(directions, 0) != 0;
  const std::vector<std::string> names = InputNames(*body, 0);
  for (int64_t i = 0; i < states + sequences; ++i) {
    Value* x = n.In(static_cast<unsigned>(first + i));
    if (x == nullptr) return;
    if (is_old) {
      if (x->type().rank() == 0 || !x->type().dims[0].is_constant(1))
        return n.Unsupported("a batch of sequences");
      x = n.Call("squeeze", {x}, {{"axes", std::vector<int64_t>{0}}});
    }
    if (i < states) {
      loop.init.push_back(x);
      continue;
    }
    const auto sequence = static_cast<size_t>(i - states);
    const unsigned axis = n.Axis(at(in_axes, sequence), x->type().rank());
    if (n.failed()) return;
    x = MoveAxis(n, x, axis, 0);
    loop.xs.push_back((at(directions, sequence) != 0) == loop.reverse ? x : flip(x));
    if (static_cast<size_t>(i) < names.size()) loop.names.push_back(names[static_cast<size_t>(i)]);
  }
  for (size_t i = 0; i < static_cast<size_t>(states) && i < names.size(); ++i)
    loop.names.push_back(names[i]);
  const auto num_states = static_cast<std::ptrdiff_t>(states);
  std::vector<Value*> results = n.Scan(loop, [&](llvm::ArrayRef<Value*> given) {
    // In ONNX, the slices come last.
    std::vector<Value*> inputs(given);
    std::rotate(inputs.begin(), inputs.end() - num_states, inputs.end());
    std::vector<Value*> gives = Import(n, *body, inputs);
    if (!n.failed() && gives.size() != n.num_outputs())
      n.Fail("its body returns {0} values", gives.size());
    return gives;
  });
  if (n.failed()) return;
  std::rotate(results.begin(), results.end() - num_states, results.end());
  for (size_t i = 0; i < results.size(); ++i) {
    Value* value = results[i];
    if (i >= static_cast<size_t>(states)) {
      const size_t scanned = i - static_cast<size_t>(states);
      if ((at(out_directions, scanned) != 0) != loop.reverse) value = flip(value);
      const unsigned axis =
          value == nullptr ? 0 : n.Axis(at(out_axes, scanned), value->type().rank());
      if (n.failed()) return;
      value = MoveAxis(n, value, 0, axis);
    }
    if (is_old) value = n.Call("unsqueeze", {value}, {{"axes", std::vector<int64_t>{0}}});
    n.Out(static_cast<unsigned>(i), value);
  }
}

// --- Lists of tensors ---------------------------------------------------------------------------

void ConvertSequenceConstruct(Node& n) { n.SequenceOut(0, n.AllIn()); }
void ConvertSequenceEmpty(Node& n) { n.SequenceOut(0, {}); }

void ConvertSequenceLength(Node& n) {
  const std::vector<Value*> all = n.SequenceIn(0);
  if (!n.failed()) n.Out(n.Scalar(static_cast<double>(all.size()), DType::kI64));
}

/// The index in a list of `size` that input 1 contains.
size_t ListIndex(Node& n, unsigned input, size_t size, bool may_end) {
  const int64_t count = static_cast<int64_t>(size);
  int64_t at = n.IntIn(input);
  if (at < 0) at += count;
  if (!n.failed() && (at < 0 || at >= count + (may_end ? 1 : 0)))
    n.Fail("index {0} in a list of {1}", at, count);
  return n.failed() ? 0 : static_cast<size_t>(at);
}

void ConvertSequenceAt(Node& n) {
  const std::vector<Value*> all = n.SequenceIn(0);
  if (n.failed()) return;
  const size_t at = ListIndex(n, 1, all.size(), false);
  if (!n.failed()) n.Out(all[at]);
}

void ConvertSequenceInsert(Node& n) {
  std::vector<Value*> all = n.SequenceIn(0);
  Value* value = n.In(1);
  if (n.failed()) return;
  const size_t at = n.Has(2) ? ListIndex(n, 2, all.size(), true) : all.size();
  if (n.failed()) return;
  all.insert(all.begin() + static_cast<int64_t>(at), value);
  n.SequenceOut(0, std::move(all));
}

void ConvertSequenceErase(Node& n) {
  std::vector<Value*> all = n.SequenceIn(0);
  if (n.failed()) return;
  const size_t at = n.Has(1) ? ListIndex(n, 1, all.size(), false) : all.size() - 1;
  if (n.failed()) return;
  if (all.empty()) return n.Fail("the list is empty");
  all.erase(all.begin() + static_cast<int64_t>(at));
  n.SequenceOut(0, std::move(all));
}

// An optional value is either present, or statically known to be missing.
void ConvertOptional(Node& n) {
  if (!n.Has(0)) return n.Unsupported("an optional value that is missing");
  if (n.importer().FindSequence(n.scope(), n.proto().input(0)) != nullptr)
    return n.SequenceOut(0, n.SequenceIn(0));
  n.Out(n.In(0));
}

void ConvertOptionalHasElement(Node& n) {
  const bool is_list =
      n.Has(0) && n.importer().FindSequence(n.scope(), n.proto().input(0)) != nullptr;
  if (n.Has(0) && !is_list) n.In(0);
  n.Out(n.Scalar(n.Has(0) ? 1 : 0, DType::kBool));
}

}  // namespace

llvm::ArrayRef<OnnxRule> ControlRules() {
  static const OnnxRule kRules[] = {{"If", ConvertIf},
                                    {"Loop", ConvertLoop},
                                    {"Scan", ConvertScan},
                                    {"Optional", ConvertOptional},
                                    {"OptionalGetElement", ConvertOptional},
                                    {"OptionalHasElement", ConvertOptionalHasElement},
                                    {"SequenceConstruct", ConvertSequenceConstruct},
                                    {"SequenceEmpty", ConvertSequenceEmpty},
                                    {"SequenceLength", ConvertSequenceLength},
                                    {"SequenceAt", ConvertSequenceAt},
                                    {"SequenceInsert", ConvertSequenceInsert},
                                    {"SequenceErase", ConvertSequenceErase}};
  return kRules;
}

}  // namespace pdl
