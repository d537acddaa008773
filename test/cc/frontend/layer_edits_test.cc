// Properties of layers in a complete network: edits elsewhere do not change names of parameters,
// and the Plan is the same as without layers.
#include <map>
#include <regex>

#include "llvm/ADT/StringExtras.h"
#include "pdl/compiler/layers.h"
#include "test/cc/testing/network_testing.h"

namespace pdl {
namespace {

std::optional<Graph> CompileText(const std::string& text) {
  CompileRequest request;
  request.file = std::make_shared<SourceFile>("m.pdl", text);
  request.registry = &GlobalRegistry();
  request.library = StandardLayers();
  CompileResult result = Compile(request);
  if (!result.graph) {
    std::string mistakes;
    llvm::raw_string_ostream os(mistakes);
    result.diagnostics.Render(os);
    ADD_FAILURE() << mistakes << text;
  }
  return std::move(result.graph);
}

/// Parameters and states with their types, except those below `without`.
std::map<std::string, std::string> Variables(const std::string& text,
                                             const std::string& without = "") {
  std::map<std::string, std::string> found;
  const std::optional<Graph> graph = CompileText(text);
  if (!graph) return found;
  auto add = [&](const auto& values) {
    for (const auto* value : values) {
      const std::string& name = value->name();
      if (without.empty() || !llvm::StringRef(name).starts_with(without + "."))
        found[name] = value->type().ToString();
    }
  };
  add(graph->parameters());
  add(graph->states());
  return found;
}

// ---------------------------------------------------------------------------------------------
// Edits

const std::vector<std::string> kHead = {
    "input x: f32[N, 8]",
    "input ids: i64[N] in 0..100",
    "layer block(x: F[N, D], wide: int > 0) {\n"
    "  y = fc(x, size=wide, act=\"relu\")\n"
    "  return x + fc(y, size=D)\n"
    "}",
};
/// Each statement assigns a value of type f32[N, 8] to a new name, or makes an instance.
const std::vector<std::pair<std::string, std::string>> kStatements = {
    {"stem", "stem = fc(x, size=8, act=relu())"},
    {"word", "word = embedding(ids, size=8)"},
    {"sum", "sum = relu(stem + fc(word, size=8)) + fc(x, size=8)"},
    {"a", "a = block(sum, wide=16)"},
    {"b", "b = a |> layer_norm() |> block(wide=4)"},
    {"tower", "layer tower = mlp(widths=[16, 8])"},
    {"left", "left = tower(a)"},
    {"right", "right = tower(b) + residual(b, body=fc(size=8))"},
    {"deep", "deep = left\nfor i in 0..3 { deep = deep |> batch_norm() |> block(wide=2) }"},
};

std::string Network(llvm::ArrayRef<std::pair<std::string, std::string>> statements) {
  std::string text = llvm::join(kHead, "\n") + "\n";
  for (const auto& [name, statement] : statements) text += statement + "\n";
  return text + "output right, deep\n";
}

TEST(LayerEdits, TheExampleHasParametersOfEveryKind) {
  const auto variables = Variables(Network(kStatements));
  EXPECT_EQ(variables.size(), 47u);
  for (const char* name : {"stem.w", "word.table", "sum.fc.w", "sum.fc_2.w", "a.y.w", "a.fc.b",
                           "b.layer_norm.gamma", "b.y.w", "tower.x.0.w", "tower.x.1.b",
                           "right.residual.body.w", "deep.2.fc.w", "deep.2.batch_norm.mean"}) {
    EXPECT_TRUE(variables.count(name)) << name;
  }
}

TEST(LayerEdits, AnAddedCallRenamesNothing) {
  const auto before = Variables(Network(kStatements));
  for (size_t place = 0; place <= kStatements.size(); ++place) {
    for (const char* statement : {"new = fc(x, size=8)", "new = x |> block(wide=2) |> fc(size=3)",
                                  "layer new = fc(size=2)\nused = new(x)",
                                  "for i in 0..2 { new = layer_norm(fc(x, size=2)) }"}) {
      auto edited = kStatements;
      edited.insert(edited.begin() + static_cast<ptrdiff_t>(place), {"new", statement});
      const std::string text = Network(edited);
      EXPECT_EQ(Variables(text, "new"), before) << text;
    }
  }
}

TEST(LayerEdits, ARemovedCallRenamesNothing) {
  for (size_t place = 0; place < kStatements.size(); ++place) {
    auto edited = kStatements;
    const std::string name = edited[place].first;
    edited[place].second = edited[place].second.substr(0, 6) == "layer "
                               ? "layer " + name + " = relu()"
                               : name + " = x";
    EXPECT_EQ(Variables(Network(edited), name), Variables(Network(kStatements), name)) << name;
  }
}

TEST(LayerEdits, ARenamedCallRenamesItsOwnOnly) {
  for (const auto& [name, statement] : kStatements) {
    const std::string text =
        std::regex_replace(Network(kStatements), std::regex("\\b" + name + "\\b"), name + "_new");
    EXPECT_EQ(Variables(text, name + "_new"), Variables(Network(kStatements), name)) << text;
    EXPECT_EQ(Variables(text).size(), Variables(Network(kStatements)).size());
  }
}

TEST(LayerEdits, AnEditInsideALayerStaysBelowItsName) {
  std::string text = Network(kStatements);
  const size_t place = text.find("  y = fc");
  text.insert(place, "  z = fc(x, size=3)\n");
  auto after = Variables(text);
  const auto before = Variables(Network(kStatements));
  for (const auto& [name, type] : before) {
    EXPECT_EQ(after[name], type) << name;
    after.erase(name);
  }
  // Two for each call of the block.
  EXPECT_EQ(after.size(), 10u);
  for (const auto& [name, type] : after) EXPECT_NE(name.find(".z."), std::string::npos) << name;
}

// ---------------------------------------------------------------------------------------------
// Plans

/// A plan with the names of values replaced by numbers in order of appearance, without source
/// locations.
std::string Unnamed(const std::string& plan) {
  // Source locations, and names that are aliases.
  static const std::regex kApart("  # .*|(output|select) [^ ]+");
  static const std::regex kDeclared("^ *(?:-> |(?:input|param|state|constant) )([^ :]+):");
  static const std::regex kComputed("^ *(?:[0-9]+  )?([^ ]+(?:, [^ ]+)*) = [a-z_0-9]+\\(");
  static const std::regex kWord("[A-Za-z_][A-Za-z_0-9.]*");
  std::map<std::string, std::string> numbers;
  auto number = [&](const std::string& name) {
    numbers.try_emplace(name, "v" + std::to_string(numbers.size()));
  };
  std::string text;
  for (llvm::StringRef line : llvm::split(plan, '\n')) {
    const std::string bare = std::regex_replace(line.str(), kApart, "$1");
    std::smatch match;
    if (std::regex_search(bare, match, kDeclared)) number(match[1]);
    if (std::regex_search(bare, match, kComputed)) {
      const std::string names = match[1];
      for (llvm::StringRef name : llvm::split(names, ", ")) number(name.str());
    }
    size_t done = 0;
    for (std::sregex_iterator it(bare.begin(), bare.end(), kWord), end; it != end; ++it) {
      const auto at = static_cast<size_t>(it->position());
      text += bare.substr(done, at - done);
      done = at + it->str().size();
      const auto known = numbers.find(it->str());
      text += known == numbers.end() || bare[done] == '(' ? it->str() : known->second;
    }
    text += bare.substr(done) + "\n";
  }
  return text;
}

std::string PlanOf(const std::string& text, bool training) {
  std::optional<Graph> graph = CompileText(text);
  if (!graph) return "";
  CPUContext context(1);
  RunOptions options;
  options.training = training;
  auto network = Unwrap(Network::Create(std::move(*graph), {}, GlobalRegistry()));
  llvm::StringMap<int64_t> sizes;
  sizes["N"] = 32;
  return Unwrap(network->DescribePlan(&context, options, sizes));
}

/// Source with and without layers has the same Plan.
void ExpectSamePlan(const std::string& layers, const std::string& flat) {
  for (bool training : {false, true}) {
    const std::string plan = PlanOf(layers, training);
    EXPECT_EQ(Unnamed(plan), Unnamed(PlanOf(flat, training))) << plan;
    EXPECT_NE(plan.find("matmul"), std::string::npos);
  }
  // The same for the emitted source of the graph.
  const std::optional<Graph> graph = CompileText(layers);
  ASSERT_TRUE(graph);
  for (bool training : {false, true})
    EXPECT_EQ(Unnamed(PlanOf(layers, training)), Unnamed(PlanOf(EmitPdl(*graph), training)));
}

TEST(LayerPlans, FullyConnectedLayers) {
  ExpectSamePlan(R"(
input x: f32[N, 8]
hidden = fc(x, size=4, act="relu")
sides = residual(hidden, body=fc(size=4))
result = mlp(sides, widths=[6, 2], act=tanh())
output result
)",
                 R"(
input x: f32[N, 8]
param w1: f32[8, 4] = xavier_uniform()
param b1: f32[4] = zeros()
param w2: f32[4, 4] = xavier_uniform()
param b2: f32[4] = zeros()
param w3: f32[4, 6] = xavier_uniform()
param b3: f32[6] = zeros()
param w4: f32[6, 2] = xavier_uniform()
param b4: f32[2] = zeros()
hidden = relu(x @ w1 + b1)
sides = hidden + (hidden @ w2 + b2)
third = tanh(sides @ w3 + b3)
result = third @ w4 + b4
output result
)");
}

TEST(LayerPlans, LoopsInstancesAndTraining) {
  ExpectSamePlan(R"(
input left: f32[N, 8]
input right: f32[N, 8]
layer block(x: F[N, D], p: float in 0..1) {
  return x + (x |> layer_norm() |> fc(size=D, act=relu()) |> dropout(p=p))
}
layer tower = block(p=0.25)
both = fc(tower(left), tower(right), size=8)
for i in 0..2 { both = block(both, p=0.5) }
output both
)",
                 R"(
input left: f32[N, 8]
input right: f32[N, 8]
param g1: f32[8] = ones()
param h1: f32[8] = zeros()
param w1: f32[8, 8] = xavier_uniform()
param b1: f32[8] = zeros()
l1 = relu(standardize(left, g1, h1) @ w1 + b1)
if training { l1 = where(uniform([N, 8]) >= 0.25, l1 / 0.75, 0) }
l2 = left + l1
r1 = relu(standardize(right, g1, h1) @ w1 + b1)
if training { r1 = where(uniform([N, 8]) >= 0.25, r1 / 0.75, 0) }
r2 = right + r1
param wl: f32[8, 8] = xavier_uniform()
param wr: f32[8, 8] = xavier_uniform()
param bb: f32[8] = zeros()
b0 = add_n(l2 @ wl, r2 @ wr) + bb
param g2: f32[8] = ones()
param h2: f32[8] = zeros()
param w2: f32[8, 8] = xavier_uniform()
param b2: f32[8] = zeros()
c1 = relu(standardize(b0, g2, h2) @ w2 + b2)
if training { c1 = where(uniform([N, 8]) >= 0.5, c1 / 0.5, 0) }
c2 = b0 + c1
param g3: f32[8] = ones()
param h3: f32[8] = zeros()
param w3: f32[8, 8] = xavier_uniform()
param b3: f32[8] = zeros()
d1 = relu(standardize(c2, g3, h3) @ w3 + b3)
if training { d1 = where(uniform([N, 8]) >= 0.5, d1 / 0.5, 0) }
d2 = c2 + d1
output d2
)");
}

}  // namespace
}  // namespace pdl
