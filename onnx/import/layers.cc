#include "onnx/import/layers.h"

#include <cstring>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace pdl {
namespace {

/// The value of a parameter with exactly one use; null otherwise.
const Constant* OwnWeight(const LayerFinder& model, const Value* value) {
  if (value->kind() != ValueKind::kParameter || value->uses().size() != 1 ||
      !IsFloat(value->type().dtype) || model.IsOutput(value))
    return nullptr;
  auto found = model.model().weights.find(value->name());
  return found == model.model().weights.end() ? nullptr : &found->second;
}

/// The call that has the only use of the result of `op`; null if there are other uses.
const Op* OnlyUser(const LayerFinder& model, const Op& op) {
  if (op.results().size() != 1 || op.result()->uses().size() != 1 || model.IsOutput(op.result()))
    return nullptr;
  return op.result()->uses()[0].op;
}

/// The number that all entries are equal to.
std::optional<int64_t> Uniform(const AttributeValue& value) {
  const auto* shape = std::get_if<Shape>(&value);
  if (shape == nullptr || shape->empty()) return std::nullopt;
  for (const Dim& dim : *shape)
    if (!dim.is_constant() || dim != (*shape)[0]) return std::nullopt;
  return (*shape)[0].constant();
}

const AttributeValue& Attribute(const Op& op, llvm::StringRef name) {
  return *op.attributes().Find(name);
}

/// Whether a dim is a valid number of channels. Layers take the sizes of their parameters from the
/// input, so a symbolic size, which only a run compares with a weight, cannot become a layer.
bool IsAbove0(const Dim& dim) { return dim.is_constant() && dim.constant() > 0; }

/// Adds " name=value" if the value is not the default.
void AddArgument(std::string* text, llvm::StringRef name, int64_t value, int64_t otherwise) {
  if (value != otherwise) *text += llvm::formatv(", {0}={1}", name, value).str();
}

bool AddTensor(const LayerFinder& model, LayerCall* call, llvm::StringRef name,
               const Value* value) {
  const Constant* constant = OwnWeight(model, value);
  if (constant == nullptr) return false;
  call->tensors.emplace_back(name.str(), *constant);
  call->parameters.push_back(value);
  return true;
}

std::optional<LayerCall> FindConv(const LayerFinder& model, const Op& op) {
  const Type& w = op.operands()[1]->type();
  const auto stride = Uniform(Attribute(op, "stride"));
  const auto dilation = Uniform(Attribute(op, "dilation"));
  const Shape kernel(w.dims.begin() + 2, w.dims.end());
  const auto size = Uniform(AttributeValue(kernel));
  const Dim channels = w.dims[1] * Dim(op.attributes().Int("groups"));
  if (!stride || !dilation || !size || *size < 1 || !IsAbove0(w.dims[0]) ||
      op.operands()[0]->type().dims[1] != channels)
    return std::nullopt;
  LayerCall call;
  call.layer = "conv";
  call.input = op.operands()[0];
  call.arguments = llvm::formatv("channels={0}, kernel={1}", w.dims[0].constant(), *size).str();
  AddArgument(&call.arguments, "stride", *stride, 1);
  const AttributeValue& pad = Attribute(op, "pad");
  if (const auto* word = std::get_if<std::string>(&pad)) {
    if (*word == "same_lower") return std::nullopt;
    if (*word == "same") call.arguments += ", same=true";
  } else {
    const auto count = Uniform(pad);
    if (!count || *count < 0) return std::nullopt;
    AddArgument(&call.arguments, "pad", *count, 0);
  }
  AddArgument(&call.arguments, "dilation", *dilation, 1);
  AddArgument(&call.arguments, "groups", op.attributes().Int("groups"), 1);
  if (!AddTensor(model, &call, "w", op.operands()[1])) return std::nullopt;
  if (op.operands().size() < 3) {
    call.arguments += ", bias=false";
  } else if (!AddTensor(model, &call, "b", op.operands()[2])) {
    return std::nullopt;
  }
  return call;
}

std::optional<LayerCall> FindBatchNorm(const LayerFinder& model, const Op& op) {
  if (op.operands().size() != 5 || op.attributes().Int("axis") != 1) return std::nullopt;
  const double eps = op.attributes().Float("eps");
  const Type& x = op.operands()[0]->type();
  if (!(static_cast<float>(eps) > 0) || x.rank() < 2 ||
      llvm::any_of(op.operands().drop_front(), [&](const Value* weight) {
        return weight->type().rank() != 1 || weight->type().dims[0] != x.dims[1];
      }))
    return std::nullopt;
  LayerCall call;
  call.layer = "batch_norm";
  call.input = op.operands()[0];
  constexpr llvm::StringLiteral kNames[] = {"mean", "var", "gamma", "beta"};
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (!AddTensor(model, &call, kNames[i], op.operands()[i + 1])) return std::nullopt;
  if (static_cast<float>(eps) != 1e-5f)
    call.arguments = "eps=" + FloatToString(static_cast<float>(eps));
  return call;
}

/// The other operand of a sum or product with a weight of one dim.
const Value* WithLine(const Op& op, llvm::StringRef type, const Value** line) {
  if (op.type() != type) return nullptr;
  for (const unsigned i : {1u, 0u}) {
    const Value* weight = op.operands()[i];
    const Value* other = op.operands()[1 - i];
    if (weight->kind() == ValueKind::kParameter && weight->type().rank() == 1 &&
        other->type().rank() > 0 && weight->type().dims[0] == other->type().dims.back()) {
      *line = weight;
      return other;
    }
  }
  return nullptr;
}

std::optional<LayerCall> FindLayerNorm(const LayerFinder& model, const Op& op) {
  LayerCall call;
  call.layer = "layer_norm";
  const Value* line = nullptr;
  const Value* x = WithLine(op, "add", &line);
  const Op* last = &op;
  if (x != nullptr) {
    if (!AddTensor(model, &call, "beta", line) || x->producer() == nullptr) return std::nullopt;
    last = x->producer();
    if (OnlyUser(model, *last) != &op) return std::nullopt;
    call.inner.push_back(last);
  } else {
    call.arguments = "bias=false";
  }
  x = WithLine(*last, "mul", &line);
  if (x == nullptr || x->producer() == nullptr || x->producer()->type() != "standardize")
    return std::nullopt;
  const Op& core = *x->producer();
  if (OnlyUser(model, core) != last || !AddTensor(model, &call, "gamma", line)) return std::nullopt;
  call.inner.push_back(&core);
  const int64_t axis = core.attributes().Int("axis");
  if (axis != -1 && axis + 1 != static_cast<int64_t>(x->type().rank())) return std::nullopt;
  call.input = core.operands()[0];
  const double eps = core.attributes().Float("eps");
  if (!(static_cast<float>(eps) > 0)) return std::nullopt;
  if (static_cast<float>(eps) != 1e-5f) {
    call.arguments = "eps=" + FloatToString(static_cast<float>(eps)) +
                     (call.arguments.empty() ? "" : ", ") + call.arguments;
  }
  return call;
}

std::optional<LayerCall> FindFc(const LayerFinder& model, const Op& op) {
  LayerCall call;
  call.layer = "fc";
  const Value* line = nullptr;
  const Op* product = &op;
  if (const Value* x = WithLine(op, "add", &line)) {
    if (x->producer() == nullptr || x->producer()->type() != "matmul") return std::nullopt;
    product = x->producer();
    if (OnlyUser(model, *product) != &op) return std::nullopt;
    call.inner.push_back(product);
  } else if (op.type() != "matmul") {
    return std::nullopt;
  }
  const AttributeReader attributes = product->attributes();
  const Value* w = product->operands()[1];
  const Value* x = product->operands()[0];
  if (attributes.Bool("transpose_a") || w->type().rank() != 2 || x->type().rank() < 2 ||
      !x->type().is_plain() || !IsFloat(x->type().dtype))
    return std::nullopt;
  const bool is_transposed = attributes.Bool("transpose_b");
  if (x->type().dims.back() != w->type().dims[is_transposed ? 1 : 0] ||
      !IsAbove0(w->type().dims[is_transposed ? 0 : 1]))
    return std::nullopt;
  const Constant* weight = OwnWeight(model, w);
  if (weight == nullptr) return std::nullopt;
  call.input = x;
  call.tensors.emplace_back("w", is_transposed ? Transposed(*weight) : *weight);
  call.parameters.push_back(w);
  call.arguments = llvm::formatv("size={0}", call.tensors[0].second.sizes()[1]).str();
  if (line == nullptr) {
    call.arguments += ", bias=false";
  } else if (!AddTensor(model, &call, "b", line)) {
    return std::nullopt;
  }
  return call;
}

}  // namespace

Constant Transposed(const Constant& matrix) {
  const int64_t rows = matrix.sizes()[0], columns = matrix.sizes()[1];
  const auto size = static_cast<size_t>(DTypeSize(matrix.dtype()));
  std::vector<char> bytes(static_cast<size_t>(matrix.num_bytes()));
  const char* from = static_cast<const char*>(matrix.data());
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      std::memcpy(&bytes[static_cast<size_t>(c * rows + r) * size],
                  from + static_cast<size_t>(r * columns + c) * size, size);
  return Constant::Copy(matrix.dtype(), {columns, rows}, bytes.data());
}

LayerFinder::LayerFinder(const ImportedModel& model) : model_(model) {
  for (const GraphOutput& output : model.graph.outputs()) outputs_.insert(output.value);
}

std::optional<LayerCall> LayerFinder::Find(const Op& op) const {
  const LayerFinder& model = *this;
  const llvm::StringRef type = op.type();
  if (type == "conv1d" || type == "conv2d" || type == "conv3d") return FindConv(model, op);
  if (type == "normalize") return FindBatchNorm(model, op);
  if (type == "matmul") {
    // The sum that follows is the last call of the layer.
    const Op* next = OnlyUser(model, op);
    if (next != nullptr && next->type() == "add" && FindFc(model, *next)) return std::nullopt;
    return FindFc(model, op);
  }
  if (type == "add") {
    if (auto norm = FindLayerNorm(model, op)) return norm;
    return FindFc(model, op);
  }
  if (type == "mul") {
    const Op* next = OnlyUser(model, op);
    if (next != nullptr && next->type() == "add" && FindLayerNorm(model, *next))
      return std::nullopt;
    return FindLayerNorm(model, op);
  }
  return std::nullopt;
}

}  // namespace pdl
