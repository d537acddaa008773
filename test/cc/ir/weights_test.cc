#include "pdl/compiler/weights.h"

#include "gtest/gtest.h"
#include "test/cc/testing/elaborate_testing.h"

namespace pdl {
namespace {

WeightListing ListingOf(std::vector<WeightEntry> entries) {
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return {std::move(entries), false};
}

/// The result of matching: "parameter=tensor", with "cast" and "transpose"; the problems; "-
/// unused".
std::string Matched(const std::string& text, const WeightListing& listing,
                    const WeightRules& rules) {
  const Compiled compiled(text);
  EXPECT_TRUE(compiled.result.graph) << compiled.Messages();
  const Graph& graph = *compiled.result.graph;
  std::vector<WeightTarget> targets;
  for (Value* parameter : graph.parameters()) targets.push_back({parameter, parameter->name()});
  for (Value* state : graph.states()) targets.push_back({state, state->name()});
  llvm::Expected<WeightMatches> matches = MatchWeights(listing, rules, graph, targets);
  if (!matches) return llvm::toString(matches.takeError());
  std::string all;
  for (const WeightMatch& match : matches->found)
    all += match.value->name() + "=" + match.entry->name + (match.cast ? " cast" : "") +
           (match.transpose ? " transpose" : "") + "\n";
  for (const std::string& problem : matches->problems) all += problem + "\n";
  for (const Value* state : matches->missing_states) all += "state " + state->name() + "\n";
  for (const WeightEntry* entry : matches->unused) all += "- " + entry->name + "\n";
  return all;
}

constexpr char kText[] =
    "param a.w: f32[2, 3] = zeros()\nparam b.w: f32[3, 3] = zeros()\nstate s: f32[] = zeros()\n"
    "output y = a.w\noutput z = b.w\noutput t = s\n";

TEST(Weights, NamesAreMatched) {
  const WeightListing listing = ListingOf({{"a.w", "f", DType::kF32, {2, 3}},
                                           {"b.w", "f", DType::kF32, {3, 3}},
                                           {"c", "f", DType::kI64, {}},
                                           {"a.w.adam.m", "f", DType::kF32, {2, 3}},
                                           {"step", "f", DType::kI64, {}}});
  // Tensors that only training needs are not reported.
  EXPECT_EQ(Matched(kText, listing, {}), "a.w=a.w\nb.w=b.w\nstate s\n- c\n");
}

TEST(Weights, WholePartsOfNamesAreReplaced) {
  const WeightListing listing = ListingOf({{"m.layer.0.weight", "f", DType::kF32, {2, 3}},
                                           {"m.layer.1.weight", "f", DType::kF32, {3, 3}},
                                           {"m.layers.weight", "f", DType::kF32, {}}});
  WeightRules rules;
  rules.rename = {{"m", ""}, {"layer.0", "a"}, {"layer.1", "b"}, {"weight", "w"}};
  EXPECT_EQ(Matched(kText, listing, rules),
            "a.w=m.layer.0.weight\nb.w=m.layer.1.weight\nstate s\n- m.layers.weight\n");
  rules.rename.push_back({"lay", "x"});
  EXPECT_EQ(Matched(kText, listing, rules),
            "rename: no tensor has 'lay' in its name; the first is 'a.w' [PDL0411]");
  rules.rename = {{"layer.0", "b"}, {"layer.1", "b"}};
  EXPECT_EQ(Matched(kText, listing, rules),
            "rename: both 'm.layer.0.weight' and 'm.layer.1.weight' become 'm.b.weight' "
            "[PDL0411]");
  rules.rename = {{"", "b"}};
  EXPECT_EQ(Matched(kText, listing, rules), "rename: the name to be replaced is empty [PDL0411]");
}

TEST(Weights, NamesThatCannotBeStoredAreProblems) {
  const WeightListing listing = ListingOf({{"", "f", DType::kF32, {2, 3}},
                                           {"b\n", "f", DType::kF32, {3, 3}},
                                           {"s", "f\x1b", DType::kF32, {}}});
  WeightRules rules;
  rules.rename = {{"b\n", "b.w"}};
  EXPECT_EQ(Matched(kText, listing, rules),
            "the name of the tensor for 'b.w' is empty or has a control character\n"
            "the name of the file with the tensor for 's' is empty or has a control character\n"
            "'a.w' is missing: f32[2, 3]\n- \n");
}

TEST(Weights, ConversionsAreAskedFor) {
  const WeightListing listing =
      ListingOf({{"a.w", "f", DType::kBF16, {3, 2}}, {"b.w", "f", DType::kF32, {3, 3}}});
  EXPECT_EQ(Matched(kText, listing, {}),
            "b.w=b.w\n'a.w' is bf16[3, 2] in the file, and f32[2, 3] here; to transpose it: "
            "transpose=[\"a.w\"]\nstate s\n");
  WeightRules rules;
  rules.transpose = {"*.w", "!b.*"};
  EXPECT_EQ(Matched(kText, listing, rules),
            "b.w=b.w\n'a.w' is bf16[3, 2] before it is transposed in the file, and f32[2, 3] "
            "here; to convert it: cast=true\nstate s\n");
  rules.cast = true;
  EXPECT_EQ(Matched(kText, listing, rules), "a.w=a.w cast transpose\nb.w=b.w\nstate s\n");
  rules.transpose = {"*"};
  EXPECT_EQ(Matched(kText, listing, rules), "a.w=a.w cast transpose\nb.w=b.w transpose\nstate s\n");
  rules.transpose = {"nothing*"};
  EXPECT_EQ(Matched(kText, listing, rules),
            "transpose: no matrix has a name that matches 'nothing*' [PDL0411]");
  // Integers are not converted.
  const WeightListing integers =
      ListingOf({{"a.w", "f", DType::kI32, {2, 3}}, {"b.w", "f", DType::kF32, {3, 3}}});
  EXPECT_EQ(Matched(kText, integers, {true, false, {}, {}}),
            "b.w=b.w\n'a.w' is i32[2, 3] in the file, and f32[2, 3] here\nstate s\n");
}

TEST(Weights, MissingParametersHaveSimilarNames) {
  const WeightListing listing = ListingOf({{"a.v", "f", DType::kF32, {2, 3}}});
  EXPECT_EQ(Matched(kText, listing, {}),
            "'a.w' is missing: f32[2, 3]; did you mean 'a.v'?\n"
            "'b.w' is missing: f32[3, 3]\nstate s\n- a.v\n");
}

TEST(Weights, PatternsMatchWholeNames) {
  EXPECT_TRUE(MatchesPattern("a.b.weight", "*.weight"));
  EXPECT_TRUE(MatchesPattern("a.b.weight", "a.*.weight"));
  EXPECT_TRUE(MatchesPattern("aXbXc", "a*X*c"));
  EXPECT_TRUE(MatchesPattern("", "*"));
  EXPECT_FALSE(MatchesPattern("a.weights", "*.weight"));
  EXPECT_FALSE(MatchesPattern("a.b", "a"));
  EXPECT_FALSE(MatchesPattern("", "a"));
  // Many stars take no exponential time.
  EXPECT_FALSE(MatchesPattern(std::string(2000, 'a'), "*a*a*a*a*a*a*a*a*a*b"));
}

TEST(Weights, RulesAsTexts) {
  WeightRules rules;
  auto set = [&](llvm::StringRef name, llvm::StringRef text) {
    return llvm::toString(SetWeightRule(&rules, name, text));
  };
  EXPECT_EQ(set("cast", "true"), "");
  EXPECT_EQ(set("rename", "a.b:c"), "");
  EXPECT_EQ(set("rename", "d:"), "");
  EXPECT_EQ(set("transpose", "*.weight"), "");
  EXPECT_TRUE(rules.cast);
  EXPECT_EQ(rules.rename.back().second, "");
  EXPECT_EQ(set("cast", "yes"), "cast is true or false, got 'yes' [PDL0411]");
  EXPECT_EQ(set("rename", "a"), "rename is written FROM:TO, got 'a' [PDL0411]");
  EXPECT_EQ(set("transpose", ""), "transpose: the pattern is empty [PDL0411]");
  EXPECT_EQ(set("transposed", "x"),
            "loading weights has no option 'transposed'; did you mean 'transpose'? [PDL0411]");
}

}  // namespace
}  // namespace pdl
