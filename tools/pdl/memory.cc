// pdl memory: states how much memory a run of a network needs.
#include <algorithm>
#include <cmath>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "pdl/op/error.h"
#include "pdl/op/symbols.h"
#include "pdl/runtime/memory_report.h"
#include "pdl/runtime/network.h"
#include "tools/pdl/commands.h"
#include "tools/pdl/support/console.h"
#include "tools/pdl/support/load_network.h"

namespace pdl {
namespace {

constexpr CommandLine::Help kHelp = {
    "pdl memory", "FILE [OPTION]...",
    R"(States how many bytes a run of the network in FILE (.pdl, .pdlc, .onnx, or - for
standard input) needs, as formulas in the symbols of its sizes; and which values are live
at the peak, with the lines that compute them. Nothing is run.

With the sizes of all symbols (--size), it also prints these numbers in bytes, with the
workspaces of kernels and the size of the arena. docs/memory.md explains the terms.
)",
    R"(pdl memory model.pdl
pdl memory model.pdl --size N=32 --size T=1024
pdl memory model.pdl --step
pdl memory model.pdl --size N=32 --format=json
)"};

/// A peak that is one of many is described by its formula only.
constexpr size_t kMostPeaks = 3;

struct MemoryArguments {
  CommonOptions common;
  std::string format = "text";
  bool step = false;
};

std::string BytesOf(int64_t bytes) {
  if (bytes < 1024) return llvm::formatv("{0} bytes", bytes);
  double scaled = static_cast<double>(bytes);
  unsigned unit = 0;
  for (; scaled >= 1024 && unit < 5; ++unit) scaled /= 1024;
  return llvm::formatv("{0} bytes ({1:f1} {2}iB)", bytes, scaled, "BKMGTP"[unit]);
}

class Printer {
 public:
  Printer(const MemoryReport& report, const llvm::StringMap<int64_t>& sizes)
      : report_(report), sizes_(sizes) {}

  /// The value of a formula, or nullopt if a size is not given.
  std::optional<int64_t> Evaluate(const Dim& bytes) const {
    llvm::Expected<int64_t> value =
        bytes.Evaluate([&](llvm::StringRef symbol) -> std::optional<int64_t> {
          auto found = sizes_.find(symbol);
          return found == sizes_.end() ? std::nullopt : std::optional(found->second);
        });
    if (value) return *value;
    llvm::consumeError(value.takeError());
    return std::nullopt;
  }

  void Print(llvm::raw_ostream& os) const {
    Row(os, "", "a run", report_.RunFormula(), report_.Run());
    for (const MemoryPart& part : report_.parts) {
      const llvm::StringRef indent = part.title.empty() ? "  " : "    ";
      if (!part.title.empty()) os << "  " << part.title << '\n';
      Row(os, indent, "intermediate values", part.IntermediatesFormula(), part.Intermediates());
      if (!part.outputs.is_constant(0))
        Row(os, indent, "outputs", part.outputs.ToString(), part.outputs);
      if (!part.new_states.is_constant(0))
        Row(os, indent, "new values of states", part.new_states.ToString(), part.new_states);
    }
    Row(os, "", "inputs", report_.inputs.ToString(), report_.inputs);
    Row(os, "", "parameters", report_.parameters.ToString(), report_.parameters);
    if (!report_.states.is_constant(0))
      Row(os, "", "states", report_.states.ToString(), report_.states);
    for (const MemoryPart& part : report_.parts) PrintPart(os, part);
  }

 private:
  void Row(llvm::raw_ostream& os, llvm::StringRef indent, llvm::StringRef name,
           llvm::StringRef formula, const Dim& bytes) const {
    os << indent << name << ": ";
    const std::optional<int64_t> value = Evaluate(bytes);
    if (!bytes.is_constant()) os << formula << (value ? " = " : " bytes");
    if (value) os << BytesOf(*value);
    os << '\n';
  }

  void PrintPart(llvm::raw_ostream& os, const MemoryPart& part) const {
    if (part.peaks.empty()) return;
    const std::string title = part.title.empty() ? "" : part.title + ": ";
    if (part.planned) {
      const PlannedMemory& planned = *part.planned;
      os << '\n'
         << title << "for these sizes: an arena of " << BytesOf(planned.arena) << "; at the peak, "
         << BytesOf(planned.live) << " are live: " << BytesOf(planned.values)
         << " of values, at most " << BytesOf(planned.workspace)
         << " of workspaces, and what rounding each value up to 64 bytes adds\n";
    }
    for (const std::string& choice : part.choices) os << "  select " << choice << '\n';
    size_t printed = 0;
    for (const MemoryPeak* peak : Peaks(part)) {
      if (peak->values.empty()) continue;
      if (printed++ == kMostPeaks) break;
      os << '\n' << title << "live at step " << peak->step << ", " << peak->calls;
      if (!peak->location.empty()) os << "  # " << peak->location;
      os << '\n';
      PrintValues(os, *peak);
    }
    if (part.peaks.size() > kMostPeaks)
      os << '\n'
         << title << part.peaks.size() - kMostPeaks
         << " more steps may be the peak, depending on the sizes\n";
  }

  /// The peaks of a part, of which the one that is the largest for the given sizes is the only one.
  std::vector<const MemoryPeak*> Peaks(const MemoryPart& part) const {
    std::vector<const MemoryPeak*> peaks;
    for (const MemoryPeak& peak : part.peaks) peaks.push_back(&peak);
    auto value = [&](const MemoryPeak* peak) { return Evaluate(peak->bytes); };
    if (llvm::any_of(peaks, [&](const MemoryPeak* peak) { return !value(peak); })) return peaks;
    return {*std::max_element(
        peaks.begin(), peaks.end(),
        [&](const MemoryPeak* a, const MemoryPeak* b) { return *value(a) < *value(b); })};
  }

  void PrintValues(llvm::raw_ostream& os, const MemoryPeak& peak) const {
    std::vector<const LiveValue*> values;
    for (const LiveValue& value : peak.values) values.push_back(&value);
    // The largest first, if that is known.
    llvm::stable_sort(values, [&](const LiveValue* a, const LiveValue* b) {
      return Evaluate(a->bytes).value_or(0) > Evaluate(b->bytes).value_or(0);
    });
    size_t width = 0;
    std::vector<std::string> bytes;
    for (const LiveValue* value : values) {
      const std::optional<int64_t> number = Evaluate(value->bytes);
      bytes.push_back(number ? std::to_string(*number) : value->bytes.ToString());
      width = std::max(width, bytes.back().size());
    }
    for (auto [value, text] : llvm::zip_equal(values, bytes)) {
      os << "  " << llvm::right_justify(text, static_cast<unsigned>(width)) << "  " << value->name
         << ": " << value->type << " = " << value->call;
      if (!value->location.empty()) os << "  # " << value->location;
      os << '\n';
    }
  }

  const MemoryReport& report_;
  const llvm::StringMap<int64_t>& sizes_;
};

/// Writes the report as JSON. Formulas are strings, in the syntax of dims in the language.
class JsonWriter {
 public:
  JsonWriter(const MemoryReport& report, const Printer& printer)
      : report_(report), printer_(printer), json_(llvm::outs(), 2) {}

  void Write() {
    json_.object([&] {
      Bytes("run", report_.Run());
      Bytes("inputs", report_.inputs);
      Bytes("parameters", report_.parameters);
      Bytes("states", report_.states);
      json_.attributeArray("parts", [&] {
        for (const MemoryPart& part : report_.parts) WritePart(part);
      });
    });
    llvm::outs() << '\n';
  }

 private:
  void Bytes(llvm::StringRef name, const Dim& bytes) {
    json_.attributeObject(name, [&] {
      json_.attribute("formula", bytes.ToString());
      if (std::optional<int64_t> value = printer_.Evaluate(bytes)) json_.attribute("bytes", *value);
    });
  }

  void WritePart(const MemoryPart& part) {
    json_.object([&] {
      if (!part.title.empty()) json_.attribute("title", part.title);
      Bytes("intermediates", part.Intermediates());
      Bytes("outputs", part.outputs);
      Bytes("new_states", part.new_states);
      if (part.planned) {
        json_.attributeObject("planned", [&] {
          json_.attribute("values", part.planned->values);
          json_.attribute("live", part.planned->live);
          json_.attribute("arena", part.planned->arena);
          json_.attribute("workspace", part.planned->workspace);
        });
      }
      json_.attributeArray("choices", [&] {
        for (const std::string& choice : part.choices) json_.value(choice);
      });
      json_.attributeArray("peaks", [&] {
        for (const MemoryPeak& peak : part.peaks) WritePeak(peak);
      });
    });
  }

  void WritePeak(const MemoryPeak& peak) {
    json_.object([&] {
      json_.attribute("step", peak.step);
      json_.attribute("calls", peak.calls);
      json_.attribute("location", peak.location);
      Bytes("bytes", peak.bytes);
      json_.attributeArray("values", [&] {
        for (const LiveValue& value : peak.values) {
          json_.object([&] {
            json_.attribute("name", value.name);
            json_.attribute("type", value.type);
            json_.attribute("call", value.call);
            json_.attribute("location", value.location);
            Bytes("bytes", value.bytes);
          });
        }
      });
    });
  }

  const MemoryReport& report_;
  const Printer& printer_;
  llvm::json::OStream json_;
};

llvm::Error Memory(llvm::StringRef path, const MemoryArguments& arguments) {
  llvm::Expected<LoadedNetwork> loaded = LoadNetwork(path, arguments.common);
  if (!loaded) return loaded.takeError();
  if (arguments.step)
    if (llvm::Error error = MakeStep(loaded->graph, arguments.common)) return error;
  auto context = OpenDevice(arguments.common);
  if (!context) return context.takeError();
  auto network = CreateNetwork(std::move(*loaded), arguments.common);
  if (!network) return network.takeError();
  RunOptions run;
  run.training = arguments.common.training;
  llvm::Expected<MemoryReport> report =
      (*network)->ReportMemory(context->get(), run, arguments.common.sizes);
  if (!report) return report.takeError();
  const Printer printer(*report, arguments.common.sizes);
  if (arguments.format == "json") {
    JsonWriter(*report, printer).Write();
  } else {
    printer.Print(llvm::outs());
  }
  return llvm::Error::success();
}

}  // namespace

int MemoryMain(Arguments arguments) {
  MemoryArguments memory;
  CommandLine line(kHelp);
  line.AddChoice("--format", {"text", "json"}, "json is for programs: formulas are strings",
                 &memory.format);
  line.AddFlag("--step", "describe a training step, with all minimize statements", &memory.step);
  AddSizeOption(line, "the size of a symbol: --size N=32", &memory.common);
  line.Section("The network");
  AddNetworkOptions(line, &memory.common);
  AddWeightsOption(line, &memory.common);
  AddPrecisionOption(line, &memory.common);
  line.Section("The plan");
  AddRunOptions(line, &memory.common);
  AddTrainingOption(line, &memory.common);
  AddMessageOptions(line);
  line.AddSandbox();
  auto file = line.ParseOneFile(arguments);
  if (!file) return Finish(file.takeError());
  if (!*file) return kSuccess;
  if (memory.step) memory.common.UseTrainingStep();
  return Finish(Memory(**file, memory));
}

}  // namespace pdl
