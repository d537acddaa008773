#include "runtime/check_finite.h"

#include <algorithm>
#include <bit>

#include "pdl/op/attribute.h"
#include "pdl/op/error.h"
#include "pdl/op/host_copy.h"
#include "runtime/call_error.h"

namespace pdl {
namespace {

constexpr uint8_t kNan = 1;
constexpr uint8_t kInfinity = 2;

/// Index of the first element whose exponent bits are all set, or -1.
template <class Bits>
int64_t FindNotFinite(const void* data, int64_t count, Bits exponent) {
  const Bits* bits = static_cast<const Bits*>(data);
  // Works in pieces, whose loops have no early exit and are vectorized.
  constexpr int64_t kPiece = 4096;
  for (int64_t begin = 0; begin < count; begin += kPiece) {
    const int64_t end = std::min(count, begin + kPiece);
    bool found = false;
    for (int64_t i = begin; i < end; ++i) found |= (bits[i] & exponent) == exponent;
    if (!found) continue;
    for (int64_t i = begin; i < end; ++i)
      if ((bits[i] & exponent) == exponent) return i;
  }
  return -1;
}

}  // namespace

int64_t FindNotFinite(DType dtype, const void* data, int64_t count) {
  if (dtype == DType::kF64) return FindNotFinite<uint64_t>(data, count, 0x7ff0000000000000u);
  if (dtype == DType::kF32) return FindNotFinite<uint32_t>(data, count, 0x7f800000u);
  if (dtype == DType::kF16) return FindNotFinite<uint16_t>(data, count, 0x7c00);
  if (dtype == DType::kBF16) return FindNotFinite<uint16_t>(data, count, 0x7f80);
  return -1;
}

int64_t FindNotFinite(const Tensor& tensor, int64_t from) {
  const char* data = static_cast<const char*>(tensor.raw()) + from * DTypeSize(tensor.dtype());
  const int64_t found = FindNotFinite(tensor.dtype(), data, tensor.num_elements() - from);
  return found < 0 ? -1 : found + from;
}

std::string DescribeNotFinite(double value, int64_t element, llvm::ArrayRef<int64_t> sizes) {
  // The sign of a nan has no meaning, so it is not printed.
  return (value != value ? "nan" : FloatToString(value)) + ElementPlace(element, sizes);
}

llvm::Expected<FiniteCheck::Finding> FiniteCheck::Look(SlotId slot) {
  Finding finding;
  if (!IsFloat(tensors_[slot].dtype()) || tensors_[slot].raw() == nullptr) return finding;
  llvm::Expected<Tensor> tensor = OnHost(tensors_[slot], context_);
  if (!tensor) return tensor.takeError();
  const Constant elements(tensor->dtype(), tensor->sizes(),
                          std::shared_ptr<const void>(std::shared_ptr<void>(), tensor->raw()));
  for (int64_t i = FindNotFinite(*tensor, 0); i >= 0; i = FindNotFinite(*tensor, i + 1)) {
    const double value = elements.ElementAsDouble(i);
    const uint8_t kind = value != value ? kNan : kInfinity;
    // Reports the index of the worse kind.
    if ((finding.kinds | kind) > finding.kinds && !(finding.kinds & kNan)) {
      finding.first = i;
      finding.value = value;
    }
    finding.kinds |= kind;
    if (finding.kinds & kNan) break;
    if (i + 1 == tensor->num_elements()) break;
  }
  return finding;
}

llvm::Error FiniteCheck::Start() {
  for (SlotId slot = 0; slot < schedule_.slots.size(); ++slot) {
    const Slot& source = schedule_.slots[slot];
    if (source.kind == SlotKind::kResult) continue;
    llvm::Expected<Finding> finding = Look(slot);
    if (!finding) return finding.takeError();
    kinds_[slot] = finding->kinds;
    if (finding->kinds == 0 || source.kind == SlotKind::kConstant) continue;
    const char* what = source.kind == SlotKind::kInput       ? "input"
                       : source.kind == SlotKind::kParameter ? "parameter"
                                                             : "state";
    return MakeUserError(Code::kNotFinite, "{0} '{1}': {2} holds {3}", what, source.value->name(),
                         tensors_[slot].TypeString(),
                         DescribeNotFinite(finding->value, finding->first, tensors_[slot].sizes()));
  }
  return llvm::Error::success();
}

llvm::Expected<std::string> FiniteCheck::DescribeIndices(const Step& step) const {
  std::string text;
  for (SlotId slot : step.inputs) {
    const DType dtype = tensors_[slot].dtype();
    if ((dtype != DType::kI32 && dtype != DType::kI64) || tensors_[slot].num_elements() == 0 ||
        tensors_[slot].raw() == nullptr) {
      continue;
    }
    llvm::Expected<Tensor> tensor = OnHost(tensors_[slot], context_);
    if (!tensor) return tensor.takeError();
    const auto range = [&](const auto* elements) {
      const auto [least, most] = std::minmax_element(elements, elements + tensor->num_elements());
      return std::to_string(*least) + " to " + std::to_string(*most);
    };
    text += text.empty() ? "; " : ", ";
    text += "'" + schedule_.slots[slot].value->name() + "' holds ";
    text += dtype == DType::kI32 ? range(static_cast<const int32_t*>(tensor->raw()))
                                 : range(static_cast<const int64_t*>(tensor->raw()));
  }
  return text;
}

llvm::Error FiniteCheck::AfterStep(uint32_t index) {
  const Step& step = schedule_.steps[index];
  uint8_t known = step.inputs.empty() ? kNan | kInfinity : 0;
  for (SlotId slot : step.inputs) known |= kinds_[slot];
  // Any non-finite result of a nan is expected.
  if (known & kNan) known |= kInfinity;
  for (SlotId slot : step.outputs) {
    llvm::Expected<Finding> finding = Look(slot);
    if (!finding) return finding.takeError();
    kinds_[slot] = finding->kinds;
    if ((finding->kinds & ~known) == 0) continue;
    llvm::Expected<std::string> indices = DescribeIndices(step);
    if (!indices) return indices.takeError();
    if (observer_ != nullptr) observer_->SeeNotFinite(schedule_.slots[slot].value->name());
    return AboutCall(
        step.op->arguments(),
        MakeUserError(Code::kNotFinite, "gives {0} of '{1}': {2}, from operands that have none{3}",
                      DescribeNotFinite(finding->value, finding->first, tensors_[slot].sizes()),
                      schedule_.slots[slot].value->name(), tensors_[slot].TypeString(), *indices));
  }
  return llvm::Error::success();
}

}  // namespace pdl
