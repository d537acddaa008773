// pdl test: runs the `test` blocks of source files.
#include <chrono>
#include <cstdio>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "pdl/compiler/test_block.h"
#include "pdl/op/error.h"
#include "pdl/runtime/io.h"
#include "tools/pdl/commands.h"
#include "tools/pdl/support/common_options.h"
#include "tools/pdl/support/console.h"
#include "tools/pdl/support/find_files.h"
#include "tools/pdl/support/load_network.h"
#include "tools/pdl/test/compare.h"
#include "tools/pdl/test/report.h"
#include "tools/pdl/test/scope.h"
#include "tools/pdl/test/without_tests.h"

namespace pdl {
namespace {

constexpr CommandLine::Help kHelp = {
    "pdl test", "FILE|FOLDER... [OPTION]...",
    R"(Runs the `test` blocks of source files (.pdl; for a folder, all files in it), each on
a fresh network with seed 0 in inference mode, and reports the failures with their
locations. A file without tests is only compiled. Exits with status 1 if a test fails or
a file has errors.
)",
    R"(pdl test model.pdl
pdl test models --filter=shape
pdl test . --device=cuda --junit=report.xml
pdl test test/ops --as-written
)"};

struct TestArguments {
  CommonOptions common;
  std::string filter;
  std::string junit;
  bool verbose = false;
  bool as_written = false;

  /// Where the report for people goes: standard output may have the XML.
  llvm::raw_ostream& out() const { return junit == "-" ? llvm::errs() : llvm::outs(); }
};

std::string Text(llvm::Error error) { return llvm::toString(std::move(error)); }

/// The message of an error of a run, with its line of the source if that is known.
std::string TextOfRun(llvm::Error error) {
  std::string text;
  llvm::visitErrors(error, [&](const llvm::ErrorInfoBase& each) {
    const std::optional<Diagnostic> diagnostic = DiagnosticOf(each);
    text += (text.empty() ? "" : "\n") + (diagnostic ? TextOf(*diagnostic) : each.message());
  });
  llvm::consumeError(std::move(error));
  return llvm::StringRef(text).rtrim('\n').str();
}

/// Replaces a ragged value of one level by one of its sequences; a negative row counts from the
/// end.
llvm::Error KeepSequence(PackedValue* value, int64_t row) {
  const Constant offsets = value->offsets[0].ToConstant();
  const llvm::ArrayRef<int64_t> begins = offsets.values<int64_t>();
  const auto rows = static_cast<int64_t>(begins.size()) - 1;
  const int64_t at = row < 0 ? row + rows : row;
  if (at < 0 || at >= rows)
    return llvm::createStringError(
        llvm::formatv("there is no sequence {0} among {1}", row, rows).str());
  const Constant all = value->values.ToConstant();
  llvm::SmallVector<int64_t, 4> sizes(all.sizes());
  int64_t row_bytes = DTypeSize(all.dtype());
  for (const int64_t size : all.sizes().drop_front()) row_bytes *= size;
  sizes[0] = begins[at + 1] - begins[at];
  const char* data = static_cast<const char*>(all.data()) + begins[at] * row_bytes;
  const Constant kept(all.dtype(), sizes, std::shared_ptr<const void>(all.bytes(), data));
  *value = PackedValue::FromConstant(kept);
  return llvm::Error::success();
}

/// One test of a source file; its runs share a Scope.
class TestRunner {
 public:
  /// `said` are the errors that were printed for other tests of the source file.
  TestRunner(const TestSuite& suite, std::shared_ptr<const SourceFile> file, NetworkOptions options,
             DeviceContext* context, llvm::StringSet<>* said)
      : suite_(suite), file_(std::move(file)), scope_(std::move(options), context), said_(*said) {}

  /// Adds the failures to `outcome`.
  void Run(unsigned test, TestOutcome* outcome) {
    for (unsigned run = 0; run < suite_.tests()[test].num_runs; ++run) {
      TestResult result = suite_.Compile(test, run, scope_.values());
      if (!result.run) {
        PrintOnce(result.diagnostics);
        outcome->is_error = true;
        outcome->failures.push_back(
            llvm::formatv("it does not compile: {0}", result.diagnostics.all().front().message));
        return;
      }
      if (run == 0) PrintOnce(result.diagnostics);
      if (!RunOnce(*result.run, outcome)) return;
    }
  }

 private:
  void PrintOnce(const Diagnostics& diagnostics) {
    Diagnostics fresh;
    for (const Diagnostic& each : diagnostics.all())
      if (said_.insert(TextOf(each)).second) fresh.Add(each);
    PrintDiagnostics(fresh);
  }

  std::string At(SourceRange range) const {
    const SourcePosition position = file_->PositionOf(range.begin);
    std::string text = file_->Text(range).str();
    if (const size_t end = text.find('\n'); end != std::string::npos)
      text = text.substr(0, end) + "…";
    return llvm::formatv("{0}:{1}:{2}: {3}", file_->name(), position.line, position.column, text);
  }

  bool RunOnce(const TestRun& run, TestOutcome* outcome) {
    auto fail = [&](llvm::Error error, bool is_error = true) {
      outcome->failures.push_back(TextOfRun(std::move(error)));
      outcome->is_error |= is_error;
      return false;
    };
    if (llvm::Error error = scope_.Feed(run)) return fail(std::move(error), /*is_error=*/false);
    RunOptions options;
    options.training = run.training;
    // Runs that are expected to fail come first, each separately, and change no state.
    for (const TestExpect& expect : run.expects) {
      if (expect.kind != TestExpect::Kind::kError || expect.left.empty()) continue;
      auto network = scope_.Part(run.graph, expect.left, /*keeps_updates=*/false);
      llvm::Error error = network ? scope_.Run(**network, options) : network.takeError();
      if (!error) {
        outcome->failures.push_back(At(expect.range) + "\n  there is no error");
        continue;
      }
      const std::string text = Text(std::move(error));
      if (!llvm::StringRef(text).contains(expect.message))
        outcome->failures.push_back(At(expect.range) + "\n  the error is a different one: " + text);
    }
    auto network = scope_.Part(run.graph, OutputsOf(run), /*keeps_updates=*/true);
    if (!network) return fail(network.takeError());
    if (llvm::Error error = scope_.Run(**network, options))
      return fail(std::move(error), /*is_error=*/false);
    for (const TestExpect& expect : run.expects) Judge(expect, outcome);
    if (llvm::Error error = scope_.Keep(run)) return fail(std::move(error));
    return true;
  }

  void Judge(const TestExpect& expect, TestOutcome* outcome) {
    std::optional<std::string> wrong;
    if (expect.decided) {
      if (!expect.decided->empty()) wrong = expect.decided;
    } else if (expect.kind != TestExpect::Kind::kError) {
      wrong = JudgeValues(expect);
    }
    if (wrong) outcome->failures.push_back(At(expect.range) + "\n  " + *wrong);
  }

  std::optional<std::string> JudgeValues(const TestExpect& expect) {
    llvm::Expected<PackedValue> left = scope_.FindPacked(expect.left, expect.type);
    if (!left) return Text(left.takeError());
    if (expect.kind == TestExpect::Kind::kTrue)
      return CheckTrue(*left, scope_.Find(expect.compared[0]), scope_.Find(expect.compared[1]));
    const Type scalar(expect.type.dtype, {});
    llvm::Expected<PackedValue> right =
        scope_.FindPacked(expect.right, expect.right_is_scalar ? scalar : expect.type);
    if (!right) return Text(right.takeError());
    if (expect.left_row) {
      llvm::Error error = KeepSequence(&*left, *expect.left_row);
      if (!error) error = KeepSequence(&*right, *expect.right_row);
      if (error) return Text(std::move(error));
    }
    return CompareNear(*left, *right,
                       expect.tolerance ? *expect.tolerance : DefaultTolerance(expect.type.dtype));
  }

  const TestSuite& suite_;
  const std::shared_ptr<const SourceFile> file_;
  TestScope scope_;
  llvm::StringSet<>& said_;
};

struct Totals {
  unsigned passed = 0, failed = 0, files = 0;
};

/// The message of the first error.
std::string FirstOf(const llvm::Error& errors) {
  std::vector<std::string> messages;
  llvm::visitErrors(errors, [&](const llvm::ErrorInfoBase& error) {
    if (!error.isA<SourceErrors>()) return messages.push_back(error.message());
    for (const Diagnostic& each : static_cast<const SourceErrors&>(error).diagnostics().all())
      if (each.severity == Severity::kError) messages.push_back(each.message);
  });
  return messages.front();
}

int TestFile(llvm::StringRef path, const TestArguments& arguments, DeviceContext* context,
             Totals* totals, std::vector<TestOutcome>* outcomes) {
  const auto fail = [&](llvm::Error errors) {
    outcomes->push_back({path.str(), "(the file)", 0, {FirstOf(errors)}, true});
    ++totals->failed;
    return Finish(std::move(errors));
  };
  llvm::Expected<InputFile> file = ReadInputFile(path);
  if (!file) return fail(file.takeError());
  auto source = ToSource(*file);
  if (!source) return fail(source.takeError());
  Diagnostics diagnostics;
  WeightFiles weights(file->folder);
  const TestSuite suite(
      MakeCompileRequest(*file, *source, ToLoadOptions(arguments.common), &weights), &diagnostics);
  llvm::Error errors = llvm::Error::success();
  if (diagnostics.has_errors()) {
    diagnostics.Sort();
    errors = llvm::make_error<SourceErrors>(std::move(diagnostics));
  } else if (suite.tests().empty() && arguments.filter.empty()) {
    errors = CheckWithoutTests(*file, arguments.common);
  }
  if (errors) return fail(std::move(errors));
  bool any = false;
  llvm::StringSet<> said;
  for (unsigned i = 0; i < suite.tests().size(); ++i) {
    const TestBlock& test = suite.tests()[i];
    if (!llvm::StringRef(test.name).contains(arguments.filter)) continue;
    any = true;
    TestOutcome outcome{path.str(), test.name, 0, {}, false};
    const auto begin = std::chrono::steady_clock::now();
    NetworkOptions options;
    options.weight_folder = file->folder;
    options.optimize = options.fuse = !arguments.as_written;
    TestRunner(suite, *source, options, context, &said).Run(i, &outcome);
    outcome.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const bool passed = outcome.failures.empty();
    ++(passed ? totals->passed : totals->failed);
    if (!passed || arguments.verbose) {
      arguments.out() << (passed ? "pass  " : "FAIL  ") << path << ": " << test.name
                      << llvm::formatv("  ({0:f3} s)", outcome.seconds) << '\n';
      for (const std::string& failure : outcome.failures)
        for (llvm::StringRef line : llvm::split(failure, '\n'))
          arguments.out() << "  " << line << '\n';
    }
    outcomes->push_back(std::move(outcome));
  }
  totals->files += any;
  return kSuccess;
}

}  // namespace

int TestMain(Arguments arguments) {
  TestArguments test;
  CommandLine line(kHelp);
  line.AddString("--filter", "PART", "run only tests whose name contains PART", &test.filter);
  line.AddString("--junit", "FILE.xml",
                 "also write the results as JUnit XML, for CI; - is standard output, and standard "
                 "error has the other results then",
                 &test.junit);
  line.AddFlag("-v, --verbose", "also list the tests that pass", &test.verbose);
  line.AddFlag("--as-written",
               "run every call separately on the device: without passes (which compute constants "
               "ahead, on the CPU) and without fused groups",
               &test.as_written);
  line.Section("The network");
  AddNetworkOptions(line, &test.common);
  line.Section("The run");
  AddRunOptions(line, &test.common);
  AddMessageOptions(line);
  line.AddSandbox({"--junit"});
  auto paths = line.Parse(arguments);
  if (!paths) return Finish(paths.takeError());
  if (!*paths) return kSuccess;
  if ((*paths)->empty()) return Finish(line.Wrong("no file is given"));
  if (llvm::Error error = LoadPlugins(test.common)) return Finish(std::move(error));
  auto context = OpenDevice(test.common);
  if (!context) return Finish(context.takeError());

  std::vector<std::string> files;
  int status = Finish(FindFiles(**paths, &files));
  if (files.empty()) return status;
  if (llvm::Error error = line.CheckOutputs(files)) return Finish(std::move(error));
  Totals totals;
  std::vector<TestOutcome> outcomes;
  for (const std::string& file : files)
    status = std::max(status, TestFile(file, test, context->get(), &totals, &outcomes));
  if (!test.junit.empty())
    status = std::max(status, Finish(WriteResultFile(test.junit, ToJUnit(outcomes))));
  if (totals.passed + totals.failed == 0 && status == kSuccess) {
    test.out() << (test.filter.empty()
                       ? "there are no tests\n"
                       : "no test has a name that contains \"" + test.filter + "\"\n");
    return test.filter.empty() ? kSuccess : kUserError;
  }
  test.out() << llvm::formatv("{0} of {1} tests passed, in {2} {3}\n", totals.passed,
                              totals.passed + totals.failed, totals.files,
                              totals.files == 1 ? "file" : "files");
  return totals.failed > 0 ? std::max<int>(status, kUserError) : status;
}

}  // namespace pdl
