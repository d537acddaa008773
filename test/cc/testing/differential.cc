#include "test/cc/testing/differential.h"

#include <cmath>
#include <cstring>
#include <functional>

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include "onnx/export/export.h"
#include "onnx/import/import.h"
#include "onnx/model/model.h"
#include "pdl/compiler/compiler.h"
#include "pdl/compiler/layers.h"
#include "pdl/compiler/serialize.h"
#include "pdl/compiler/training.h"
#include "pdl/op/device_context.h"
#include "pdl/op/half.h"
#include "pdl/runtime/packed_value.h"
#include "pdl/runtime/run_observer.h"
#include "test/cc/testing/perturbation.h"
#include "test/cc/testing/rounding.h"

namespace pdl {
namespace {

/// One way to run a network.
struct Way {
  bool optimize = true, fuse = true;
  int threads = 1;
  bool training = false;
  RunObserver* observer = nullptr;
  bool check_indices = false;
};

/// Two runs of the network; the states of the first are those of the second.
llvm::Expected<RunResults> Run(const Graph& graph, const llvm::StringMap<PackedConstant>& inputs,
                               const Way& way, const llvm::StringMap<Constant>& weights = {}) {
  std::vector<std::pair<std::string, Type>> results;
  for (const GraphOutput& output : graph.outputs())
    results.emplace_back(output.name, output.value->type());
  for (const Value* state : graph.states()) results.emplace_back(state->name(), state->type());
  NetworkOptions options;
  options.optimize = way.optimize;
  options.fuse = way.fuse;
  options.weights = weights;
  auto network = Network::Create(graph.Clone(), std::move(options), GlobalRegistry());
  if (!network) return network.takeError();
  CPUContext context(way.threads);
  Scope scope;
  for (const Value* input : graph.inputs())
    PackedValue::FromConstant(inputs.lookup(input->name())).Put(&scope, input->name());
  RunOptions run;
  run.training = way.training;
  run.observer = way.observer;
  run.check_indices = way.check_indices;
  for (int i = 0; i < 2; ++i)
    if (llvm::Error error = (*network)->Run(&scope, &context, run)) return error;
  RunResults parts;
  for (const auto& [name, type] : results) {
    for (const PartType& part : PartsOf(name, type)) {
      const std::string part_name = PartName(name, part.part);
      const Variable* variable = scope.Find(part_name);
      if (variable == nullptr || variable->Get<Tensor>() == nullptr) continue;
      const Tensor& tensor = *variable->Get<Tensor>();
      parts[part_name] = Constant::Copy(tensor.dtype(), tensor.sizes(), tensor.raw());
    }
  }
  return parts;
}

/// Whether all results of calls are finite, and whether one of them has huge elements.
class FiniteResults final : public RunObserver {
 public:
  llvm::Error See(const Result& result) override {
    const Constant values = result.tensor.ToConstant();
    if (!kFloats.Contains(values.dtype())) return llvm::Error::success();
    may_overflow_ = may_overflow_ || MayOverflow(values, /*in_onnx=*/true);
    are_finite_ = are_finite_ && IsFinite(values);
    return llvm::Error::success();
  }
  bool are_finite() const { return are_finite_; }
  bool may_overflow() const { return may_overflow_; }

 private:
  bool are_finite_ = true;
  bool may_overflow_ = false;
};

/// Whether an input or the result of a call has huge elements; with `and_not_finite`, whether there
/// also is a result that is not finite.
bool HasHuge(const Graph& graph, const llvm::StringMap<PackedConstant>& inputs,
             const llvm::StringMap<Constant>& weights = {}, bool and_not_finite = false) {
  FiniteResults seen;
  auto results = Run(graph, inputs, {.optimize = false, .fuse = false, .observer = &seen}, weights);
  if (!results) llvm::consumeError(results.takeError());
  const bool is_huge = seen.may_overflow() || llvm::any_of(inputs, [](const auto& input) {
                         return MayOverflow(input.second.values, /*in_onnx=*/true);
                       });
  return is_huge && !(and_not_finite && seen.are_finite());
}

bool AreFinite(const RandomGraph& random) {
  FiniteResults finite;
  for (const auto& input : random.inputs)
    if (!IsFinite(input.second.values)) return false;
  // Literals are not computed; those of parameters and states are in blocks of their own.
  for (uint32_t i = 0; i < random.graph.num_blocks(); ++i)
    for (const Op* op : random.graph.block({i}).ops)
      for (const Value* result : op->results())
        if (const Constant* literal = LiteralOf(random.graph, result);
            literal != nullptr && !IsFinite(*literal))
          return false;
  auto results =
      Run(random.graph, random.inputs, {.optimize = false, .fuse = false, .observer = &finite});
  if (!results) llvm::consumeError(results.takeError());
  return finite.are_finite();
}

bool AreSame(const Constant& a, int64_t i, const Constant& b) {
  const auto size = static_cast<size_t>(DTypeSize(a.dtype()));
  const auto at = static_cast<size_t>(i) * size;
  return std::memcmp(static_cast<const char*>(a.data()) + at,
                     static_cast<const char*>(b.data()) + at, size) == 0 ||
         (std::isnan(a.ElementAsDouble(i)) && std::isnan(b.ElementAsDouble(i)));
}

/// How much results may differ.
struct Tolerance {
  /// Null: not at all.
  const Graph* graph = nullptr;
  std::vector<RunResults> perturbed;
  double rounding = 0;
  /// nan and infinities, and integers and bools that depend on them, may be other numbers.
  bool ignores_special = false;
};

/// How often a network is run to explain a difference; and how often if that did not explain it,
/// since only some roundings make two elements equal.
constexpr uint64_t kFewRuns = 32, kManyRuns = 512;

/// The network run as it was written, with perturbed results of calls.
Tolerance Perturbed(const RandomGraph& random, bool training, uint64_t num_runs,
                    const std::function<double(llvm::StringRef)>& rounding, double at_least = 0) {
  Tolerance tolerance{&random.graph, {}, rounding("")};
  for (uint64_t seed = 0; seed < num_runs; ++seed) {
    Perturbation perturbation(seed, random, rounding, at_least);
    Way way{.optimize = false, .fuse = false, .training = training, .observer = &perturbation};
    if (auto results = Run(random.graph, random.inputs, way)) {
      tolerance.perturbed.push_back(std::move(*results));
    } else {
      llvm::consumeError(results.takeError());
    }
  }
  return tolerance;
}

/// The largest magnitude of the literals that a value is computed from.
double LargestLiteral(const Graph& graph, const Value* value, std::set<const Value*>* seen) {
  if (!seen->insert(value).second) return 0;
  const Constant* literal = LiteralOf(graph, value);
  double largest = literal == nullptr ? 0 : LargestOf(*literal);
  if (value->producer() != nullptr)
    for (const Value* operand : value->producer()->operands())
      largest = std::max(largest, LargestLiteral(graph, operand, seen));
  return largest;
}

/// The rounding of the call that computes the output or state `name`: calls that depend on nothing
/// that a run reads are not perturbed.
double LastRounding(const std::string& name, const Constant& values, const Tolerance& tolerance) {
  if (!kFloats.Contains(values.dtype())) return 0;
  double largest = LargestOf(values);
  for (const GraphOutput& output : tolerance.graph->outputs()) {
    std::set<const Value*> seen;
    if (output.name == name && IsKnownToPlan(output.value))
      largest = std::max(largest, LargestLiteral(*tolerance.graph, output.value, &seen));
  }
  return tolerance.rounding * Epsilon(values.dtype()) * largest;
}

/// Whether a difference is within that of perturbed runs. `last` is LastRounding of `a`.
bool IsExplained(const std::string& name, int64_t i, const Constant& a, const Constant& b,
                 const Tolerance& tolerance, double last) {
  const double expected = a.ElementAsDouble(i), got = b.ElementAsDouble(i);
  if (tolerance.ignores_special &&
      (!kFloats.Contains(a.dtype()) || !std::isfinite(expected) || !std::isfinite(got)))
    return true;
  double change = 0, low = expected, high = expected;
  for (const RunResults& results : tolerance.perturbed) {
    const auto found = results.find(name);
    // Sizes that data decide may differ, too.
    if (found == results.end() || found->second.sizes() != a.sizes()) return true;
    const double other = found->second.ElementAsDouble(i);
    if (std::isfinite(other) != std::isfinite(expected) ||
        std::isnan(other) != std::isnan(expected))
      return true;
    change = std::max(change, std::abs(other - expected));
    low = std::min(low, other);
    high = std::max(high, other);
  }
  // Rounding decides the sign of a divisor, which may be 0.
  if (std::isfinite(expected) && std::isinf(got)) return low < 0 && high > 0 && expected != 0;
  if (!std::isfinite(expected) || !std::isfinite(got)) return false;
  return std::abs(got - expected) <= 16 * change + last;
}

std::string Describe(const std::string& name, int64_t i, const Constant& a, const Constant& b) {
  return llvm::formatv("{0}{1} of {2}: {3} and {4}", name, ElementPlace(i, a.sizes()),
                       TensorTypeToString(a.dtype(), a.sizes()),
                       FloatToString(a.ElementAsDouble(i)), FloatToString(b.ElementAsDouble(i)));
}

/// The first difference that is not explained; empty if there is none. `tolerance` is called with
/// a number of runs when there is a difference.
std::string Difference(const RunResults& expected, const RunResults& got,
                       const std::function<Tolerance(uint64_t num_runs)>& tolerance) {
  std::optional<Tolerance> runs;
  bool has_many = false;
  std::optional<double> last;  // LastRounding of the current output
  const auto is_explained = [&](const std::string& name, int64_t i, const Constant& a,
                                const Constant& b) {
    if (!runs) runs = tolerance(kFewRuns);
    if (!last) last = runs->graph == nullptr ? 0 : LastRounding(name, a, *runs);
    if (IsExplained(name, i, a, b, *runs, *last)) return true;
    if (has_many || runs->graph == nullptr) return false;
    has_many = true;
    runs = tolerance(kManyRuns);
    return IsExplained(name, i, a, b, *runs, *last);
  };
  for (const auto& [name, a] : expected) {
    const auto found = got.find(name);
    if (found == got.end()) return name + " is missing";
    const Constant& b = found->second;
    last.reset();
    if (a.dtype() != b.dtype()) return name + " has another dtype";
    if (a.sizes() != b.sizes()) {
      if (a.num_elements() > 0 && is_explained(name, 0, a, a)) continue;
      return name + " has other sizes: " + TensorTypeToString(a.dtype(), a.sizes()) + " and " +
             TensorTypeToString(b.dtype(), b.sizes());
    }
    for (int64_t i = 0; i < a.num_elements(); ++i)
      if (!AreSame(a, i, b) && !is_explained(name, i, a, b)) return Describe(name, i, a, b);
  }
  return "";
}

CompileResult CompileText(const std::string& text, bool training_step = false) {
  CompileRequest request;
  request.file = std::make_shared<SourceFile>("t.pdl", text);
  request.registry = &GlobalRegistry();
  request.library = StandardLayers();
  request.training_step = training_step;
  return Compile(request);
}

std::string Messages(const CompileResult& result) {
  std::string text;
  llvm::raw_string_ostream os(text);
  result.diagnostics.Render(os);
  return text;
}

/// Whether sizes are rejected because only empty tensors have them, which source may have in a
/// branch only (docs/limits.md).
bool IsOnEmptyTensors(const CompileResult& result) {
  return llvm::any_of(result.diagnostics.all(), [](const Diagnostic& diagnostic) {
    return llvm::any_of(diagnostic.notes, [](const DiagnosticNote& note) {
      return llvm::StringRef(note.text).contains("no sizes of at least 1 satisfy this");
    });
  });
}

}  // namespace

// --- Ways ---------------------------------------------------------------------------------------

std::vector<std::string> Differential::Compare(const RandomGraph& random, bool special) {
  std::vector<std::string> differences;
  for (const bool training : {false, true}) {
    const Way kPlain{.optimize = false, .fuse = false, .training = training};
    auto plain = Run(random.graph, random.inputs, kPlain);
    ++(plain ? counts_["plain"].ran : counts_["plain"].failed);
    const std::string error = plain ? "" : llvm::toString(plain.takeError());
    const auto compare = [&](const char* name, Way way, const RunResults* expected, bool is_exact) {
      way.training = training;
      auto got = Run(random.graph, random.inputs, way);
      ++(got ? counts_[name].ran : counts_[name].failed);
      if (!got) {
        const std::string other = llvm::toString(got.takeError());
        if (error.empty()) differences.push_back(std::string(name) + " fails: " + other);
        return RunResults();
      }
      if (!error.empty()) {
        differences.push_back(std::string(name) + " runs; without passes: " + error);
        return RunResults();
      }
      const std::string difference = Difference(*expected, *got, [&](uint64_t num_runs) {
        if (is_exact) return Tolerance();
        return Perturbed(random, training, num_runs, RoundingOf);
      });
      if (!difference.empty()) differences.push_back(std::string(name) + ": " + difference);
      return std::move(*got);
    };
    const RunResults none;
    const RunResults* at_first = plain ? &*plain : &none;
    const RunResults unfused = compare("passes", {.fuse = false}, at_first, false);
    compare("fusion alone", {.optimize = false}, at_first, true);
    const RunResults fused = compare("fusion", {}, plain ? &unfused : &none, true);
    compare("threads", {.threads = 3}, plain ? &fused : &none, true);
    if (!plain) return differences;
    if (training) continue;
    Cover(random.graph);
    if (differences.empty()) CompareStored(random, fused, &differences);
    if (differences.empty()) CompareImport(random, fused, special, &differences);
  }
  if (!random.optimizer.empty()) CompareTraining(random, &differences);
  return differences;
}

void Differential::CompareStored(const RandomGraph& random, const RunResults& expected,
                                 std::vector<std::string>* differences) {
  const auto compare = [&](const std::string& name, const Graph& graph) {
    auto got = Run(graph, random.inputs, {});
    ++(got ? counts_[name].ran : counts_[name].failed);
    if (!got) {
      differences->push_back(name + " fails: " + llvm::toString(got.takeError()));
      return;
    }
    const std::string difference = Difference(expected, *got, [](uint64_t) { return Tolerance(); });
    if (!difference.empty()) differences->push_back(name + ": " + difference);
  };
  llvm::Expected<std::string> bytes = SerializeNetwork(random.graph);
  if (!bytes) {
    differences->push_back("not stored: " + llvm::toString(bytes.takeError()));
  } else if (auto loaded = DeserializeNetwork(*bytes, "t.pdlc", GlobalRegistry()); !loaded) {
    differences->push_back("not loaded: " + llvm::toString(loaded.takeError()));
  } else {
    compare("stored", *loaded);
  }
  const std::string text = EmitPdl(random.graph);
  const CompileResult compiled = CompileText(text);
  if (!compiled.graph && IsOnEmptyTensors(compiled)) return;
  if (!compiled.graph) {
    differences->push_back("not compiled: " + Messages(compiled));
  } else {
    compare("source", *compiled.graph);
  }
}

/// Whether results mean something else in ONNX, or nothing.
static bool HasNoMeaningInOnnx(const RandomGraph& random) {
  // Indices out of range.
  if (auto checked = Run(random.graph, random.inputs, {.check_indices = true}); !checked)
    return llvm::consumeError(checked.takeError()), true;
  // The index of the maximum of a window that has padding only.
  return llvm::any_of(random.graph.ops(),
                      [](const Op* op) { return op->type() == "max_pool_index"; });
}

std::string Differential::Export(const RandomGraph& random) {
  if (HasNoMeaningInOnnx(random)) return "";
  auto network = Network::Create(random.graph.Clone(), {}, GlobalRegistry());
  if (!network) return llvm::consumeError(network.takeError()), "";
  OnnxExportOptions options;
  options.value = [&](llvm::StringRef name) { return (*network)->InitialValue(name); };
  auto exported = ExportOnnx(random.graph, GlobalRegistry(), options);
  ++(exported ? counts_["export"].ran : counts_["export"].failed);
  // Many operators have no counterpart.
  if (!exported) return llvm::consumeError(exported.takeError()), "";
  return exported->SerializeAsString();
}

bool Differential::MayDifferInOnnxRuntime(const RandomGraph& random) {
  static const llvm::StringSet<> compare = {"argmax",   "argmin", "argsort", "max",
                                            "max_pool", "min",    "scatter", "sort",
                                            "topk",     "unique", "maximum", "minimum"};
  const bool is_finite = AreFinite(random);
  const bool has_empty = llvm::any_of(
      random.inputs, [](const auto& input) { return input.second.values.num_elements() == 0; });
  for (uint32_t i = 0; i < random.graph.num_blocks(); ++i)
    for (const Op* op : random.graph.block({i}).ops)
      if ((!is_finite && compare.contains(op->type())) ||
          (has_empty && op->type().starts_with("conv")))
        return true;
  return false;
}

static llvm::Expected<ImportedModel> Import(llvm::StringRef model) {
  auto parsed = OnnxModel::Parse(model, "t.onnx", "/nonexistent");
  if (!parsed) return parsed.takeError();
  return ImportOnnx(*parsed);
}

/// The inputs of an imported network.
static llvm::StringMap<PackedConstant> InputsOf(const ImportedModel& imported,
                                                const RandomGraph& random) {
  llvm::StringMap<PackedConstant> inputs;
  for (const auto& [theirs, ours] : imported.inputs) inputs[ours] = random.inputs.lookup(theirs);
  return inputs;
}

std::string Differential::CompareOnnx(const RandomGraph& random, llvm::StringRef model,
                                      const RunResults& expected, const RunResults& got,
                                      bool special) {
  RunResults exported;
  for (const auto& [name, values] : expected)
    if (got.count(name) != 0) exported[name] = values;
  // Calls are exported as formulas of other operators, whose roundings differ.
  const std::string difference = Difference(exported, got, [&](uint64_t num_runs) {
    // Some of the formulas cancel: 1 - erf(x) for erfc.
    Tolerance tolerance = Perturbed(
        random, false, num_runs,
        [](llvm::StringRef op) { return RoundingOfIsas(op) == 0 ? 4.0 : 16.0; }, 1);
    // At nan and infinities, the formulas may be others: x * sigmoid(x) for silu(-inf).
    tolerance.ignores_special = !special && !AreFinite(random);
    return tolerance;
  });
  if (difference.empty()) return "";
  // The formula of standardize squares elements in the dtype, the kernel in double precision. Where
  // there are nan or infinities anyway, huge elements are enough.
  if (!AreFinite(random)) return HasHuge(random.graph, random.inputs) ? "" : difference;
  auto imported = Import(model);
  if (!imported) return llvm::consumeError(imported.takeError()), difference;
  return HasHuge(imported->graph, InputsOf(*imported, random), imported->weights, true)
             ? ""
             : difference;
}

void Differential::CompareImport(const RandomGraph& random, const RunResults& expected,
                                 bool special, std::vector<std::string>* differences) {
  const std::string model = Export(random);
  if (model.empty()) return;
  auto imported = Import(model);
  if (!imported) {
    // Sizes that depend on a value, as the position of `write`; a loop without steps.
    const std::string error = llvm::toString(imported.takeError());
    // The sizes of the operands of linear_recurrence are equal by a check of the run.
    if (!llvm::StringRef(error).ends_with("[PDL0901]") &&
        !llvm::StringRef(error).contains("(Scan): a carried value has type"))
      differences->push_back("not imported: " + error);
    return;
  }
  auto got = Run(imported->graph, InputsOf(*imported, random), {}, imported->weights);
  ++(got ? counts_["import"].ran : counts_["import"].failed);
  if (!got) {
    // The formula of cos_sim takes the maximum of a row, which may be empty.
    const std::string error = llvm::toString(got.takeError());
    if (!llvm::StringRef(error).contains("the axis must not be empty"))
      differences->push_back("imported fails: " + error);
    return;
  }
  RunResults renamed;
  for (const auto& [theirs, ours] : imported->outputs) renamed[theirs] = (*got)[ours];
  const std::string difference = CompareOnnx(random, model, expected, renamed, special);
  if (!difference.empty()) differences->push_back("import: " + difference);
}

void Differential::CompareTraining(const RandomGraph& random,
                                   std::vector<std::string>* differences) {
  const std::string text =
      EmitPdl(random.graph) + "minimize " + random.loss + " with " + random.optimizer + "\n";
  const CompileResult compiled = CompileText(text, /*training_step=*/true);
  if (!compiled.graph) return;
  llvm::Expected<Graph> step = MakeTrainingStep(*compiled.graph);
  if (!step) return llvm::consumeError(step.takeError());
  RandomGraph training{std::move(*step), random.inputs, "", ""};
  const Way kPlain{.optimize = false, .fuse = false, .training = true};
  auto plain = Run(training.graph, training.inputs, kPlain);
  ++(plain ? counts_["training"].ran : counts_["training"].failed);
  if (!plain) return llvm::consumeError(plain.takeError());
  const auto compare = [&](const char* name, Way way, const RunResults& expected, bool is_exact) {
    way.training = true;
    auto got = Run(training.graph, training.inputs, way);
    if (!got) {
      differences->push_back(std::string(name) + " fails: " + llvm::toString(got.takeError()));
      return RunResults();
    }
    const std::string difference = Difference(expected, *got, [&](uint64_t num_runs) {
      if (is_exact) return Tolerance();
      return Perturbed(training, true, num_runs, RoundingOf);
    });
    if (!difference.empty())
      differences->push_back(std::string(name) + ": " + difference + "\n" + text);
    return std::move(*got);
  };
  const RunResults unfused = compare("training passes", {.fuse = false}, *plain, false);
  const RunResults fused = compare("training fusion", {}, unfused, true);
  compare("training threads", {.threads = 3}, fused, true);
}

RunResults Differential::Reference(const RandomGraph& random) {
  auto results = Run(random.graph, random.inputs, {});
  if (!results) return llvm::consumeError(results.takeError()), RunResults();
  return std::move(*results);
}

std::string Differential::CompareIsas(const RandomGraph& random, const RunResults& expected,
                                      const RunResults& got) {
  return Difference(expected, got, [&](uint64_t num_runs) {
    return Perturbed(random, false, num_runs, RoundingOfIsas);
  });
}

// --- Coverage -----------------------------------------------------------------------------------

void Differential::Cover(const Graph& graph) {
  for (uint32_t i = 0; i < graph.num_blocks(); ++i) {
    for (const Op* op : graph.block({i}).ops) {
      const OpSignature& signature = op->def().signature;
      covered_.insert(signature.name);
      if (!op->operands().empty())
        covered_.insert(signature.name + " " +
                        DTypeName(op->operands().front()->type().dtype).str());
      for (size_t k = 0; k < signature.attributes.size(); ++k)
        if (!Identical(op->attribute_values()[k], signature.attributes[k].default_value))
          covered_.insert(signature.name + "." + signature.attributes[k].name);
    }
  }
}

std::set<std::string> FeaturesToCover() {
  std::set<std::string> features;
  for (const OpDef* def : GlobalRegistry().All()) {
    features.insert(def->name());
    for (const AttributeDecl& decl : def->signature.attributes)
      features.insert(def->name() + "." + decl.name);
  }
  return features;
}

}  // namespace pdl
