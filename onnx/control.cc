// Nodes with graphs in them, and lists of tensors: both are taken apart while importing.
#include "llvm/ADT/STLExtras.h"
#include "onnx/node.h"
#include "onnx/rules.h"

namespace pdl {
namespace {

/// Steps of a loop that are written one after another.
constexpr int64_t kMaxSteps = 256;

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
  // Both are computed, and one is chosen.
  const std::vector<Value*> a = Import(n, *then, {});
  const std::vector<Value*> b = Import(n, *otherwise, {});
  if (n.failed()) return;
  if (a.size() != b.size()) return n.Fail("its branches give different counts of values");
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i]->type() != b[i]->type())
      return n.Unsupported("branches that give values of different types: {0} and {1}",
                           a[i]->type().ToString(), b[i]->type().ToString());
    n.Out(static_cast<unsigned>(i), n.Call("where", {n.Reshape(condition, {}), a[i], b[i]}));
  }
}

void ConvertLoop(Node& n) {
  const onnx::GraphProto* body = Body(n, "body");
  if (body == nullptr) return;
  int64_t steps = kMaxSteps + 1;
  if (n.Has(0)) steps = n.IntIn(0);
  std::optional<double> runs = n.Has(1) ? n.KnownReal(n.In(1)) : 1.0;
  if (n.failed()) return;
  if (!runs) {
    n.IntsIn(1);
    return n.Unsupported("a loop whose end depends on data");
  }
  std::vector<Value*> carried;
  for (unsigned i = 2; i < n.num_inputs(); ++i) carried.push_back(n.In(i));
  const size_t scanned = n.num_outputs() > carried.size() ? n.num_outputs() - carried.size() : 0;
  std::vector<std::vector<Value*>> slices(scanned);
  int64_t step = 0;
  for (; *runs != 0 && step < steps && !n.failed(); ++step) {
    if (step >= kMaxSteps) return n.Unsupported("a loop of more than {0} steps", kMaxSteps);
    std::vector<Value*> inputs = {n.Scalar(static_cast<double>(step), DType::kI64),
                                  n.Scalar(1, DType::kBool)};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    const std::vector<Value*> results = Import(n, *body, inputs);
    if (n.failed()) return;
    if (results.size() != 1 + carried.size() + scanned)
      return n.Fail("its body gives {0} values, not {1}", results.size(),
                    1 + carried.size() + scanned);
    runs = n.KnownReal(results[0]);
    if (!runs) return n.Unsupported("a loop whose end depends on data");
    for (size_t i = 0; i < carried.size(); ++i) carried[i] = results[1 + i];
    for (size_t i = 0; i < scanned; ++i) slices[i].push_back(results[1 + carried.size() + i]);
  }
  for (size_t i = 0; i < carried.size(); ++i) n.Out(static_cast<unsigned>(i), carried[i]);
  for (size_t i = 0; i < scanned; ++i) {
    if (slices[i].empty()) return n.Unsupported("a loop without steps that stacks values");
    n.Out(static_cast<unsigned>(carried.size() + i), n.Call("stack", slices[i]));
  }
}

Value* TakeStep(Node& n, Value* x, unsigned axis, int64_t step) {
  return n.Call("gather", {x, n.Scalar(static_cast<double>(step), DType::kI64)},
                {{"axis", static_cast<int64_t>(axis)}});
}

void ConvertScan(Node& n) {
  const onnx::GraphProto* body = Body(n, "body");
  if (body == nullptr) return;
  const bool is_old = n.opset() < 9;  // with a batch in front, and lengths as its first input
  const int64_t sequences = n.Int("num_scan_inputs", 0);
  const int64_t first = is_old ? 1 : 0;
  const int64_t states = static_cast<int64_t>(n.num_inputs()) - first - sequences;
  if (sequences < 1 || states < 0) return n.Fail("{0} sequences", sequences);
  if (is_old) {
    if (n.Has(0)) return n.Unsupported("lengths of sequences");
    for (int64_t i = 0; i < states + sequences; ++i) {
      Value* x = n.In(static_cast<unsigned>(1 + i));
      if (x == nullptr) return;
      if (x->type().rank() == 0 || !x->type().dims[0].is_constant(1))
        return n.Unsupported("a batch of sequences");
    }
  }
  std::vector<Value*> carried, xs;
  std::vector<unsigned> axes;
  const std::vector<int64_t> in_axes = n.Ints("scan_input_axes");
  const std::vector<int64_t> in_directions =
      n.Ints(is_old ? "directions" : "scan_input_directions");
  for (int64_t i = 0; i < states + sequences; ++i) {
    Value* x = n.In(static_cast<unsigned>(first + i));
    if (is_old) x = n.Call("squeeze", {x}, {{"axes", std::vector<int64_t>{0}}});
    if (x == nullptr) return;
    if (i < states) {
      carried.push_back(x);
      continue;
    }
    const auto at = static_cast<size_t>(i - states);
    axes.push_back(n.Axis(at < in_axes.size() ? in_axes[at] : 0, x->type().rank()));
    if (n.failed()) return;
    xs.push_back(x);
  }
  const Dim length = xs[0]->type().dims[axes[0]];
  if (!length.is_constant() || length.constant() > kMaxSteps)
    return n.Unsupported("a loop of an unknown count of steps, or of more than {0}", kMaxSteps);
  if (n.num_outputs() < carried.size()) return n.Fail("{0} outputs", n.num_outputs());
  const size_t scanned = n.num_outputs() - carried.size();
  std::vector<std::vector<Value*>> slices(scanned);
  for (int64_t step = 0; step < length.constant() && !n.failed(); ++step) {
    std::vector<Value*> inputs = carried;
    for (size_t i = 0; i < xs.size(); ++i) {
      const bool is_reverse = i < in_directions.size() && in_directions[i] != 0;
      inputs.push_back(
          TakeStep(n, xs[i], axes[i], is_reverse ? length.constant() - 1 - step : step));
    }
    const std::vector<Value*> results = Import(n, *body, inputs);
    if (n.failed()) return;
    if (results.size() != carried.size() + scanned)
      return n.Fail("its body gives {0} values", results.size());
    for (size_t i = 0; i < carried.size(); ++i) carried[i] = results[i];
    for (size_t i = 0; i < scanned; ++i) slices[i].push_back(results[carried.size() + i]);
  }
  auto batched = [&](Value* x) {
    return is_old ? n.Call("unsqueeze", {x}, {{"axes", std::vector<int64_t>{0}}}) : x;
  };
  const std::vector<int64_t> out_axes = n.Ints("scan_output_axes");
  const std::vector<int64_t> out_directions = n.Ints("scan_output_directions");
  for (size_t i = 0; i < carried.size(); ++i) n.Out(static_cast<unsigned>(i), batched(carried[i]));
  for (size_t i = 0; i < scanned; ++i) {
    if (slices[i].empty()) return n.Unsupported("a loop without steps");
    if (i < out_directions.size() && out_directions[i] != 0)
      std::reverse(slices[i].begin(), slices[i].end());
    const int64_t axis = i < out_axes.size() ? out_axes[i] : 0;
    n.Out(static_cast<unsigned>(carried.size() + i),
          batched(n.Call("stack", slices[i], {{"axis", axis}})));
  }
}

// --- Lists of tensors ---------------------------------------------------------------------------

void ConvertSequenceConstruct(Node& n) { n.SequenceOut(0, n.AllIn()); }
void ConvertSequenceEmpty(Node& n) { n.SequenceOut(0, {}); }

void ConvertSequenceLength(Node& n) {
  const std::vector<Value*> all = n.SequenceIn(0);
  if (!n.failed()) n.Out(n.Scalar(static_cast<double>(all.size()), DType::kI64));
}

/// The place that input 1 names in a list of `size`.
size_t Place(Node& n, unsigned input, size_t size, bool may_end) {
  const int64_t count = static_cast<int64_t>(size);
  int64_t at = n.IntIn(input);
  if (at < 0) at += count;
  if (!n.failed() && (at < 0 || at >= count + (may_end ? 1 : 0)))
    n.Fail("place {0} of a list of {1}", at, count);
  return n.failed() ? 0 : static_cast<size_t>(at);
}

void ConvertSequenceAt(Node& n) {
  const std::vector<Value*> all = n.SequenceIn(0);
  if (n.failed()) return;
  const size_t at = Place(n, 1, all.size(), false);
  if (!n.failed()) n.Out(all[at]);
}

void ConvertSequenceInsert(Node& n) {
  std::vector<Value*> all = n.SequenceIn(0);
  Value* value = n.In(1);
  if (n.failed()) return;
  const size_t at = n.Has(2) ? Place(n, 2, all.size(), true) : all.size();
  if (n.failed()) return;
  all.insert(all.begin() + static_cast<int64_t>(at), value);
  n.SequenceOut(0, std::move(all));
}

void ConvertSequenceErase(Node& n) {
  std::vector<Value*> all = n.SequenceIn(0);
  if (n.failed()) return;
  const size_t at = n.Has(1) ? Place(n, 1, all.size(), false) : all.size() - 1;
  if (n.failed()) return;
  if (all.empty()) return n.Fail("the list is empty");
  all.erase(all.begin() + static_cast<int64_t>(at));
  n.SequenceOut(0, std::move(all));
}

// A value that may be missing is there, or it is known not to be.
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
