// Export of losses and distances.
#include <limits>

#include "onnx/export/call.h"

namespace pdl {
namespace {

using Exported = llvm::Expected<ExportedNames>;

/// The elements of x at the labels, along the last axis.
std::string AtLabel(ExportCall& c, const std::string& x, const std::string& label, int64_t rank) {
  const std::string at = c.Unsqueeze(label, {rank - 1});
  return c.Squeeze(c.Node("GatherElements", {x, at}, {{"axis", rank - 1}}), {rank - 1});
}

/// The loss of log probabilities at the labels.
Exported Costs(ExportCall& c, const std::string& log_prob, DType dtype, double smoothing) {
  const int64_t rank = c.type(0).rank();
  std::string label = c.In(1, DType::kI64);
  std::string is_ignored;
  if (c.attributes().Has("ignore_index")) {
    is_ignored = c.Node("Equal", {label, c.Integer(c.attributes().Int("ignore_index"))});
    label = c.Node("Where", {is_ignored, c.Scalar(0, DType::kI64), label});
  }
  std::string cost = c.Node("Neg", {AtLabel(c, log_prob, label, rank)});
  const bool has_weight = c.num_inputs() > 2;
  if (has_weight) cost = c.Node("Mul", {cost, c.Node("Gather", {c.In(2, dtype), label})});
  if (smoothing > 0) {
    std::string all = log_prob;
    if (has_weight) all = c.Node("Mul", {all, c.In(2, dtype)});
    const std::string mean = c.Reduce("ReduceMean", all, {rank - 1}, false);
    cost = c.Node("Sub", {c.Node("Mul", {cost, c.Scalar(1 - smoothing, dtype)}),
                          c.Node("Mul", {mean, c.Scalar(smoothing, dtype)})});
  }
  // ONNX counts negative indices from the end.
  if (!c.type(1).index_bound) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    cost = c.Node("Where",
                  {c.Node("Less", {label, c.Scalar(0, DType::kI64)}), c.Scalar(nan, dtype), cost});
  }
  if (!is_ignored.empty()) cost = c.Node("Where", {is_ignored, c.Scalar(0, dtype), cost});
  return c.Out(cost, dtype);
}

Exported CrossEntropy(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  const std::string log_prob = c.Node("LogSoftmax", {c.In(0, dtype)}, {{"axis", int64_t{-1}}});
  return Costs(c, log_prob, dtype, c.attributes().Float("label_smoothing"));
}

Exported Nll(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  return Costs(c, c.In(0, dtype), dtype, 0);
}

Exported Mse(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  const std::string off = c.Node("Sub", {c.In(0, dtype), c.In(1, dtype)});
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < c.type(0).rank(); ++i) axes.push_back(i);
  return c.Out(c.Reduce("ReduceMean", c.Node("Mul", {off, off}), axes, false), dtype);
}

Exported Hinge(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  const std::string margin = c.Scalar(c.attributes().Float("margin"), dtype);
  const std::string product = c.Node("Mul", {c.In(0, dtype), c.In(1, dtype)});
  return c.Out(c.Node("Max", {c.Node("Sub", {margin, product}), c.Scalar(0, dtype)}), dtype);
}

Exported Huber(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  const std::string delta = c.Scalar(c.attributes().Float("delta"), dtype);
  const std::string half = c.Scalar(0.5, dtype);
  const std::string off = c.Node("Sub", {c.In(0, dtype), c.In(1, dtype)});
  const std::string size = c.Node("Abs", {off});
  const std::string square = c.Node("Mul", {c.Node("Mul", {off, off}), half});
  const std::string line =
      c.Node("Mul", {delta, c.Node("Sub", {size, c.Node("Mul", {delta, half})})});
  return c.Out(c.Node("Where", {c.Node("LessOrEqual", {size, delta}), square, line}), dtype);
}

Exported KlDiv(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  const std::string log_q = c.In(0, dtype), p = c.In(1, dtype);
  const std::string zero = c.Scalar(0, dtype);
  if (c.attributes().Bool("log_target")) {
    const std::string part = c.Node("Exp", {p});
    const std::string cost = c.Node("Mul", {part, c.Node("Sub", {p, log_q})});
    return c.Out(c.Node("Where", {c.Node("Equal", {part, zero}), zero, cost}), dtype);
  }
  const std::string cost = c.Node("Mul", {p, c.Node("Sub", {c.Node("Log", {p}), log_q})});
  return c.Out(c.Node("Where", {c.Node("Equal", {p, zero}), zero, cost}), dtype);
}

Exported BinaryCrossEntropy(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  const std::string p = c.In(0, dtype), label = c.In(1, dtype), one = c.Scalar(1, dtype);
  if (c.attributes().Bool("logits")) {
    // softplus(-|x|) + |x| * (1 - label) for positive x, |x| * label for others: without the
    // product where the label makes it 0, since x may be infinite.
    const std::string zero = c.Scalar(0, dtype), magnitude = c.Node("Abs", {p});
    const std::string is_positive = c.Node("Greater", {p, zero});
    const std::string part = c.Node("Where", {is_positive, c.Node("Sub", {one, label}), label});
    const std::string linear =
        c.Node("Where", {c.Node("Equal", {part, zero}), zero, c.Node("Mul", {magnitude, part})});
    const std::string bend = c.Node("Softplus", {c.Node("Neg", {magnitude})});
    return c.Out(c.Node("Add", {linear, bend}), dtype);
  }
  const std::string least = c.Scalar(-100, dtype);
  const auto log = [&](const std::string& x) { return c.Node("Max", {c.Node("Log", {x}), least}); };
  const std::string yes = c.Node("Mul", {label, log(p)});
  const std::string no = c.Node("Mul", {c.Node("Sub", {one, label}), log(c.Node("Sub", {one, p}))});
  return c.Out(c.Node("Neg", {c.Node("Add", {yes, no})}), dtype);
}

Exported CosSim(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  const std::string zero = c.Scalar(0, dtype), one = c.Scalar(1, dtype);
  const std::vector<int64_t> last = {int64_t{c.type(0).rank()} - 1};
  // Rows are scaled so that their largest element is 1, which avoids overflow.
  const auto scaled = [&](const std::string& rows) {
    const std::string largest = c.Reduce("ReduceMax", c.Node("Abs", {rows}), last, true);
    const std::string is_zero = c.Node("Equal", {largest, zero});
    return c.Node("Div", {rows, c.Node("Where", {is_zero, one, largest})});
  };
  const std::string x = scaled(c.In(0, dtype)), y = scaled(c.In(1, dtype));
  const std::string dot = c.Reduce("ReduceSum", c.Node("Mul", {x, y}), last, false);
  const std::string size =
      c.Node("Mul", {c.Reduce("ReduceL2", x, last, false), c.Reduce("ReduceL2", y, last, false)});
  // The similarity to a row of zeros is 0.
  const std::string is_zero = c.Node("Equal", {size, zero});
  const std::string safe = c.Node("Where", {is_zero, one, size});
  const std::string angle = c.Node("Where", {is_zero, zero, c.Node("Div", {dot, safe})});
  return c.Out(c.Node("Mul", {angle, c.Scalar(c.attributes().Float("scale"), dtype)}), dtype);
}

constexpr ExportRule kLossRules[] = {
    {"cross_entropy", CrossEntropy},
    {"nll", Nll},
    {"mse", Mse},
    {"hinge", Hinge},
    {"huber", Huber},
    {"kl_div", KlDiv},
    {"binary_cross_entropy", BinaryCrossEntropy},
    {"cos_sim", CosSim},
};

}  // namespace

llvm::ArrayRef<ExportRule> LossExportRules() { return kLossRules; }

}  // namespace pdl
