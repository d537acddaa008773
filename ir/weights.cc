#include "pdl/compiler/weights.h"

#include <optional>

#include "ir/names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "pdl/op/error.h"

namespace pdl {
namespace {

constexpr size_t kShown = 20;

/// `name` with all occurrences of the parts `from` replaced by `to`.
std::string ReplaceParts(llvm::StringRef name, llvm::StringRef from, llvm::StringRef to) {
  std::string result;
  auto append = [&](llvm::StringRef parts) {
    if (parts.empty()) return;
    if (!result.empty()) result += '.';
    result += parts;
  };
  while (!name.empty()) {
    llvm::StringRef rest = name;
    if (rest.consume_front(from) && (rest.empty() || rest.starts_with("."))) {
      append(to);
      name = rest.drop_front(rest.empty() ? 0 : 1);
      continue;
    }
    const auto [part, after] = name.split('.');
    append(part);
    name = after;
  }
  return result;
}

Type StoredType(const WeightEntry& entry) {
  return Type(entry.dtype, Shape(entry.sizes.begin(), entry.sizes.end()));
}

class Matcher {
 public:
  Matcher(const WeightListing& listing, const WeightRules& rules, const Graph& graph,
          WeightRuleForm form)
      : listing_(listing), rules_(rules), graph_(graph), form_(form) {}

  llvm::Expected<WeightMatches> Match(llvm::ArrayRef<WeightTarget> targets) {
    if (llvm::Error error = Rename()) return error;
    if (llvm::Error error = ReadPatterns()) return error;
    std::vector<const WeightTarget*> missing;
    std::vector<bool> is_used(listing_.entries.size());
    for (const WeightTarget& target : targets) {
      std::optional<size_t> entry = Find(target.value->name());
      if (!entry) entry = Find(target.name);
      if (entry) {
        is_used[*entry] = true;
        Check(target, *entry);
      } else if (target.value->kind() == ValueKind::kState) {
        if (target.value->variable().copy_of.empty())
          matches_.missing_states.push_back(target.value);
      } else if (!target.value->variable().weight) {
        missing.push_back(&target);
      }
    }
    std::vector<llvm::StringRef> unused;
    for (size_t i = 0; i < is_used.size(); ++i) {
      if (is_used[i] || IsNameOfTraining(names_[i], graph_)) continue;
      matches_.unused.push_back(&listing_.entries[i]);
      unused.push_back(names_[i]);
    }
    for (const auto& [i, target] : llvm::enumerate(missing)) {
      // Similar names take time, and are shown for the first problems only.
      matches_.problems.push_back("'" + target->name.str() +
                                  "' is missing: " + target->value->type().ToString() +
                                  (i < kShown ? DidYouMean(target->name, unused) : ""));
    }
    if (!missing.empty() && !matches_.unused.empty()) DescribeRenaming();
    return std::move(matches_);
  }

 private:
  /// Fills `names_` and `by_name_`.
  llvm::Error Rename() {
    for (const WeightEntry& entry : listing_.entries) names_.push_back(entry.name);
    for (const auto& [from, to] : rules_.rename) {
      if (from.empty())
        return MakeUserError(Code::kWeightRule, "rename: the name to be replaced is empty");
      bool applies = false;
      for (std::string& name : names_) {
        std::string renamed = ReplaceParts(name, from, to);
        applies |= renamed != name || from == to;
        name = std::move(renamed);
      }
      if (!applies) {
        return MakeUserError(Code::kWeightRule, "rename: no tensor has '{0}' in its name{1}", from,
                             Some(names_));
      }
    }
    for (const auto& [i, name] : llvm::enumerate(names_)) {
      auto [other, is_new] = by_name_.try_emplace(name, i);
      if (is_new) continue;
      return MakeUserError(Code::kWeightRule, "rename: both '{0}' and '{1}' become '{2}'",
                           listing_.entries[other->second].name, listing_.entries[i].name, name);
    }
    return llvm::Error::success();
  }

  /// Fills `is_transposed_`.
  llvm::Error ReadPatterns() {
    is_transposed_.resize(listing_.entries.size());
    for (llvm::StringRef pattern : rules_.transpose) {
      const bool exempts = pattern.consume_front("!");
      bool applies = false;
      for (const auto& [i, entry] : llvm::enumerate(listing_.entries)) {
        if (entry.sizes.size() != 2 || !MatchesPattern(entry.name, pattern)) continue;
        is_transposed_[i] = !exempts;
        applies = true;
      }
      if (!applies) {
        return MakeUserError(Code::kWeightRule,
                             "transpose: no matrix has a name that matches '{0}'", pattern);
      }
    }
    return llvm::Error::success();
  }

  std::string Rule(llvm::StringRef as_argument, llvm::StringRef as_option) const {
    return form_ == WeightRuleForm::kArgument ? as_argument.str()
                                              : "--weights-with " + as_option.str();
  }

  void DescribeRenaming() {
    std::string& help = matches_.help;
    for (const WeightEntry* entry : llvm::ArrayRef(matches_.unused).take_front(kShown)) {
      help += help.empty() ? "not used: " : ", ";
      help += "'" + entry->name + "' " + StoredType(*entry).ToString();
    }
    if (matches_.unused.size() > kShown)
      help += llvm::formatv(" and {0} more", matches_.unused.size() - kShown).str();
    help += "; to change names: " + Rule("rename={\"FROM\": \"TO\"}", "rename=FROM:TO");
  }

  /// "; the first is 'a'": an example of the names.
  static std::string Some(llvm::ArrayRef<std::string> names) {
    return names.empty() ? "; there are no tensors" : "; the first is '" + names.front() + "'";
  }

  std::optional<size_t> Find(llvm::StringRef name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? std::nullopt : std::optional(found->second);
  }

  /// Adds the match, or the problem with its types.
  void Check(const WeightTarget& target, size_t index) {
    const WeightEntry& entry = listing_.entries[index];
    const bool is_tensor_named = IsWeightName(entry.name);
    if (!is_tensor_named || !IsWeightName(entry.file)) {
      matches_.problems.push_back((is_tensor_named ? "the name of the file with" : "the name of") +
                                  std::string(" the tensor for '") + target.value->name() +
                                  "' is empty or has a control character");
      return;
    }
    const Type& type = target.value->type();
    const bool transpose = is_transposed_[index];
    const bool same_sizes = HasSizesOf(type, entry.sizes, transpose);
    const bool is_cast = entry.dtype != type.dtype;
    const bool may_cast = IsFloat(entry.dtype) && IsFloat(type.dtype);
    if (same_sizes && (!is_cast || (rules_.cast && may_cast))) {
      matches_.found.push_back({target.value, &entry, is_cast, transpose});
      return;
    }
    std::string problem = "'" + entry.name + "' is " + StoredType(entry).ToString();
    if (transpose) problem += " before it is transposed";
    problem += entry.name == target.value->name()
                   ? " in the file, and " + type.ToString() + " here"
                   : " in the file, and '" + target.value->name() + "' is " + type.ToString();
    if (!same_sizes && type.rank() == 2 && HasSizesOf(type, entry.sizes, !transpose)) {
      problem += transpose ? "; exempt it from transpose: " +
                                 Rule("\"!" + entry.name + "\"", "'transpose=!" + entry.name + "'")
                           : "; to transpose it: " + Rule("transpose=[\"" + entry.name + "\"]",
                                                          "transpose=" + entry.name);
    } else if (same_sizes && may_cast) {
      problem += "; to convert it: " + Rule("cast=true", "cast=true");
    }
    matches_.problems.push_back(std::move(problem));
  }

  const WeightListing& listing_;
  const WeightRules& rules_;
  const Graph& graph_;
  const WeightRuleForm form_;
  std::vector<std::string> names_;  // of the entries, after renaming
  std::vector<bool> is_transposed_;
  llvm::StringMap<size_t> by_name_;
  WeightMatches matches_;
};

}  // namespace

bool IsNameOfTraining(llvm::StringRef tensor, const Graph& graph) {
  if (tensor == "step") return true;
  for (size_t dot = tensor.rfind('.'); dot != llvm::StringRef::npos; dot = tensor.rfind('.', dot)) {
    const Value* above = graph.FindValue(tensor.take_front(dot));
    if (above != nullptr && above->kind() == ValueKind::kParameter) return true;
    if (dot == 0) break;
  }
  return false;
}

bool MatchesPattern(llvm::StringRef name, llvm::StringRef pattern) {
  size_t at = 0, p = 0;
  std::optional<size_t> star;
  size_t resume = 0;
  while (at < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = at;
    } else if (p < pattern.size() && pattern[p] == name[at]) {
      ++p;
      ++at;
    } else if (star) {
      p = *star + 1;
      at = ++resume;
    } else {
      return false;
    }
  }
  return pattern.drop_front(p).find_first_not_of('*') == llvm::StringRef::npos;
}

const WeightEntry* WeightListing::Find(llvm::StringRef name) const {
  const auto found = llvm::lower_bound(
      entries, name, [](const WeightEntry& entry, llvm::StringRef n) { return entry.name < n; });
  return found != entries.end() && found->name == name ? &*found : nullptr;
}

llvm::Expected<WeightMatches> MatchWeights(const WeightListing& listing, const WeightRules& rules,
                                           const Graph& graph, llvm::ArrayRef<WeightTarget> targets,
                                           WeightRuleForm form) {
  return Matcher(listing, rules, graph, form).Match(targets);
}

llvm::Error SetWeightRule(WeightRules* rules, llvm::StringRef name, llvm::StringRef text) {
  if (name == "cast" || name == "partial") {
    if (text != "true" && text != "false")
      return MakeUserError(Code::kWeightRule, "{0} is true or false, got '{1}'", name, text);
    (name == "cast" ? rules->cast : rules->partial) = text == "true";
    return llvm::Error::success();
  }
  if (name == "rename") {
    const auto [from, to] = text.split(':');
    if (from.size() == text.size() || from.empty())
      return MakeUserError(Code::kWeightRule, "rename is written FROM:TO, got '{0}'", text);
    rules->rename.emplace_back(from.str(), to.str());
    return llvm::Error::success();
  }
  if (name == "transpose") {
    if (text.empty()) return MakeUserError(Code::kWeightRule, "transpose: the pattern is empty");
    rules->transpose.push_back(text.str());
    return llvm::Error::success();
  }
  return MakeUserError(Code::kWeightRule, "loading weights has no option '{0}'{1}", name,
                       DidYouMean(name, {"cast", "partial", "rename", "transpose"}));
}

WeightReport DescribeProblems(const WeightMatches& matches, llvm::StringRef file) {
  WeightReport report;
  const size_t count = matches.problems.size();
  if (count == 0) return report;
  report.message = llvm::formatv("{0} of {1} tensors do not fit \"{2}\"", count,
                                 count + matches.found.size(), file)
                       .str();
  report.notes.assign(matches.problems.begin(),
                      matches.problems.begin() + static_cast<ptrdiff_t>(std::min(count, kShown)));
  if (count > kShown) report.notes.push_back(llvm::formatv("and {0} more", count - kShown).str());
  if (!matches.help.empty()) report.notes.push_back(matches.help);
  return report;
}

WeightReport DescribeUnused(llvm::ArrayRef<const WeightEntry*> unused, size_t num_tensors,
                            llvm::StringRef file, bool partial) {
  if (unused.empty()) return {};
  if (partial) {
    const char* form = unused.size() == 1
                           ? "{0} of the {1} tensors of \"{2}\" is not used: '{3}'"
                           : "{0} of the {1} tensors of \"{2}\" are not used, the first is '{3}'";
    return {llvm::formatv(form, unused.size(), num_tensors, file, unused.front()->name).str(), {}};
  }
  std::string names;
  for (const WeightEntry* entry : unused.take_front(kShown))
    names += (names.empty() ? "" : ", ") + entry->name;
  if (unused.size() > kShown) names += llvm::formatv(" and {0} more", unused.size() - kShown).str();
  return {"in " + file.str() + ", but no parameter or state of the network: " + names, {}};
}

WeightReport DescribeMissingStates(llvm::ArrayRef<const Value*> states, llvm::StringRef file) {
  if (states.empty()) return {};
  std::string names;
  for (const Value* state : states.take_front(kShown))
    names += (names.empty() ? "" : ", ") + state->name();
  if (states.size() > kShown) names += llvm::formatv(" and {0} more", states.size() - kShown).str();
  return {"not in " + file.str() + ": these states get the initial values of the network: " + names,
          {}};
}

std::string WeightToString(const WeightRef& weight) {
  return "load(" + AttributeToString(weight.file) + ", " + AttributeToString(weight.tensor) +
         (weight.cast ? ", cast=true" : "") + (weight.transpose ? ", transpose=true" : "") + ")";
}

bool HasSizesOf(const Type& type, llvm::ArrayRef<int64_t> sizes, bool transpose) {
  const unsigned rank = type.rank();
  if (sizes.size() != rank || (transpose && rank != 2)) return false;
  for (unsigned axis = 0; axis < rank; ++axis) {
    const Dim& dim = type.dims[axis];
    if (dim.is_constant() && !dim.is_constant(sizes[transpose ? 1 - axis : axis])) return false;
  }
  return true;
}

bool FitsWeight(const Type& type, const WeightRef& ref, DType dtype,
                llvm::ArrayRef<int64_t> sizes) {
  const bool may_cast = ref.cast && IsFloat(dtype) && IsFloat(type.dtype);
  return (dtype == type.dtype || may_cast) && HasSizesOf(type, sizes, ref.transpose);
}

bool IsCopyable(const Type& source, const Type& copy) {
  const bool may_cast = IsFloat(source.dtype) && IsFloat(copy.dtype);
  return (source.dtype == copy.dtype || may_cast) && source.dims == copy.dims;
}

}  // namespace pdl
