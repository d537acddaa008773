#include "tools/pdl/bisect/version_search.h"

#include <cstring>
#include <numeric>

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "tools/pdl/bisect/assembler.h"
#include "tools/pdl/bisect/delta_debug.h"
#include "tools/pdl/bisect/reduce.h"
#include "tools/pdl/compare/lockstep.h"

namespace pdl {
namespace {

using Outputs = llvm::StringMap<Tensor>;

bool HaveEqualBits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() &&
         (a.num_bytes() == 0 ||
          std::memcmp(a.raw(), b.raw(), static_cast<size_t>(a.num_bytes())) == 0);
}

/// The values of two networks, compared one by one.
struct Comparison {
  /// The first value that is wrong.
  std::optional<ComparedValue> first;
  /// The names of values with the same bits in both.
  llvm::StringSet<> equal;
};

class VersionSearch {
 public:
  VersionSearch(const Versions& versions, const Criterion& criterion, const RunSetup& setup,
                const CommonOptions& common, VersionFinding& finding)
      : versions_(versions),
        criterion_(criterion),
        setup_(setup),
        common_(common),
        finding_(finding) {}

  llvm::Error Run(const Tensor& right) {
    const auto shows = [&](llvm::ArrayRef<size_t> changes) -> llvm::Expected<bool> {
      llvm::Expected<FedNetwork> mixed = versions_.Apply(changes);
      if (!mixed) return FalseIfUserError(mixed.takeError());
      ++finding_.runs;
      llvm::Expected<Outputs> outputs = RunOnce(*mixed, setup_);
      if (!outputs) return FalseIfUserError(outputs.takeError());
      const auto output = outputs->find(finding_.output);
      return output != outputs->end() && criterion_.IsWrong(right, output->second);
    };
    std::vector<size_t> all(versions_.changes().size());
    std::iota(all.begin(), all.end(), size_t{0});
    llvm::Expected<bool> shown = shows(all);
    if (!shown) return shown.takeError();
    llvm::Expected<bool> without = *shown ? shows({}) : llvm::Expected<bool>(false);
    if (!without) return without.takeError();
    if (!*shown || *without)
      return llvm::createStringError(
          llvm::inconvertibleErrorCode(),
          "output '" + finding_.output +
              "' differs, but not because of the calls, parameters, states and outputs that "
              "differ: use pdl compare");
    llvm::Expected<std::vector<size_t>> causes = DeltaDebug(all.size(), shows);
    if (!causes) return causes.takeError();
    finding_.causes = std::move(*causes);
    return Explain();
  }

 private:
  /// Finds the first value that is wrong with the causes only, and the smallest network.
  llvm::Error Explain() {
    llvm::Expected<FedNetwork> mixed = versions_.Apply({});
    if (!mixed) return mixed.takeError();
    llvm::StringSet<> names;
    for (const Op* op : mixed->graph.ops())
      for (const Value* result : op->results()) names.insert(result->name());
    llvm::Expected<FedNetwork> good = Lowered(*mixed, setup_);
    if (!good) return good.takeError();
    mixed = versions_.Apply(finding_.causes);
    if (!mixed) return mixed.takeError();
    llvm::Expected<FedNetwork> bad = Lowered(*mixed, setup_);
    if (!bad) return bad.takeError();
    llvm::Expected<Comparison> comparison = CompareAll(*good, *bad, names);
    if (!comparison) return comparison.takeError();
    const Value* right = good->graph.FindOutput(finding_.output)->value;
    const Value* wrong = bad->graph.FindOutput(finding_.output)->value;
    if (comparison->first) {
      right = good->graph.FindValue(comparison->first->name);
      wrong = bad->graph.FindValue(comparison->first->name);
      finding_.first = std::move(*comparison->first);
    } else if (llvm::Error error = CompareOutput(*good, *right, *bad, *wrong)) {
      return error;
    }
    // If the values in between do not suffice, everything from the inputs on.
    const llvm::StringSet<> none;
    for (const llvm::StringSet<>& leaves : {comparison->equal, none}) {
      llvm::Expected<FedNetwork> both = Join(*good, right, *bad, wrong, leaves);
      if (!both) return both.takeError();
      llvm::Expected<bool> shown = ShowsWrongOutput(*both, setup_, criterion_);
      if (!shown) return shown.takeError();
      if (!*shown) continue;
      finding_.smallest = std::move(*both);
      break;
    }
    return llvm::Error::success();
  }

  llvm::Error Open(const FedNetwork& fed, Side& side) {
    auto context = OpenDevice(common_);
    if (!context) return context.takeError();
    side.context = std::move(*context);
    NetworkOptions options;
    options.optimize = false;
    auto network = MakeNetwork(fed, setup_, std::move(options));
    if (!network) return network.takeError();
    side.network = std::move(*network);
    Feed(fed, &side.scope);
    return llvm::Error::success();
  }

  /// Compares the results of the same name. Of two results in `names`, one is the other with
  /// changes; others have the same name by chance.
  llvm::Expected<Comparison> CompareAll(const FedNetwork& good, const FedNetwork& bad,
                                        const llvm::StringSet<>& names) {
    Side first, second;
    if (llvm::Error error = Open(good, first)) return error;
    if (llvm::Error error = Open(bad, second)) return error;
    const auto is_result = [](const FedNetwork& fed, llvm::StringRef name) {
      const Value* value = fed.graph.FindValue(name);
      return value != nullptr && value->producer() != nullptr &&
             value->producer()->block().index == 0;
    };
    Comparison comparison;
    LockstepHandler handler;
    handler.observes = [&](llvm::StringRef name) {
      return is_result(good, name) && is_result(bad, name);
    };
    handler.compare = [&](llvm::StringRef name, const SeenValue& a, const SeenValue& b) {
      if (HaveEqualBits(a.tensor, b.tensor)) comparison.equal.insert(name);
      if (!comparison.first && names.contains(name) && criterion_.IsWrong(a.tensor, b.tensor))
        comparison.first =
            CompareValues(ComparedValue::Kind::kCall, name, a, b, criterion_.tolerance);
    };
    RunOptions options;
    options.training = setup_.training;
    std::vector<std::string> left_out;
    if (llvm::Error error =
            RunLockstep(first, second, Pairs(), options, options, handler, &left_out))
      return error;
    return comparison;
  }

  llvm::Error CompareOutput(const FedNetwork& good, const Value& right, const FedNetwork& bad,
                            const Value& wrong) {
    llvm::Expected<Outputs> first = RunOnce(good, setup_);
    if (!first) return first.takeError();
    llvm::Expected<Outputs> second = RunOnce(bad, setup_);
    if (!second) return second.takeError();
    finding_.first = CompareValues(ComparedValue::Kind::kOutput, finding_.output,
                                   {first->lookup(finding_.output), "", PlaceOf(good.graph, right)},
                                   {second->lookup(finding_.output), "", PlaceOf(bad.graph, wrong)},
                                   criterion_.tolerance);
    return llvm::Error::success();
  }

  /// A network with the calls that compute `right` and `wrong`, as outputs `good` and `bad`, from
  /// inputs, parameters, states and the values named in `shared`.
  llvm::Expected<FedNetwork> Join(const FedNetwork& good, const Value* right, const FedNetwork& bad,
                                  const Value* wrong, const llvm::StringSet<>& shared) {
    const auto is_leaf = [&](const Value* value) {
      return value->producer() == nullptr || shared.contains(value->name());
    };
    FedNetwork made;
    Assembler good_side(made, good), bad_side(made, bad);
    struct Part {
      Assembler& side;
      const FedNetwork& fed;
      const Value* root;
      llvm::StringRef suffix;
    };
    // The bad part first: its values keep their names.
    for (const Part& part :
         {Part{bad_side, bad, wrong, ""}, Part{good_side, good, right, "_good"}}) {
      const std::vector<const Op*> calls = CallsFromLeaves(part.fed.graph, part.root, is_leaf);
      llvm::SetVector<const Value*> leaves;
      if (is_leaf(part.root)) leaves.insert(part.root);
      for (const Op* op : calls)
        for (const Value* operand : op->operands())
          if (is_leaf(operand)) leaves.insert(operand);
      auto values = RecordValues(part.fed, setup_, leaves.getArrayRef());
      if (!values) return values.takeError();
      for (const Value* leaf : leaves) AddLeaf(part.side, leaf, *values, made);
      for (const Op* op : calls) {
        // Both parts may define data-dependent sizes of the same name.
        if (op->def().properties().defines_size && !part.suffix.empty())
          for (const AttributeValue& value : op->attribute_values())
            if (const auto* shape = std::get_if<Shape>(&value))
              for (const Dim& dim : *shape)
                part.side.copier().MapSymbol(dim.symbol(),
                                             Dim::Symbol(dim.symbol().str() + part.suffix.str()));
        for (const Value* result : op->results()) {
          std::string name = made.graph.NewName(result->name() + part.suffix.str());
          made.graph.ReserveName(name);
          part.side.copier().Name(result, std::move(name));
        }
        if (llvm::Error error = part.side.AddCall(*op)) return error;
      }
    }
    made.graph.AddOutput("good", good_side.copier().Find(right));
    made.graph.AddOutput("bad", bad_side.copier().Find(wrong));
    return made;
  }

  /// Adds a leaf, or maps it to that of the other part if that has the same value.
  static void AddLeaf(Assembler& side, const Value* leaf, const Outputs& values, FedNetwork& made) {
    const auto found = values.find(leaf->name());
    if (found == values.end()) return;
    const Tensor& tensor = found->second;
    if (Value* other = made.graph.FindValue(leaf->name())) {
      const auto input = made.inputs.find(leaf->name());
      const auto variable = made.variables.find(leaf->name());
      const bool is_same = input != made.inputs.end()
                               ? HaveEqualBits(input->second, tensor)
                               : variable != made.variables.end() &&
                                     HaveEqualBits(Tensor::FromConstant(variable->second), tensor);
      if (is_same) return side.copier().Map(leaf, other);
    }
    side.AddLeaf(leaf, tensor, made.graph.NewName(leaf->name()));
  }

  const Versions& versions_;
  const Criterion& criterion_;
  const RunSetup& setup_;
  const CommonOptions& common_;
  VersionFinding& finding_;
};

}  // namespace

llvm::Expected<bool> ShowsWrongOutput(const FedNetwork& fed, const RunSetup& setup,
                                      const Criterion& criterion) {
  llvm::Expected<Outputs> outputs = RunOnce(fed, setup);
  if (!outputs) return FalseIfUserError(outputs.takeError());
  return criterion.IsWrong(outputs->lookup("good"), outputs->lookup("bad"));
}

llvm::Expected<std::optional<VersionFinding>> SearchVersions(
    const FedNetwork& good, const FedNetwork& bad, llvm::StringRef only, const Tolerance& tolerance,
    const RunSetup& setup, const CommonOptions& common) {
  llvm::Expected<Outputs> right = RunOnce(good, setup);
  if (!right) return right.takeError();
  llvm::Expected<Outputs> wrong = RunOnce(bad, setup);
  if (!wrong) return wrong.takeError();
  Criterion criterion;
  criterion.tolerance = tolerance;
  VersionFinding finding;
  finding.runs = 2;
  finding.output = ChooseOutput(good.graph, *right, *wrong, only, &criterion);
  if (finding.output.empty()) return std::nullopt;
  finding.not_finite = criterion.not_finite;
  // Symbols that were renamed make no difference.
  llvm::Expected<FedNetwork> sized_good = WithSizes(good);
  if (!sized_good) return sized_good.takeError();
  llvm::Expected<FedNetwork> sized_bad = WithSizes(bad);
  if (!sized_bad) return sized_bad.takeError();
  const Versions versions(std::move(*sized_good), std::move(*sized_bad));
  finding.changes = versions.changes().vec();
  if (llvm::Error error = VersionSearch(versions, criterion, setup, common, finding)
                              .Run(right->lookup(finding.output)))
    return error;
  return finding;
}

}  // namespace pdl
