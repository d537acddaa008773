#include "frontend/elaborate/weight_loads.h"

#include "frontend/elaborate/load_calls.h"
#include "frontend/elaborate/parameter_names.h"
#include "frontend/elaborate/reporter.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/op/error.h"

namespace pdl {

void WeightLoads::ElaborateLoads() {
  loaded_.clear();
  for (const PendingLoad& load : pending_loads_) {
    TextFrame frame;
    frame.module = load.module;
    frame.path = load.path;
    FrameScope scope(&at_, load.module->ast == &ast_ ? at_.frame : &frame);
    ElaborateLoad(load.statement, load.module, load.path);
  }
  ReportUnused();
}

struct WeightLoads::Target {
  llvm::StringRef text;  // that names it, or the file
  SourceRange place;
  std::vector<std::string> prefixes;  // of the names of its parameters

  const std::string* PrefixOf(llvm::StringRef name) const {
    for (const std::string& prefix : prefixes)
      if (name.starts_with(prefix)) return &prefix;
    return nullptr;
  }
};

WeightLoads::Target WeightLoads::ReadTarget(const ast::LoadStatement* statement,
                                            llvm::StringRef path) {
  Target target;
  target.place = statement->path.range;
  target.prefixes = {path.str()};
  if (!statement->into.empty()) {
    target.place = {statement->into.front().range.begin, statement->into.back().range.end};
    std::string name;
    for (const ast::Identifier& part : statement->into)
      name += (name.empty() ? "" : ".") + part.text.str();
    target.prefixes = parameter_names_.PathPrefixesOf(name);
    for (std::string& prefix : target.prefixes) prefix += ".";
  }
  target.text = at_.file->Text(target.place);
  return target;
}

void WeightLoads::ElaborateLoad(const ast::LoadStatement* statement, Module* module,
                                llvm::StringRef path) {
  const std::string file = module->folder + statement->path.value.str();
  if (!load_calls_.CheckName(statement->path.range, statement->path.value, file, "file")) return;
  const Target target = ReadTarget(statement, path);
  WeightRules rules;
  if (statement->with != nullptr) {
    std::optional<WeightRules> given = load_calls_.ReadRules(statement->with);
    if (!given) return;
    rules = std::move(*given);
  }
  std::vector<WeightTarget> targets;
  auto add = [&](Value* value) {
    const std::string* prefix = target.PrefixOf(value->name());
    if (prefix == nullptr) return;
    targets.push_back({value, llvm::StringRef(value->name()).drop_front(prefix->size())});
  };
  for (Value* parameter : graph_.parameters()) add(parameter);
  for (Value* state : graph_.states()) {
    // A state whose sizes depend on the run has no tensor that always fits.
    if (state->name() != "step" && state->type().has_constant_dims()) add(state);
  }
  if (!targets.empty()) return LoadTargets(statement, file, rules, targets);
  if (report_.diagnostics().has_errors()) return;  // the calls that create them may have failed
  report_.Error(Code::kUnknownName, target.place,
                statement->into.empty() ? llvm::Twine("there are no parameters to load")
                                        : "there are no parameters below '" + target.text + "'");
}

void WeightLoads::LoadTargets(const ast::LoadStatement* statement, const std::string& file,
                              const WeightRules& rules, llvm::ArrayRef<WeightTarget> targets) {
  if (!request_.open_weights) {
    for (const WeightTarget& target : targets)
      target.value->variable().LoadFrom({file, target.name.str(), "", rules.cast, false});
    return;
  }
  const SourceRange place = statement->path.range;
  llvm::Expected<const WeightListing*> listing = request_.open_weights(file);
  if (!listing) return report_.ReportFileError(listing.takeError(), place);
  llvm::Expected<WeightMatches> matches = MatchWeights(**listing, rules, graph_, targets);
  if (!matches) return report_.ReportFileError(matches.takeError(), statement->with->range);
  if (const WeightReport report = DescribeProblems(*matches, statement->path.value);
      !report.empty()) {
    Diagnostic& diagnostic = report_.Error(Code::kWeightMismatch, place, report.message);
    for (const std::string& note : report.notes) diagnostic.Note(note);
    return;
  }
  for (const WeightMatch& match : matches->found) match.value->variable().LoadFrom(match.ToRef());
  const WeightReport missing =
      DescribeMissingStates(matches->missing_states, statement->path.value);
  if (!missing.empty() && !rules.partial)
    report_.diagnostics().Warning(Code::kWeightMismatch, at_.file, place, missing.message);
  const bool is_known =
      llvm::any_of(loaded_, [&](const auto& other) { return other.file == file; });
  if (!is_known && !(*listing)->is_checkpoint)
    loaded_.push_back({file, *listing, at_.file, place, rules.partial, std::move(matches->unused)});
}

void WeightLoads::ReportUnused() {
  // Several statements may load parts of one file, and initializers single tensors.
  llvm::DenseSet<std::pair<llvm::StringRef, llvm::StringRef>> used;
  for (llvm::ArrayRef<Value*> all : {graph_.parameters(), graph_.states()})
    for (const Value* value : all)
      if (const auto& weight = value->variable().weight)
        used.insert({weight->file, weight->tensor});
  for (LoadedFile& loaded : loaded_) {
    llvm::erase_if(loaded.unused, [&](const WeightEntry* entry) {
      return used.contains({entry->file, entry->name});
    });
    const WeightReport report =
        DescribeUnused(loaded.unused, loaded.listing->entries.size(),
                       loaded.text->Text(loaded.place).trim('"'), loaded.partial);
    if (report.empty()) continue;
    Diagnostics& diagnostics = report_.diagnostics();
    if (loaded.partial)
      diagnostics.Note(Code::kWeightMismatch, loaded.text, loaded.place, report.message);
    else
      diagnostics.Warning(Code::kWeightMismatch, loaded.text, loaded.place, report.message);
  }
}

}  // namespace pdl
