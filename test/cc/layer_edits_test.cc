// What layers promise of a network as a whole: names of parameters that edits elsewhere leave alone,
// and a Plan that is the same as if they were written out.
#include <map>
#include <regex>

#include "llvm/ADT/StringExtras.h"
#include "network_testing.h"
#include "pdl/layers.h"

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

/// Parameters and states with their types, but for those below `without`.
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
/// Each assigns a value of type f32[N, 8] to a name of its own, or makes an instance.
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
  EXPECT_EQ(variables.size(), 46u);
  for (const char* name :
       {"stem.w", "word.table", "sum.fc.w", "sum.fc_2.w", "a.y.w", "a.fc.b", "b.layer_norm.gamma",
        "b.y.w", "tower.x.0.w", "tower.x.1.b", "right.residual.body.w", "deep.2.fc.w",
        "deep.batch_norm.0.mean"}) {
    EXPECT_TRUE(variables.count(name)) << name;
  }
}

TEST(LayerEdits, AnAddedCallRenamesNothing) {
  const auto before = Variables(Network(kStatements));
  for (size_t place = 0; place <= kStatements.size(); ++place) {
    for (const char* statement :
         {"new = fc(x, size=8)", "new = x |> block(wide=2) |> fc(size=3)",
          "layer new = fc(size=2)\nused = new(x)", "for i in 0..2 { new = layer_norm(fc(x, size=2)) }"}) {
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
    const std::string text = std::regex_replace(Network(kStatements),
                                                std::regex("\\b" + name + "\\b"), name + "_new");
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

/// A plan with its names replaced by numbers in the order in which they come, without places.
std::string Unnamed(const std::string& plan) {
  static const std::regex kPlace("  # .*");
  static const std::regex kName("[A-Za-z_][A-Za-z_0-9.]*");
  std::map<std::string, std::string> numbers;
  std::string text;
  for (llvm::StringRef line : llvm::split(plan, '\n')) {
    const std::string bare = std::regex_replace(line.str(), kPlace, "");
    std::sregex_iterator it(bare.begin(), bare.end(), kName), end;
    size_t done = 0;
    for (; it != end; ++it) {
      const size_t at = static_cast<size_t>(it->position());
      text += bare.substr(done, at - done);
      done = at + it->str().size();
      // Dtypes, operators and the words of the plan are no names of values.
      const bool is_name = numbers.count(it->str()) != 0 || it->str().find('.') != std::string::npos ||
                           it->str().find('_') != std::string::npos || it->str().size() == 1;
      if (!is_name || bare.substr(done, 1) == "(") {
        text += it->str();
        continue;
      }
      auto [entry, is_new] =
          numbers.try_emplace(it->str(), "v" + std::to_string(numbers.size()));
      text += entry->second;
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
  auto network = pdl::Value(Network::Create(std::move(*graph), {}, GlobalRegistry()));
  return pdl::Value(network->DescribePlan(&context, options, {{"N", 32}}));
}

}  // namespace
}  // namespace pdl
