// The session of `pdl repl`, with runs that are only recorded.
#include "pdl/compiler/repl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "test/cc/testing/test_ops.h"

namespace pdl {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// A host that records the networks that it runs. All outputs are ones, with sizes computed from
/// the inputs.
class FakeHost : public ReplHost {
 public:
  llvm::Expected<std::vector<PackedConstant>> Run(Graph graph,
                                                  const llvm::StringMap<PackedConstant>& inputs,
                                                  bool is_training) override {
    training = is_training;
    std::vector<std::string> calls;
    for (const Op* op : graph.ops()) calls.push_back(op->type());
    runs.push_back(llvm::join(calls, " "));
    if (!failure.empty()) return llvm::createStringError(std::exchange(failure, ""));
    llvm::StringMap<int64_t> sizes;
    for (const Value* input : graph.inputs()) {
      auto fed = inputs.find(input->name());
      if (fed == inputs.end()) continue;
      for (unsigned i = 0; i < input->type().rank(); ++i) {
        const llvm::StringRef symbol = input->type().dims[i].symbol();
        if (!symbol.empty()) sizes[symbol] = fed->second.type.dims[i].constant();
      }
    }
    std::vector<PackedConstant> values;
    for (const GraphOutput& output : graph.outputs()) {
      if (auto fed = inputs.find(output.value->name()); fed != inputs.end()) {
        values.push_back(fed->second);
        continue;
      }
      const Type& type = output.value->type();
      std::vector<int64_t> dims;
      int64_t bytes = DTypeSize(type.dtype);
      for (const Dim& dim : type.dims) {
        auto size = dim.Evaluate([&](llvm::StringRef symbol) -> std::optional<int64_t> {
          auto found = sizes.find(symbol);
          if (found == sizes.end()) return std::nullopt;
          return found->second;
        });
        if (!size) return size.takeError();
        dims.push_back(*size);
        bytes *= *size;
      }
      const std::vector<char> zeros(static_cast<size_t>(bytes));
      values.push_back(Constant::Copy(type.dtype, dims, zeros.data()));
    }
    return values;
  }
  std::string Print(const PackedConstant& value) override {
    return llvm::formatv("<{0}>", value.values.num_elements());
  }
  llvm::Expected<std::string> ReadFile(llvm::StringRef path) override {
    auto found = files.find(path);
    if (found == files.end()) return llvm::createStringError("no such file");
    return found->second;
  }
  llvm::Error WriteFile(llvm::StringRef path, llvm::StringRef text) override {
    files[path] = text.str();
    return llvm::Error::success();
  }
  bool HasFile(llvm::StringRef path) override { return files.count(path) > 0; }
  llvm::Error SetDevice(llvm::StringRef name) override {
    return device = name, llvm::Error::success();
  }

  std::string DeviceName() override { return device; }
  std::vector<std::string> ListFiles(llvm::StringRef typed, bool) override {
    std::vector<std::string> found;
    for (const auto& file : files) {
      if (file.first().starts_with(typed)) found.push_back(file.first().str());
    }
    return llvm::sort(found), found;
  }

  std::vector<std::string> runs;
  bool training = false;
  std::string failure, device = "cpu";
  llvm::StringMap<std::string> files;
};

class ReplTest : public testing::Test {
 protected:
  static const OpRegistry& Operators() {
    static const OpRegistry* registry = [] {
      auto* ops = new OpRegistry;
      RegisterTestOps(ops);
      return ops;
    }();
    return *registry;
  }
  CompileRequest Request() {
    CompileRequest request;
    request.registry = &Operators();
    request.read_file =
        [this](llvm::StringRef path) -> llvm::Expected<std::shared_ptr<const SourceFile>> {
      llvm::Expected<std::string> text = host_.ReadFile(path);
      if (!text) return text.takeError();
      return std::make_shared<SourceFile>(path.str(), *text);
    };
    return request;
  }
  /// The output for the user.
  std::string Say(llvm::StringRef text) {
    ReplReply reply = session_.Execute(text);
    std::string said = reply.output;
    llvm::raw_string_ostream os(said);
    reply.diagnostics.Render(os);
    if (!reply.error.empty()) os << "error: " << reply.error << "\n";
    return said;
  }
  /// The completions at '^' in `text`.
  std::vector<std::string> Complete(llvm::StringRef text) {
    const size_t cursor = text.find('^');
    const std::string whole = (text.take_front(cursor) + text.drop_front(cursor + 1)).str();
    size_t begin = 0;
    std::vector<std::string> texts;
    for (const ReplCompletion& each : session_.Complete(whole, cursor, &begin)) {
      texts.push_back(each.text);
    }
    return texts;
  }

  FakeHost host_;
  ReplSession session_{Request(), host_};
};

TEST_F(ReplTest, ShowsWhatAStatementDefines) {
  EXPECT_EQ(Say("x = [0.0, 1.0]"), "x: f32[2] = <2>\n");
  EXPECT_EQ(Say("y = cos(x, scale=5.0)"), "y: f32[2] = <2>\n");
  EXPECT_EQ(Say("cos(y)"), "f32[2] = <2>\n");
  EXPECT_EQ(Say("n = 3"), "n: i64[] = <1>\n");
  EXPECT_EQ(Say("\"text\""), "\"text\"\n");
  EXPECT_EQ(Say("attr width: int > 0 = 7"), "width: i64[] = <1>\n");
  EXPECT_EQ(session_.text(),
            "x = [0.0, 1.0]\ny = cos(x, scale=5.0)\nn = 3\nattr width: int > 0 = 7\n");
}

TEST_F(ReplTest, AMistakeChangesNothing) {
  Say("x = [0.0, 1.0]");
  const std::string said = Say("y = cos(x, scale=-5.0)");
  EXPECT_THAT(said,
              HasSubstr("repl:2:18: error: attribute 'scale' of 'cos' must be larger than 0"));
  EXPECT_THAT(said, HasSubstr(" 2 | y = cos(x, scale=-5.0)\n"));
  EXPECT_THAT(Say("y"), HasSubstr("no value is called 'y'"));
  EXPECT_THAT(Say("y = cos(x"), HasSubstr("PDL00"));
  EXPECT_EQ(session_.text(), "x = [0.0, 1.0]\n");
  EXPECT_EQ(Say("y = cos(x)"), "y: f32[2] = <2>\n");
}

TEST_F(ReplTest, ANameTakesANewValue) {
  Say("x = [0.0, 1.0]");
  Say("x = cos(x)");
  EXPECT_EQ(Say("x = cos(x)"), "x: f32[2] = <2>\n");
  Say("x = [1.0]");
  EXPECT_EQ(Say("cos(x)"), "f32[1] = <1>\n");
  Say("input z: f32[N]");
  EXPECT_THAT(Say("input z: f32[N]"), HasSubstr("'z' is defined already"));
}

TEST_F(ReplTest, ValuesAreComputedOnce) {
  Say("x = cos([0.0])");
  Say("y = cos(x)");
  Say("y");
  Say("z = add(x, y)");
  EXPECT_THAT(host_.runs, ElementsAre("constant cos", "cos", "add"));
}

TEST_F(ReplTest, AFeedRunsAnewWhatDependsOnIt) {
  EXPECT_EQ(Say("input x: f32[N]"), "x: f32[N]  # requires: feed x\n");
  EXPECT_EQ(Say("y = cos(x)"), "y: f32[N]  # requires: feed x\n");
  Say("other = cos([1.0])");
  Say("z = cos(y)");
  host_.runs.clear();
  EXPECT_EQ(Say("feed x = [1, 2, 3]"), "x: f32[3] = <3>\ny: f32[3] = <3>\nz: f32[3] = <3>\n");
  EXPECT_EQ(Say("w = cos(z)"), "w: f32[3] = <3>\n");
  EXPECT_EQ(Say("feed x = [1.0]"),
            "x: f32[1] = <1>\ny: f32[1] = <1>\nz: f32[1] = <1>\nw: f32[1] = <1>\n");
  // Saved source does not contain `feed` statements.
  EXPECT_THAT(session_.text().str(), Not(HasSubstr("feed")));
}

TEST_F(ReplTest, OnlyWhatAChangeTouchesRuns) {
  Say("input x: f32[N]");
  Say("input z: f32[N]");
  Say("feed x = [1.0]");
  Say("feed z = [2.0]");
  Say("a = cos(x)");
  Say("b = cos(z)");
  Say("c = add(a, b)");
  host_.runs.clear();
  // The size is unchanged, and so are all values that depend only on x.
  EXPECT_EQ(Say("feed z = [3.0]"), "z: f32[1] = <1>\nb: f32[1] = <1>\nc: f32[1] = <1>\n");
  EXPECT_THAT(host_.runs.back(), Not(HasSubstr("cos cos")));
  EXPECT_EQ(Say("a"), "f32[1] = <1>\n");
  EXPECT_THAT(Say(":time"), HasSubstr("; 0 calls run in"));
  Say("feed training = true");
  Say("cos(c)");
  EXPECT_TRUE(host_.training);
}

TEST_F(ReplTest, AFeedThatFailsOrContradicts) {
  Say("input x: f32[N]");
  Say("input z: f32[N]");
  Say("feed x = [1.0]");
  Say("feed z = [2.0]");
  Say("c = add(x, z)");
  host_.failure = "out of memory";
  EXPECT_EQ(Say("feed x = [3.0]"), "error: out of memory\n");
  EXPECT_EQ(Say("c"), "f32[1] = <1>\n");
  EXPECT_EQ(Say("feed x = [1.0, 2.0]"),
            "x: f32[2] = <2>\nz: f32[N]  # requires: feed z\n"
            "c: f32[N]  # requires: feed z\n");
  EXPECT_EQ(Say("feed z = [1.0, 2.0]"), "z: f32[2] = <2>\nc: f32[2] = <2>\n");
}

TEST_F(ReplTest, LayersAndBlocks) {
  EXPECT_THAT(Say("layer twice(x: F[N], scale: float > 0 = 1.0) {\n"
                  "  return x |> cos(scale=scale) |> cos()\n}\n"),
              HasSubstr("# layer twice(x: F[N], scale: float > 0 = 1.0)"));
  EXPECT_EQ(Say("y = twice([1.0])"), "y: f32[1] = <1>\n");
  EXPECT_EQ(Say("for i in 0..3 {\n  y = cos(y)\n}"), "y: f32[1] = <1>\n");
  EXPECT_EQ(host_.runs.back(), "cos cos cos");
  EXPECT_THAT(Complete("twice(y, sc^"), ElementsAre("scale="));
  EXPECT_THAT(Complete("twi^"), ElementsAre("twice("));
  EXPECT_THAT(Say(":help twice"), HasSubstr("scale: float > 0 = 1.0"));
  // A new definition replaces the old one.
  host_.runs.clear();
  EXPECT_THAT(Say("layer twice(x: F[N]) {\n  return cos(x)\n}"), HasSubstr("y: f32[1] = <1>\n"));
  // Two of the four were run before.
  EXPECT_EQ(host_.runs.back(), "cos cos");
  EXPECT_THAT(Say("layer twice(x: F[N], k: int) {\n  return cos(x)\n}"), HasSubstr("'k'"));
  EXPECT_EQ(Say("twice(y)"), "f32[1] = <1>\n");
}

TEST_F(ReplTest, Imports) {
  host_.files["blocks.pdl"] =
      "## Once.\nlayer once(x: F[N], scale: float = 1.0) {\n"
      "  return cos(x, scale=scale)\n}\n";
  EXPECT_THAT(Say("import \"blocks.pdl\""), HasSubstr("# layer once(x: F[N]"));
  EXPECT_EQ(Say("once([1.0])"), "f32[1] = <1>\n");
  EXPECT_THAT(Complete("once(^"), Contains("scale="));
  EXPECT_THAT(Complete("import \"bl^"), ElementsAre("blocks.pdl\""));
  EXPECT_THAT(Complete(":load bl^"), ElementsAre("blocks.pdl"));
  EXPECT_THAT(Say("import \"none.pdl\""), HasSubstr("no such file"));
  EXPECT_EQ(Say("once([1.0])"), "f32[1] = <1>\n");
}

TEST_F(ReplTest, AFileThatIsSaved) {
  Say("input x: f32[N]");
  Say("y = cos(x)");
  Say("feed x = [1, 2]");
  Say(":save \"a.pdl\"");
  EXPECT_EQ(host_.files["a.pdl"],
            "input x: f32[N]\ny = cos(x)\noutput y\n\n# Fed values:\n# feed x = [1, 2]\n");
}

TEST_F(ReplTest, SaveReplacesAFileOfOthersOnlyIfItIsRepeated) {
  host_.files["theirs.pdl"] = "output y = [1.0]\n";
  host_.files["loaded.pdl"] = "input x: f32[N]\n";
  Say(":load loaded.pdl");
  EXPECT_THAT(Say(":save theirs.pdl"),
              HasSubstr("'theirs.pdl' exists; the same command again replaces it"));
  EXPECT_EQ(host_.files["theirs.pdl"], "output y = [1.0]\n");
  EXPECT_EQ(Say(":save theirs.pdl"), "# saved in theirs.pdl\n");
  EXPECT_EQ(host_.files["theirs.pdl"], "input x: f32[N]\n");
  // Files of the session itself.
  EXPECT_EQ(Say(":save loaded.pdl"), "# saved in loaded.pdl\n");
  EXPECT_EQ(Say(":save new.pdl"), "# saved in new.pdl\n");
  EXPECT_EQ(Say(":save new.pdl"), "# saved in new.pdl\n");
}

TEST_F(ReplTest, AFeedIsChecked) {
  Say("input x: f32[N, 2]");
  EXPECT_THAT(Say("feed x = [1.0]"),
              HasSubstr("repl:2:10: error: 'x' is declared f32[N, 2], got f32[1]"));
  EXPECT_THAT(Say("feed xs = [1.0]"),
              HasSubstr("repl:2:6: error: no input, parameter or state is called 'xs'"));
  EXPECT_THAT(Say("feed x = cos(nothing)"),
              HasSubstr("repl:2:14: error: no value is called 'nothing'"));
  EXPECT_EQ(Say("feed x = [[1.0, 2.0]]"), "x: f32[1, 2] = <2>\n");
}

TEST_F(ReplTest, ALineGoesOnFromTheLastValue) {
  EXPECT_THAT(Say("|> cos()"), HasSubstr("there is no value yet"));
  Say("x = [0.0, 1.0]");
  EXPECT_EQ(Say("|> cos()"), "f32[2] = <2>\n");
  EXPECT_EQ(Say("|> cos(scale=2.0)"), "f32[2] = <2>\n");
  EXPECT_EQ(host_.runs.back(), "cos");
  EXPECT_THAT(Say("|> cos(scale=0.0)"), HasSubstr("repl:2:14: error: attribute 'scale'"));
}

TEST_F(ReplTest, SeveralLinesAndStatements) {
  EXPECT_TRUE(NeedsMoreLines("x = cos(\n"));
  EXPECT_EQ(Say("x = cos(\n  [0.0]\n)\n"), "x: f32[1] = <1>\n");
  EXPECT_EQ(Say("a = [1.0]\nb = cos(a)  # twice\n"), "a: f32[1] = <1>\nb: f32[1] = <1>\n");
  EXPECT_EQ(Say("# a comment\n"), "");
  EXPECT_THAT(Say("c = cos(b, scale=0.0)"), HasSubstr("repl:7:18: error"));
  EXPECT_EQ(Say("c = cos(b)"), "c: f32[1] = <1>\n");
  EXPECT_EQ(session_.text(),
            "x = cos(\n  [0.0]\n)\na = [1.0]\nb = cos(a)  # twice\n# a comment\nc = cos(b)\n");
}

TEST_F(ReplTest, ARunThatFails) {
  Say("x = [0.0]");
  host_.failure = "the device is gone";
  EXPECT_EQ(Say("y = cos(x)"), "y: f32[1]\nerror: the device is gone\n");
  EXPECT_EQ(Say("y"), "f32[1] = <1>\n");
}

TEST_F(ReplTest, Commands) {
  Say("input x: f32[N]");
  EXPECT_EQ(Say(":type add(x, x)"), "f32[N]\n");
  EXPECT_THAT(Say(":type cos(x, scale=0.0)"), HasSubstr("repl:2:20: error"));
  EXPECT_THAT(Say(":help cos"), HasSubstr("scale"));
  EXPECT_THAT(Say(":help coss"), HasSubstr("did you mean 'cos'?"));
  EXPECT_THAT(Say(":help"), HasSubstr(":type EXPRESSION"));
  EXPECT_THAT(Say(":ops"), HasSubstr("cos"));
  EXPECT_THAT(Say(":tipe x"), HasSubstr("did you mean ':type'?"));
  EXPECT_EQ(Say(":list"), "   1 | input x: f32[N]\n");
  EXPECT_EQ(Say(":save a.pdl"), "# saved in a.pdl\n");
  EXPECT_EQ(host_.files["a.pdl"], "input x: f32[N]\n");
  EXPECT_EQ(Say(":device cuda"), "");
  EXPECT_EQ(host_.device, "cuda");
  Say(":reset");
  EXPECT_EQ(session_.text(), "");
  EXPECT_TRUE(session_.Execute(" :quit").quit);
}

TEST_F(ReplTest, UndoTakesBackInputs) {
  EXPECT_EQ(Say(":undo"), "error: nothing is left to undo\n");
  Say("input x: f32[N]");
  Say("y = cos(x)");
  EXPECT_EQ(Say("feed x = [1.0, 2.0]"), "x: f32[2] = <2>\ny: f32[2] = <2>\n");
  Say("z = cos(y)");
  Say("cos(z)");                 // an expression changes nothing
  Say("q = cos(z, scale=0.0)");  // nor does a statement with an error
  EXPECT_EQ(Say(":undo"), "# undone: z = cos(y)\n");
  EXPECT_EQ(session_.text(), "input x: f32[N]\ny = cos(x)\n");
  EXPECT_THAT(Say("z"), HasSubstr("'z'"));
  // The value is still known.
  host_.runs.clear();
  EXPECT_EQ(Say("y"), "f32[2] = <2>\n");
  EXPECT_TRUE(host_.runs.empty());
  EXPECT_EQ(Say(":undo"),
            "# undone: feed x = [1.0, 2.0]\nx: f32[N]  # requires: feed x\n"
            "y: f32[N]  # requires: feed x\n");
  EXPECT_EQ(Say(":undo"), "# undone: y = cos(x)\n");
  EXPECT_EQ(Say("y = add(x, x)\nz = cos(y)"),
            "y: f32[N]  # requires: feed x\nz: f32[N]  # requires: feed x\n");
  Say(":reset");
  EXPECT_EQ(session_.text(), "");
  EXPECT_EQ(Say(":undo"), "# undone: :reset\n");
  EXPECT_EQ(Say(":type z"), "f32[N]\n");
  EXPECT_EQ(Say(":undo"), "# undone: y = add(x, x) …\n");
  EXPECT_EQ(Say(":undo"), "# undone: input x: f32[N]\n");
  EXPECT_EQ(session_.text(), "");
  EXPECT_EQ(Say(":undo"), "error: nothing is left to undo\n");
}

TEST_F(ReplTest, UndoRestoresWhatAFeedReplaced) {
  Say("input x: f32[N]");
  Say("state n: f32[] = [0.0][0]");
  Say("feed x = [1.0]");
  Say("feed x = [1.0, 2.0]");
  EXPECT_EQ(Say("feed x = [[1.0]]").find("x: "), std::string::npos);  // fails, changes nothing
  EXPECT_EQ(Say(":undo"), "# undone: feed x = [1.0, 2.0]\nx: f32[1] = <1>\n");
  EXPECT_EQ(Say("y = cos(x)"), "y: f32[1] = <1>\n");
}

TEST_F(ReplTest, UndoOfAnImportThatHasChanged) {
  host_.files["blocks.pdl"] = "layer once(x: F[N]) { return cos(x) }\n";
  Say("import \"blocks.pdl\"");
  Say("y = once([1.0])");
  Say("z = once(y)");
  host_.files["blocks.pdl"] = "layer twice(x: F[N]) { return cos(x) }\n";
  EXPECT_THAT(Say(":undo"), HasSubstr("'once'"));
  EXPECT_THAT(session_.text(), HasSubstr("z = once(y)"));
  host_.files["blocks.pdl"] = "layer once(x: F[N]) { return cos(x) }\n";
  EXPECT_EQ(Say(":undo"), "# undone: z = once(y)\n");
}

TEST_F(ReplTest, LoadsAFile) {
  host_.files["good.pdl"] = "input x: f32[N]\ny = cos(x)\noutput y\n";
  host_.files["bad.pdl"] = "a = cos([0.0])\nb = cos(a, scale=0.0)\n";
  EXPECT_THAT(Say(":load none.pdl"), HasSubstr("no such file"));
  EXPECT_EQ(Say(":load good.pdl"),
            "x: f32[N]  # requires: feed x\ny: f32[N]  # requires: feed x\n");
  EXPECT_THAT(Say(":load bad.pdl"), HasSubstr("bad.pdl:2:18: error"));
  EXPECT_EQ(Say("feed x = [1.0, 2.0]"), "x: f32[2] = <2>\ny: f32[2] = <2>\n");
}

TEST_F(ReplTest, Completes) {
  Say("cosine = [1.0]");
  EXPECT_THAT(Complete("co^"), ElementsAre("cosine", "concat(", "constant(", "cos("));
  EXPECT_THAT(Complete("y = cos(^"), Contains("scale="));
  EXPECT_THAT(Complete("y = cos(cosine, ^"), ElementsAre("scale=", "cosine"));
  EXPECT_THAT(Complete("y = cos(cosine, sc^"), ElementsAre("scale="));
  EXPECT_THAT(Complete("y = cos(cosine, scale=2.0, ^"), Not(Contains("scale=")));
  EXPECT_THAT(Complete("y = cos(\n  cosine,\n  sc^"), ElementsAre("scale="));
  EXPECT_THAT(Complete("y = add(cos(cosine), sc^"), Not(Contains("scale=")));
  EXPECT_THAT(Complete("inp^"), ElementsAre("input "));
  EXPECT_THAT(Complete("input x: f^"), Contains("f32"));
  EXPECT_THAT(Complete(":t^"), ElementsAre(":type ", ":time"));
  EXPECT_THAT(Complete(":help co^"), ElementsAre("concat", "constant", "cos"));
  EXPECT_THAT(Complete("# co^"), ElementsAre());
  EXPECT_THAT(Complete("x = 12^"), ElementsAre());
  // Results of a call.
  Say("layer both(x: F[N]) {\n  one = cos(x)\n  return one, two=cos(one)\n}");
  Say("layer mine = both()");
  EXPECT_THAT(Complete("both(cosine).^"), ElementsAre("one", "two"));
  EXPECT_THAT(Complete("y = both(cos(cosine, scale=2.0)).t^"), ElementsAre("two"));
  EXPECT_THAT(Complete("mine([1.0]).^"), ElementsAre("one", "two"));
  EXPECT_THAT(Complete("cosine |> both().^"), ElementsAre("one", "two"));
  EXPECT_THAT(Complete("cos(cosine).^"), ElementsAre("y"));
  EXPECT_THAT(Complete("none(cosine).^"), ElementsAre());
  EXPECT_THAT(Complete("(cosine).^"), ElementsAre());
  EXPECT_THAT(Complete("# both(cosine).^"), ElementsAre());
  EXPECT_THAT(Complete("for i in 0..cosi^"), ElementsAre("cosine"));
  // A hint if there are no candidates.
  EXPECT_THAT(Complete("cos(cosine, scale=^"), ElementsAre(""));
}

TEST_F(ReplTest, RepliesHaveTheValuesThatTheyShow) {
  const ReplReply reply =
      session_.Execute("a = [1.0, 2.0]\nb = cos(a)\nlayer f(x: F[N]) {\n  return x\n}");
  ASSERT_EQ(reply.values.size(), 2u);
  EXPECT_EQ(reply.values[0].label, "a");
  EXPECT_EQ(reply.values[1].label, "b");
  EXPECT_EQ(reply.values[1].value.values.num_elements(), 2);
  llvm::StringRef output = reply.output;
  EXPECT_EQ(output.slice(reply.values[0].begin, reply.values[0].end), "a: f32[2] = <2>\n");
  EXPECT_EQ(output.slice(reply.values[1].begin, reply.values[1].end), "b: f32[2] = <2>\n");
  EXPECT_THAT(output.drop_front(reply.values[1].end).str(), HasSubstr("# layer f("));
  EXPECT_THAT(session_.names(), ElementsAre("a", "b"));
}

Constant Floats(llvm::ArrayRef<int64_t> sizes) {
  const std::vector<float> ones(64, 1.0f);
  return Constant::Copy(DType::kF32, sizes, ones.data());
}

TEST_F(ReplTest, SharedValuesAreInputs) {
  ReplReply reply = session_.Share("x", Floats({2}));
  EXPECT_FALSE(reply.failed());
  EXPECT_EQ(reply.output, "");
  EXPECT_EQ(session_.text(), "input x: f32[2]\n");
  EXPECT_EQ(Say("y = cos(x)"), "y: f32[2] = <2>\n");
  // A value of the same type is only fed, one of another type declares the input anew.
  EXPECT_FALSE(session_.Share("x", Floats({2})).failed());
  EXPECT_FALSE(session_.Share("x", Floats({3, 2})).failed());
  EXPECT_EQ(session_.text(), "input x: f32[3, 2]\ny = cos(x)\n");
  EXPECT_EQ(Say("y"), "f32[3, 2] = <6>\n");
}

TEST_F(ReplTest, SharedValuesFitDeclaredTypes) {
  Say("## The points.\ninput x: f32[N, 2]\nparam w: f32[2] = zeros()\ny = cos(x)");
  const std::string text = session_.text().str();
  EXPECT_FALSE(session_.Share("x", Floats({5, 2})).failed());
  EXPECT_FALSE(session_.Share("w", Floats({2})).failed());
  EXPECT_EQ(session_.text(), text);
  EXPECT_EQ(Say("y"), "f32[5, 2] = <10>\n");
}

TEST_F(ReplTest, WrongSharedValuesChangeNothing) {
  Say("param w: f32[2] = zeros()\ninput x: f32[2]\ny = add(x, w)");
  const std::string text = session_.text().str();
  EXPECT_EQ(session_.Share("w", Floats({3})).error, "'w' is declared f32[2], got f32[3]");
  // The name of a result, a value that statements do not accept, and something that is not a name.
  ReplReply reply = session_.Share("y", Floats({2}));
  ASSERT_TRUE(reply.failed());
  EXPECT_THAT(reply.diagnostics.all()[0].message, HasSubstr("'y'"));
  reply = session_.Share("x", Floats({4, 3}));
  ASSERT_TRUE(reply.failed());
  EXPECT_EQ(
      reply.diagnostics.all()[0].file->PositionOf(reply.diagnostics.all()[0].primary.begin).line,
      3u);
  EXPECT_TRUE(session_.Share("3x", Floats({2})).failed());
  EXPECT_EQ(session_.text(), text);
}

}  // namespace
}  // namespace pdl
