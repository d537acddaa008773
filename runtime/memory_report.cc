#include "pdl/runtime/memory_report.h"

namespace pdl {

Dim MemoryPart::Intermediates() const {
  Dim bytes = 0;
  for (const MemoryPeak& peak : peaks) bytes = Dim::Max(bytes, peak.bytes);
  return bytes;
}

std::string MemoryPart::IntermediatesFormula() const {
  if (peaks.size() < 2) return Intermediates().ToString();
  std::string formula;
  for (const MemoryPeak& peak : peaks)
    formula += (formula.empty() ? "max(" : ", ") + peak.bytes.ToString();
  return formula + ")";
}

Dim MemoryReport::Run() const {
  Dim bytes = 0;
  for (const MemoryPart& part : parts)
    bytes = bytes + part.Intermediates() + part.outputs + part.new_states;
  return bytes;
}

std::string MemoryReport::RunFormula() const {
  std::string maxima;
  Dim rest = 0;
  for (const MemoryPart& part : parts) {
    rest = rest + part.outputs + part.new_states;
    if (part.peaks.size() < 2) {
      rest = rest + part.Intermediates();
    } else {
      maxima += (maxima.empty() ? "" : " + ") + part.IntermediatesFormula();
    }
  }
  if (maxima.empty()) return rest.ToString();
  return rest.is_constant(0) ? maxima : maxima + " + " + rest.ToString();
}

}  // namespace pdl
