#include "tools/pdl/bisect/report.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "pdl/op/error.h"
#include "tools/pdl/bisect/finite_search.h"
#include "tools/pdl/bisect/pass_search.h"
#include "tools/pdl/bisect/reduce.h"
#include "tools/pdl/bisect/version_search.h"
#include "tools/pdl/support/console.h"

namespace pdl {
namespace {

std::string Counted(size_t count, llvm::StringRef noun) {
  return (llvm::Twine(count) + " " + noun + (count == 1 ? "" : "s")).str();
}

std::string HowWrong(bool not_finite) {
  return not_finite ? "has a nan or an infinity" : "differs";
}

llvm::json::Object ToJson(const Difference& difference) {
  return llvm::json::Object{{"subject", DifferenceSubjectName(difference.subject)},
                            {"text", difference.text},
                            {"changes", llvm::json::Array(difference.changes)}};
}

void PrintCause(llvm::raw_ostream& os, const VersionChange& change) {
  os << "  " << change.bad_place << (change.bad_place.empty() ? "" : ": ")
     << DifferenceSubjectName(change.difference.subject) << ' ' << change.difference.text << '\n';
  for (const std::string& text : change.difference.changes) os << "      " << text << '\n';
  for (const auto& [added, place] : change.added)
    os << "      new: " << place << (place.empty() ? "" : ": ") << added.text << '\n';
}

/// Errors about inputs that the versions do not have in common.
llvm::Error CheckInputs(const Side& good, const Side& bad) {
  llvm::Error errors = llvm::Error::success();
  for (const auto& [first, second] : {std::pair(&good, &bad), std::pair(&bad, &good)})
    for (const Value* input : first->network->graph().inputs()) {
      const Value* other = second->network->graph().FindValue(input->name());
      if (other == nullptr || other->kind() != ValueKind::kInput) {
        errors = llvm::joinErrors(
            std::move(errors),
            MakeUserError(Code::kMissingInput,
                          "{0} has the input '{1}', but {2} does not: both versions must have the "
                          "same inputs",
                          first->path, input->name(), second->path));
      } else if (first == &good && (input->type().dtype != other->type().dtype ||
                                    input->type().storage != other->type().storage ||
                                    input->type().rank() != other->type().rank())) {
        errors = llvm::joinErrors(
            std::move(errors),
            MakeUserError(Code::kInputType, "input '{0}' is {1} in {2} and {3} in {4}",
                          input->name(), input->type().ToString(), first->path,
                          other->type().ToString(), second->path));
      }
    }
  return errors;
}

llvm::Error CheckOnly(llvm::StringRef only, const FedNetwork& fed, llvm::StringRef path) {
  if (only.empty()) return llvm::Error::success();
  std::vector<llvm::StringRef> names;
  for (const GraphOutput& output : fed.graph.outputs()) names.push_back(output.name);
  if (llvm::is_contained(names, only)) return llvm::Error::success();
  return MakeUserError(Code::kUnknownName, "{0} has no output '{1}'{2}", path, only,
                       DidYouMean(only, names));
}

/// Fails if the versions have no output in common, and notes outputs that only one of them has:
/// they are not compared.
llvm::Error CheckOutputs(const FedNetwork& good, llvm::StringRef good_path, const FedNetwork& bad,
                         llvm::StringRef bad_path) {
  const auto names = [](const FedNetwork& fed, const FedNetwork* without) {
    std::vector<std::string> found;
    for (const GraphOutput& output : fed.graph.outputs())
      if (without == nullptr || without->graph.FindOutput(output.name) == nullptr)
        found.push_back(output.name);
    return found;
  };
  const std::vector<std::string> in_good = names(good, nullptr), in_bad = names(bad, nullptr);
  const std::vector<std::string> only_good = names(good, &bad), only_bad = names(bad, &good);
  if (only_good.size() == in_good.size()) {
    const auto list = [](llvm::ArrayRef<std::string> all) {
      return all.empty() ? std::string("none") : llvm::join(all, ", ");
    };
    return MakeUserError(Code::kUnknownName,
                         "the versions have no output in common: {0} has {1}, {2} has {3}",
                         good_path, list(in_good), bad_path, list(in_bad));
  }
  for (const auto& [path, only] : {std::pair(good_path, &only_good), {bad_path, &only_bad}})
    if (!only->empty())
      PrintNote("not compared, since only " + path.str() + " has them: " + llvm::join(*only, ", "));
  return llvm::Error::success();
}

/// Writes the smallest network, and says so in the report.
llvm::Error Write(const BisectRequest& request, const RunSetup& setup, ShowsIt shows,
                  BisectReport& report) {
  llvm::raw_string_ostream os(report.text);
  if (!report.smallest) {
    os << "no part of the network shows it on its own\n";
    return llvm::Error::success();
  }
  const size_t calls = report.smallest->graph.ops().size();
  const auto defines_size = [](const Op* op) { return op->def().properties().defines_size; };
  if (llvm::any_of(report.smallest->graph.ops(), defines_size)) {
    os << "smallest network: " << Counted(calls, "call")
       << "; it cannot be written, since it computes a size from data\n";
    return llvm::Error::success();
  }
  if (request.out.empty()) {
    os << "smallest network: " << Counted(calls, "call") << " (-o writes it)\n";
    return llvm::Error::success();
  }
  if (llvm::Error error =
          WriteAndCheck(*report.smallest, request.out, setup, request.common, shows))
    return error;
  os << request.out << " shows it with " << Counted(calls, "call");
  const bool has_inputs = !report.smallest->graph.inputs().empty();
  if (has_inputs) os << ", on the inputs in " << InputsPath(request.out);
  os << '\n';
  report.json["smallest"] =
      llvm::json::Object{{"file", request.out},
                         {"inputs", has_inputs ? InputsPath(request.out) : std::string()},
                         {"calls", static_cast<int64_t>(calls)}};
  return llvm::Error::success();
}

/// A network that was loaded and fed. `keeps_precision`: reduced precision is left to its runs.
struct Opened {
  Side side;
  FedNetwork fed;
};

llvm::Expected<std::unique_ptr<Opened>> OpenLowered(llvm::StringRef path, BisectRequest& request,
                                                    bool keeps_precision) {
  auto opened = std::make_unique<Opened>();
  Side& side = opened->side;
  side.path = path.str();
  side.options = request.common;
  if (llvm::Error error = Open(side)) return error;
  if (llvm::Error error = FeedOne(request.inputs, side)) return error;
  llvm::Expected<FedNetwork> fed = ToFedNetwork(side);
  if (!fed) return fed.takeError();
  if (llvm::Error error = CheckOnly(request.only, *fed, path)) return error;
  // The reduced precision is a pass, too.
  const DType precision = fed->precision;
  if (keeps_precision) fed->precision = DType::kF32;
  llvm::Expected<FedNetwork> lowered = Lowered(*fed, SetupOf(side));
  if (!lowered) return lowered.takeError();
  opened->fed = std::move(*lowered);
  if (keeps_precision) opened->fed.precision = precision;
  return opened;
}

}  // namespace

llvm::Expected<std::optional<BisectReport>> BisectVersions(llvm::StringRef good,
                                                           llvm::StringRef bad,
                                                           BisectRequest& request) {
  Side first, second;
  first.path = good.str();
  second.path = bad.str();
  first.options = second.options = request.common;
  for (Side* side : {&first, &second})
    if (llvm::Error error = Open(*side)) return error;
  if (llvm::Error error = CheckInputs(first, second)) return error;
  if (llvm::Error error = FeedBoth(request.inputs, nullptr, first, second)) return error;
  llvm::Expected<FedNetwork> a = ToFedNetwork(first);
  if (!a) return a.takeError();
  llvm::Expected<FedNetwork> b = ToFedNetwork(second);
  if (!b) return b.takeError();
  if (llvm::Error error = CheckOnly(request.only, *a, first.path)) return error;
  if (llvm::Error error = CheckOnly(request.only, *b, second.path)) return error;
  if (request.only.empty())
    if (llvm::Error error = CheckOutputs(*a, first.path, *b, second.path)) return error;
  const RunSetup setup = SetupOf(first);
  auto finding = SearchVersions(*a, *b, request.only, request.tolerance, setup, request.common);
  if (!finding) return finding.takeError();
  if (!*finding) return std::nullopt;
  VersionFinding& found = **finding;
  BisectReport report;
  llvm::raw_string_ostream os(report.text);
  os << "output " << found.output << ' ' << HowWrong(found.not_finite) << " because of "
     << found.causes.size() << " of " << Counted(found.changes.size(), "change") << " ("
     << Counted(found.runs, "run") << "):\n";
  llvm::json::Array causes;
  for (const size_t cause : found.causes) {
    const VersionChange& change = found.changes[cause];
    PrintCause(os, change);
    llvm::json::Object object = ToJson(change.difference);
    object["good_place"] = change.good_place;
    object["bad_place"] = change.bad_place;
    llvm::json::Array added;
    for (const auto& [difference, place] : change.added) {
      added.push_back(ToJson(difference));
      (*added.back().getAsObject())["place"] = place;
    }
    object["new"] = std::move(added);
    causes.push_back(std::move(object));
  }
  const std::string titles[] = {first.path, first.path + " with the changes"};
  PrintFirstDifference(os, found.first, titles);
  report.json = llvm::json::Object{{"output", found.output},
                                   {"not_finite", found.not_finite},
                                   {"changes", static_cast<int64_t>(found.changes.size())},
                                   {"causes", std::move(causes)},
                                   {"first_difference", pdl::ToJson(found.first)},
                                   {"runs", static_cast<int64_t>(found.runs)}};
  report.smallest = std::move(found.smallest);
  const Criterion criterion{request.tolerance, found.not_finite};
  if (llvm::Error error = Write(
          request, setup,
          [&](const FedNetwork& fed) { return ShowsWrongOutput(fed, setup, criterion); }, report))
    return error;
  return report;
}

llvm::Expected<std::optional<BisectReport>> BisectPasses(llvm::StringRef path,
                                                         BisectRequest& request) {
  auto opened = OpenLowered(path, request, /*keeps_precision=*/true);
  if (!opened) return opened.takeError();
  const Side& side = (*opened)->side;
  const RunSetup setup = SetupOf(side);
  auto finding =
      SearchPasses((*opened)->fed, request.suspects, request.only, request.tolerance, setup);
  if (!finding) return finding.takeError();
  if (!*finding) return std::nullopt;
  PassFinding& found = **finding;
  BisectReport report;
  llvm::raw_string_ostream os(report.text);
  os << "output " << found.output << ' ' << HowWrong(found.not_finite) << " because of the pass "
     << found.step.name << ", which " << found.step.description << " ("
     << Counted(found.runs, "run") << ")\n";
  const std::string titles[] = {side.path + " without " + found.step.name.str(),
                                side.path + " with " + found.step.name.str()};
  PrintFirstDifference(os, found.first, titles);
  report.json = llvm::json::Object{{"output", found.output},
                                   {"not_finite", found.not_finite},
                                   {"pass", found.step.name},
                                   {"first_difference", pdl::ToJson(found.first)},
                                   {"runs", static_cast<int64_t>(found.runs)}};
  report.smallest = std::move(found.smallest);
  const auto shows = [&](const FedNetwork& part) {
    return ShowsWrongPass(part, found, request.suspects, request.tolerance, setup);
  };
  if (llvm::Error error = Write(request, setup, shows, report)) return error;
  return report;
}

llvm::Expected<std::optional<BisectReport>> BisectFinite(llvm::StringRef path,
                                                         BisectRequest& request) {
  auto opened = OpenLowered(path, request, /*keeps_precision=*/false);
  if (!opened) return opened.takeError();
  const RunSetup setup = SetupOf((*opened)->side);
  auto finding = SearchNotFinite((*opened)->fed, setup);
  if (!finding) return finding.takeError();
  if (!*finding) return std::nullopt;
  BisectReport report;
  report.text = (*finding)->message + "\n";
  report.json = llvm::json::Object{{"value", (*finding)->value}, {"message", (*finding)->message}};
  report.smallest = std::move((*finding)->smallest);
  const auto shows = [&](const FedNetwork& part) { return ShowsNotFinite(part, setup); };
  if (llvm::Error error = Write(request, setup, shows, report)) return error;
  return report;
}

}  // namespace pdl
