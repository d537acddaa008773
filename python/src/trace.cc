#include "trace.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>
#include <string>

#include "errors.h"
#include "gil.h"
#include "pdl/compiler/trace.h"
#include "pdl/runtime/profile_report.h"
#include "text.h"

namespace nb = nanobind;

namespace pdl::python {
namespace {

std::unique_ptr<Trace> StartTrace(const Path& path, int64_t max_bytes) {
  return Get([&] {
    WithoutGil without_gil;
    CPUContext context;
    const DevicePeak peak = MeasurePeak(context);
    TraceOptions options;
    options.max_bytes = max_bytes;
    options.source = "<python>";
    options.peak_operations = peak.operations;
    options.peak_bf16_operations = peak.bf16_operations;
    options.peak_bytes = peak.memory_bytes;
    return Trace::Start(path.bytes, options);
  }());
}

}  // namespace

void BindTrace(nb::module_& module) {
  nb::class_<Trace>(module, "_Trace", "A trace that is being recorded; see pdl.trace.")
      .def_prop_ro("is_truncated", &Trace::is_truncated,
                   "After `finish`: whether it ended early because of its size.")
      .def_prop_ro("num_events", &Trace::num_events,
                   "After `finish`: the number of recorded events.")
      .def(
          "finish",
          [](Trace& trace) {
            Check([&] {
              WithoutGil without_gil;
              return trace.Finish();
            }());
          },
          "Ends the recording and writes the rest.");
  module.def("_start_trace", &StartTrace, nb::arg("path"), nb::arg("max_bytes"));
}

}  // namespace pdl::python
