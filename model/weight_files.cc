// The weights of networks: files that networks refer to, and files that users give.
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "pdl/compiler/load.h"
#include "pdl/op/error.h"
#include "pdl/op/tensor.h"

namespace pdl {

llvm::Expected<const WeightSource*> WeightFiles::Open(llvm::StringRef file) {
  auto opened = opened_.find(file);
  if (opened == opened_.end()) {
    llvm::Expected<WeightSource> source = WeightSource::OpenInFolder(folder_, file);
    if (!source) {
      unreadable_.insert(file);
      return source.takeError();
    }
    opened = opened_.try_emplace(file, std::move(*source)).first;
  }
  return &opened->second;
}

WeightOpener WeightFiles::Opener() {
  return [this](llvm::StringRef file) -> llvm::Expected<const WeightListing*> {
    llvm::Expected<const WeightSource*> source = Open(file);
    if (!source) return source.takeError();
    return &(*source)->listing();
  };
}

llvm::Expected<WeightFiles::Found> WeightFiles::Find(llvm::StringRef file, llvm::StringRef tensor) {
  llvm::Expected<const WeightSource*> source = Open(file);
  if (!source) return source.takeError();
  const WeightListing& listing = (*source)->listing();
  const WeightEntry* entry = listing.Find(tensor);
  if (entry == nullptr) {
    std::vector<llvm::StringRef> names;
    for (const WeightEntry& each : listing.entries) names.push_back(each.name);
    return MakeUserError(Code::kWeightMismatch, "\"{0}\" has no tensor '{1}'{2}", file, tensor,
                         DidYouMean(tensor, names));
  }
  llvm::SmallString<256> path(folder_), real;
  llvm::sys::path::append(path, entry->file);
  if (std::error_code code = llvm::sys::fs::real_path(path, real))
    return MakeUserError(Code::kBadFile, "cannot read '{0}': {1}", path, code.message());
  const SafetensorsFile* tensors = (*source)->FileOf(*entry);
  return Found{tensors, tensors->Find(tensor), real.str().str()};
}

llvm::Expected<WeightFiles::Found> FindWeight(const Value& variable, WeightFiles& files) {
  const WeightRef& weight = *variable.variable().weight;
  llvm::Expected<WeightFiles::Found> found = files.Find(weight.file, weight.tensor);
  if (!found) return found.takeError();
  const SafetensorsFile::Entry& entry = *found->entry;
  if (!FitsWeight(variable.type(), weight, entry.dtype, entry.sizes)) {
    return MakeUserError(Code::kWeightMismatch, "'{0}' in \"{1}\" is {2}, but '{3}' is {4}",
                         entry.name, weight.file, TensorTypeToString(entry.dtype, entry.sizes),
                         variable.name(), variable.type().ToString());
  }
  if (!weight.sha256.empty() && weight.sha256 != Sha256(found->file->Read(entry))) {
    return MakeUserError(
        Code::kWeightMismatch,
        "'{0}' in \"{1}\" has changed since '{2}' was compiled (its SHA-256 differs)",
        weight.tensor, weight.file, variable.name());
  }
  return found;
}

llvm::Error GivenWeights::AddTo(llvm::StringMap<Constant>* weights) const {
  for (const WeightMatch& match : matches) {
    llvm::Expected<Constant> value = source.Read(match);
    if (!value) return value.takeError();
    (*weights)[match.value->name()] = std::move(*value);
  }
  return llvm::Error::success();
}

llvm::Expected<GivenWeights> MatchGivenWeights(WeightSource source, const WeightRules& rules,
                                               const Graph& graph, Diagnostics* warnings,
                                               WeightRuleForm form) {
  std::vector<WeightTarget> targets;
  for (Value* variable : Variables(graph)) targets.push_back({variable, variable->name()});
  GivenWeights given{std::move(source), {}};
  const std::string& name = given.source.name();
  const WeightListing& listing = given.source.listing();
  llvm::Expected<WeightMatches> matches = MatchWeights(listing, rules, graph, targets, form);
  if (!matches) return matches.takeError();
  if (const WeightReport report = DescribeProblems(*matches, name); !report.empty()) {
    Diagnostics problems;
    Diagnostic& problem = problems.Error(Code::kWeightMismatch, nullptr, {}, report.message);
    for (const std::string& note : report.notes) problem.Note(note);
    return llvm::make_error<SourceErrors>(std::move(problems));
  }
  given.matches = std::move(matches->found);
  const bool skips_unused = listing.is_checkpoint && !given.matches.empty();
  const WeightReport unused =
      DescribeUnused(matches->unused, listing.entries.size(), name, rules.partial);
  if (!unused.empty() && !skips_unused) {
    if (rules.partial)
      warnings->Note(Code::kWeightMismatch, nullptr, {}, unused.message);
    else
      warnings->Warning(Code::kWeightMismatch, nullptr, {}, unused.message);
  }
  llvm::erase_if(matches->missing_states,
                 [&](const Value* state) { return IsOfTraining(graph, *state); });
  const WeightReport missing = DescribeMissingStates(matches->missing_states, name);
  if (!missing.empty() && !rules.partial)
    warnings->Warning(Code::kWeightMismatch, nullptr, {}, missing.message);
  return given;
}

llvm::Expected<GivenWeights> OpenGivenWeights(llvm::StringRef path, const WeightRules& rules,
                                              const Graph& graph, Diagnostics* warnings,
                                              WeightRuleForm form) {
  llvm::Expected<WeightSource> source = WeightSource::Open(path);
  if (!source) return source.takeError();
  return MatchGivenWeights(std::move(*source), rules, graph, warnings, form);
}

bool IsOfTraining(const Graph& graph, const Value& variable) {
  if (variable.kind() != ValueKind::kState) return false;
  if (!graph.trainings().empty() && variable.name() == "step" &&
      variable.type() == Type(DType::kI64, {}))
    return true;
  return llvm::any_of(graph.trainings(), [&](const GraphTraining& training) {
    return llvm::any_of(training.updates,
                        [&](const GraphUpdate& update) { return update.state == &variable; });
  });
}

std::vector<Value*> Variables(const Graph& graph) {
  std::vector<Value*> all = graph.parameters().vec();
  all.insert(all.end(), graph.states().begin(), graph.states().end());
  return all;
}

}  // namespace pdl
