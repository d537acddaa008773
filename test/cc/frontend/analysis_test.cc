// Facts about sources for editors.
#include "pdl/compiler/analysis.h"

#include <gtest/gtest.h>

#include <atomic>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "pdl/compiler/layers.h"
#include "pdl/op/error.h"

namespace pdl {
namespace {

/// A source, in which `$1` and so on mark positions, and its analysis.
class Source {
 public:
  explicit Source(llvm::StringRef marked, llvm::StringMap<std::string> files = {}) {
    std::string contents;
    for (size_t i = 0; i < marked.size(); ++i) {
      if (marked[i] == '$') {
        marks_[marked[++i] - '0'] = static_cast<uint32_t>(contents.size());
      } else {
        contents += marked[i];
      }
    }
    request_.file = std::make_shared<const SourceFile>("main.pdl", contents);
    request_.registry = &GlobalRegistry();
    request_.library = StandardLayers();
    request_.read_file =
        [files](llvm::StringRef path) -> llvm::Expected<std::shared_ptr<const SourceFile>> {
      const auto found = files.find(path);
      if (found == files.end()) return MakeUserError(Code::kBadFile, "there is no file");
      return std::make_shared<const SourceFile>(path.str(), found->second);
    };
    AnalysisResult result = SourceAnalysis::Run(request_);
    analysis = result.analysis;
    compiled = std::move(result.compiled);
  }

  uint32_t At(int mark) const { return marks_.at(mark); }
  /// "main.pdl:3" for each definition.
  std::vector<std::string> Definitions(int mark) const {
    std::vector<std::string> found;
    for (const FileRange& range : analysis->Definitions(At(mark))) found.push_back(LineOf(range));
    return found;
  }
  std::vector<std::string> Uses(int mark) const {
    std::vector<std::string> found;
    for (const NameUse& use : analysis->Uses(*request_.file, At(mark)))
      found.push_back(LineOf(use));
    return found;
  }
  std::string Hover(int mark) const {
    const std::optional<HoverContent> hover = analysis->Hover(At(mark));
    return hover ? hover->markdown : "";
  }
  /// The hints with the names before them.
  std::vector<std::string> Hints() const {
    std::vector<std::string> hints;
    for (const TypeHint& hint : analysis->TypeHints({0, UINT32_MAX})) {
      const llvm::StringRef before = request_.file->text().take_front(hint.offset);
      hints.push_back(before.substr(before.find_last_of(" \n,") + 1).str() + hint.label);
    }
    return hints;
  }
  /// The source after a rename, or the message.
  std::string Rename(int mark, llvm::StringRef name) const {
    auto edits = analysis->Rename(*request_.file, At(mark), name);
    if (!edits) {
      std::string message;
      llvm::handleAllErrors(edits.takeError(), [&](const UserError& e) { message = e.text(); });
      return message;
    }
    llvm::sort(*edits, [](const SourceEdit& a, const SourceEdit& b) {
      return a.range.begin > b.range.begin;
    });
    std::string contents = request_.file->text().str();
    for (const SourceEdit& edit : *edits)
      if (edit.file == request_.file)
        contents.replace(edit.range.begin, edit.range.end - edit.range.begin, edit.replacement);
    return contents;
  }
  /// The labels of completions.
  std::vector<std::string> Complete(int mark) const {
    std::vector<std::string> labels;
    for (const CompletionItem& item : analysis->Complete(request_.file, At(mark), At(mark)).items)
      labels.push_back(item.label);
    return labels;
  }
  std::shared_ptr<const SourceFile> file() const { return request_.file; }
  const CompileRequest& request() const { return request_; }

  std::shared_ptr<const SourceAnalysis> analysis;
  CompileResult compiled;

 private:
  static std::string LineOf(const FileRange& range) {
    return range.file->name().str() + ":" + std::to_string(range.file->LineOf(range.range.begin));
  }

  std::map<int, uint32_t> marks_;
  CompileRequest request_;
};

using Strings = std::vector<std::string>;

TEST(Analysis, TypesOfNames) {
  const Source source(R"(input x: f32[N, 2]
y = x @ ones([2, 3])
z: f32[N, 3] = y
n = 3
layer l(v: F[A, B]) { return v * 2, w=v + 1 }
a, b = l(y)
c = l(x)
output d = argmax(y, axis=1)
)");
  EXPECT_EQ(source.Hints(), (Strings{"y: f32[N, 3]", "w: f32[N, 3] | f32[N, 2]", "a: f32[N, 3]",
                                     "b: f32[N, 3]", "c: f32[N, 2]", "d: i64[N] in 0..3"}));
}

TEST(Analysis, TypesDespiteErrors) {
  const Source source(R"(input x: f32[N, 2]
y = relu(x)
z = relux(x)
w = (
v = y + 1
)");
  EXPECT_FALSE(source.compiled.graph);
  EXPECT_EQ(source.Hints(), (Strings{"y: f32[N, 2]", "v: f32[N, 2]"}));
}

TEST(Analysis, DefinitionsOfReassignedNames) {
  const Source source(R"(input x: f32[N]
y = x
y = $1y + 1
if training {
  y = y * 2
} else {
  y = y * 3
}
output $2y
)");
  EXPECT_EQ(source.Definitions(1), (Strings{"main.pdl:2"}));
  EXPECT_EQ(source.Definitions(2), (Strings{"main.pdl:5", "main.pdl:7"}));
  EXPECT_EQ(source.Uses(1).size(), 8u);
}

TEST(Analysis, ScopesAreSeparate) {
  const Source source(R"(input $1x: f32[N]
layer l(x: F[$2N]) {
  s = $3x
  return s
}
s = l(x=$4x)
output s
test "t" {
  feed x = [1.0]
  u = s
  expect u == 1.0
}
test "v" {
  u = $5x
  expect $6u == 1.0
}
)");
  EXPECT_EQ(source.Uses(1), (Strings{"main.pdl:1", "main.pdl:6", "main.pdl:9", "main.pdl:14"}));
  EXPECT_EQ(source.Uses(3), (Strings{"main.pdl:2", "main.pdl:3", "main.pdl:6"}));
  EXPECT_EQ(source.Definitions(4), (Strings{"main.pdl:1"}));
  EXPECT_EQ(source.Uses(2), (Strings{"main.pdl:2"}));
  EXPECT_EQ(source.Uses(6), (Strings{"main.pdl:14", "main.pdl:15"}));
}

TEST(Analysis, DefinitionsInOtherFiles) {
  const Source source(
      R"(import "b.pdl" as b
import "b.pdl"
input x: f32[N, 4]
y = b.$1block(x, $2size=3)
z = $3block(x, size=3)
w = $4fc(x, $5size=3)
layer $6h = fc(size=3)
v = $7h(x)
u = lstm(x=reshape(x, [1, N, 4]), size=2).$8last
output y, z, w, v, u
)",
      {{"b.pdl", "layer block(x: F[N, D], size: int) {\n  return fc(x, size=size)\n}\n"}});
  for (int mark : {1, 2, 3}) EXPECT_EQ(source.Definitions(mark), (Strings{"b.pdl:1"})) << mark;
  for (int mark : {4, 5}) {
    ASSERT_EQ(source.Definitions(mark).size(), 1u);
    EXPECT_EQ(source.Definitions(mark)[0].substr(0, 14), "layers/fc.pdl:") << mark;
  }
  EXPECT_EQ(source.Definitions(7), (Strings{"main.pdl:7"}));
  EXPECT_EQ(source.Definitions(8)[0].substr(0, 16), "layers/lstm.pdl:");
  EXPECT_EQ(source.Uses(1), (Strings{"b.pdl:1", "main.pdl:4", "main.pdl:5"}));
}

TEST(Analysis, PathsToParameters) {
  const Source source(R"(input x: f32[N, 4]
layer own(v: F[N, D]) {
  param w: F[D] = ones()
  return v * w
}
y = own(x)
output y, w=y.$1w
)");
  EXPECT_EQ(source.Definitions(1), (Strings{"main.pdl:3"}));
  EXPECT_NE(source.Hover(1).find("y.w: f32[4]"), std::string::npos) << source.Hover(1);
}

TEST(Analysis, Hover) {
  const Source source(R"(## The batch.
input x: f32[N, 4]
param w: f32[4, 300] = zeros()
y = $1softmax($2x $3@ $4w, $5axis=1)
n = 3
output $6y, z=zeros([$7n])
)");
  auto has = [&](int mark, const char* part) {
    EXPECT_NE(source.Hover(mark).find(part), std::string::npos) << source.Hover(mark);
  };
  has(1, "softmax(x");
  has(1, "(f32[N, 300]) -> f32[N, 300]");
  has(1, "| `axis` |");
  has(2, "x: f32[N, 4]");
  has(2, "The batch.");
  has(3, "matmul(");
  has(4, "1200 elements, 4.7 KiB");
  has(5, "attribute of `softmax`");
  has(6, "defined on line 4");
  has(7, "the int 3");
}

TEST(Analysis, Rename) {
  const Source source(R"($1input x: f32[$2N]
layer $3l($4v: F[M], k: int = 1) {
  y = v * k
  return y
}
$5y = l(x, k=2)
output y
)");
  EXPECT_EQ(source.Rename(5, "out"),
            source.file()
                ->text()
                .str()
                .replace(source.At(5), 1, "out")
                .replace(source.file()->text().rfind("output y") + 2, 8, "output y = out"));
  EXPECT_NE(source.Rename(3, "twice").find("y = twice(x, k=2)"), std::string::npos);
  EXPECT_NE(source.Rename(2, "B").find("f32[B]"), std::string::npos);
  EXPECT_EQ(source.Rename(3, "relu"), "the name 'relu' is taken (operator)");
  EXPECT_EQ(source.Rename(5, "x"), "the name 'x' is taken (input)");
  EXPECT_EQ(source.Rename(5, "layer"), "'layer' is a keyword");
  EXPECT_EQ(source.Rename(4, "k"), "the name 'k' is taken (attribute of a layer)");
}

TEST(Analysis, Completion) {
  const Source source(R"(input x: f32[N, 4]
hidden = relu(x)
layer own(v: F[N, D], scale: float = 1.0) {
  inner = v * scale
  return inn$2
}
z = own(hidden, $3)
y = hid$1
w = own(hidden).$4
pad = conv(x, pad="$5")
)");
  auto has = [&](int mark, const char* label) {
    EXPECT_TRUE(llvm::is_contained(source.Complete(mark), label)) << mark << " " << label;
  };
  has(1, "hidden");
  EXPECT_FALSE(llvm::is_contained(source.Complete(1), "inner"));
  has(2, "inner");
  EXPECT_FALSE(llvm::is_contained(source.Complete(2), "input"));
  has(3, "scale=");
  has(3, "hidden");
  has(4, "inn");
}

TEST(Analysis, Signature) {
  const Source source("input x: f32[N, 4]\ny = softmax(x, axis=$1\nz = own($2");
  const auto signature = source.analysis->SignatureAt(source.file(), source.At(1), source.At(1));
  ASSERT_TRUE(signature);
  ASSERT_TRUE(signature->active);
  const CallSignature::Parameter& active = signature->parameters[*signature->active];
  EXPECT_EQ(active.name, "axis");
  EXPECT_EQ(signature->label.substr(active.range.begin, active.range.end - active.range.begin),
            "axis");
  EXPECT_FALSE(source.analysis->SignatureAt(source.file(), source.At(2), source.At(2)));
}

TEST(Analysis, FactsAboutTests) {
  const Source source(R"(input x: f32[N]
output y = x
test "t" {
  feed x = [1.0]
  $1total = sum(y)
  expect total == 1.0
}
)");
  EXPECT_EQ(source.Hints().size(), 1u);
  Diagnostics diagnostics;
  const auto analysis = SourceAnalysis::WithTests(source.analysis, source.request(), &diagnostics);
  EXPECT_FALSE(diagnostics.has_errors());
  EXPECT_EQ(analysis->TypeHints({0, UINT32_MAX}).size(), 2u);
}

TEST(Analysis, Structure) {
  const auto file = std::make_shared<const SourceFile>("", R"(# One
# two
import "a.pdl"
import "b.pdl" as b
layer l(v: F[N]) {
  y = v
  return y
}
)");
  const std::vector<OutlineItem> items = OutlineOf(file);
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[2].name, "l");
  EXPECT_EQ(items[2].children.size(), 2u);
  EXPECT_EQ(FoldingRangesOf(file).size(), 3u);
  EXPECT_FALSE(SemanticTokensOf(file, GlobalRegistry(), nullptr).empty());
}

TEST(Outline, StatementsWithErrors) {
  auto outline = [](std::string text) {
    std::string names;
    const auto add = [&](const auto& self, const std::vector<OutlineItem>& items) -> void {
      for (const OutlineItem& item : items) {
        names += item.name + ":" + std::to_string(static_cast<int>(item.kind));
        if (!item.children.empty()) names += "(", self(self, item.children), names += ")";
        names += " ";
      }
    };
    add(add, OutlineOf(std::make_shared<const SourceFile>("t.pdl", std::move(text))));
    return names;
  };
  const std::string head = "input x: f32[N]\nlayer a(v: F[N]) {\n  param w: f32[3]\n  h = relu(v";
  const std::string tail = "\n  return y=h\n}\noutput b = a(x)\n";
  const auto kind = [](SymbolKind k) { return ":" + std::to_string(static_cast<int>(k)); };
  const std::string layer = "a" + kind(SymbolKind::kLayer);
  const std::string body =
      "w" + kind(SymbolKind::kParameter) + " h" + kind(SymbolKind::kValue) + " ";
  EXPECT_EQ(outline(head + tail), "x" + kind(SymbolKind::kInput) + " " + layer + "(" + body +
                                      ") b" + kind(SymbolKind::kResult) + " ");
  EXPECT_NE(outline(head + ")" + tail).find(body), std::string::npos);
  // Each kind of statement, and several names.
  EXPECT_EQ(outline("param p: f32[\nstate s: f32[\nattr a: int = (\nc, d = f(\n"),
            "p" + kind(SymbolKind::kParameter) + " s" + kind(SymbolKind::kState) + " a" +
                kind(SymbolKind::kAttr) + " c" + kind(SymbolKind::kValue) + " d" +
                kind(SymbolKind::kValue) + " ");
  EXPECT_EQ(outline("= 3\n)\nlayer {\n"), "");
}

/// The source after the edits that its diagnostics suggest.
std::string Corrected(const std::string& text) {
  const Source source(text);
  std::string corrected = text;
  for (const Diagnostic& diagnostic : llvm::reverse(source.compiled.diagnostics.all())) {
    if (!diagnostic.suggestion) continue;
    const auto& [range, replacement] = *diagnostic.suggestion;
    corrected.replace(range.begin, range.end - range.begin, replacement);
  }
  return corrected;
}

TEST(Suggestions, Names) {
  EXPECT_EQ(Corrected("input x: f32[N]\ny = relux(x)\nz = cos(x, scal=1.0)\nw = yy + x\n"),
            "input x: f32[N]\ny = relu(x)\nz = cos(x, scale=1.0)\nw = y + x\n");
  EXPECT_EQ(Corrected("input x: f3[N]\n"), "input x: f32[N]\n");
}

TEST(Suggestions, Syntax) {
  EXPECT_EQ(Corrected("x = 5. + 1\ny = .5\n"), "x = 5.0 + 1\ny = 0.5\n");
  EXPECT_EQ(Corrected("z = 1;  # one\nu = 2 ^ 3\n"), "z = 1  # one\nu = 2 ** 3\n");
  EXPECT_EQ(Corrected("assert 1 < 2, \"C:\\models\"\n"), "assert 1 < 2, \"C:\\\\models\"\n");
  EXPECT_EQ(Corrected("input x: f32[N]\ny = cos(x scale=2.0)\n"),
            "input x: f32[N]\ny = cos(x, scale=2.0)\n");
  EXPECT_EQ(Corrected("assert 0 < (2 - 1)<10, \"a\"\n"),
            "assert 0 < (2 - 1) and (2 - 1) <10, \"a\"\n");
  EXPECT_EQ(Corrected("x = 1.0\ny = x + 1 |> cos\nz = x |> cos() + 1\n"),
            "x = 1.0\ny = x + 1 |> cos()\nz = (x |> cos()) + 1\n");
  EXPECT_EQ(Corrected("input x: f32\n"), "input x: f32[]\n");
  EXPECT_EQ(Corrected("input x: f32[]\nreturn x\n"), "input x: f32[]\noutput x\n");
  EXPECT_EQ(Corrected("input z: f32[]\nlayer f(x: f32[]) { output x }\nw = f(z)\n"),
            "input z: f32[]\nlayer f(x: f32[]) { return x }\nw = f(z)\n");
}

TEST(Suggestions, Casts) {
  const std::string inputs =
      "input x: f32[N]\ninput h: f16[N]\ninput b: bf16[N]\ninput n: i64[N]\ninput m: i32[N]\n";
  EXPECT_EQ(Corrected(inputs + "y = x * 2 + h\n"), inputs + "y = x * 2 + cast(h, to=f32)\n");
  EXPECT_EQ(Corrected(inputs + "y = (n + 1) * h\n"), inputs + "y = cast((n + 1), to=f16) * h\n");
  EXPECT_EQ(Corrected(inputs + "y = m + n\n"), inputs + "y = cast(m, to=i64) + n\n");
  EXPECT_EQ(Corrected(inputs + "y = sigmoid(n)\n"), inputs + "y = sigmoid(cast(n, to=f32))\n");
}

TEST(Suggestions, NoneWhereSeveralEditsAreLikely) {
  for (const std::string text : {
           "w = 2; v = 3\n",
           "input x: f32[N]\nz = max(x x)\n",
           "assert not 0 < 1 < 2, \"below 'not'\"\n",
           "x = 0..1..2\n",
           "input x: f32[N]\ny = x |> -cos()\n",
           "input x: f32[]\nreturn x * 2\n",
           "if 1 < 2 { output x = 1 }\n",
           "input a: f16[N]\ninput b: bf16[N]\nc = a + b\n",
           "layer f(x: f16[N], y: f32[N]) { return x + y }\ninput a: f16[N]\ninput b: f32[N]\n"
           "c = f(a, b)\n",
           "input x: f32[N]\ny = x[x]\n",
       }) {
    const Source source(text);
    EXPECT_TRUE(source.compiled.diagnostics.has_errors()) << text;
    EXPECT_EQ(Corrected(text), text);
  }
}

TEST(Analysis, EndsWhenItIsCancelled) {
  std::atomic<bool> cancel = false;
  CompileRequest request;
  request.file = std::make_shared<const SourceFile>(
      "main.pdl",
      "import \"a.pdl\"\ninput x: f32[N]\ny = relux(x)\ntest \"t\" { z = relux(1.0) }\n");
  request.registry = &GlobalRegistry();
  request.cancel = &cancel;
  bool cancels = false;
  request.read_file =
      [&](llvm::StringRef path) -> llvm::Expected<std::shared_ptr<const SourceFile>> {
    cancel = cancels;
    return std::make_shared<const SourceFile>(path.str(), "");
  };
  EXPECT_EQ(SourceAnalysis::Run(request).compiled.diagnostics.num_errors(), 1u);
  EXPECT_EQ(Compile(request).diagnostics.num_errors(), 1u);
  // No statement follows, and no graph is mistaken for a complete one.
  cancels = true;
  const AnalysisResult result = SourceAnalysis::Run(request);
  EXPECT_FALSE(result.compiled.diagnostics.has_errors());
  EXPECT_FALSE(result.compiled.graph);
  EXPECT_TRUE(result.analysis->TypeHints({0, UINT32_MAX}).empty());
  cancel = false;
  EXPECT_FALSE(Compile(request).diagnostics.has_errors());
  EXPECT_FALSE(Compile(request).graph);
  cancel = false;
  Diagnostics diagnostics;
  EXPECT_EQ(SourceAnalysis::WithTests(result.analysis, request, &diagnostics), result.analysis);
  EXPECT_FALSE(diagnostics.has_errors());
}

}  // namespace
}  // namespace pdl
