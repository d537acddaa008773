// Network::ReportMemory: formulas of the memory of a run, compared with planned runs.
#include "pdl/runtime/memory_report.h"

#include <array>
#include <set>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "pdl/compiler/load.h"
#include "test/cc/testing/network_testing.h"

namespace pdl {
namespace {

MemoryReport Report(const Network& network, const llvm::StringMap<int64_t>& sizes = {}) {
  CPUContext context(2);
  return Unwrap(network.ReportMemory(&context, RunOptions(), sizes));
}

MemoryReport Report(const std::string& source) { return Report(*MakeNetwork(source)); }

/// The value of a formula; nullopt if it has other symbols: the number of rows of a loop's step.
std::optional<int64_t> Evaluate(const Dim& bytes, const llvm::StringMap<int64_t>& sizes) {
  llvm::Expected<int64_t> value =
      bytes.Evaluate([&](llvm::StringRef symbol) -> std::optional<int64_t> {
        auto found = sizes.find(symbol);
        return found == sizes.end() ? std::nullopt : std::optional(found->second);
      });
  if (value) return *value;
  llvm::consumeError(value.takeError());
  return std::nullopt;
}

bool IsBody(const MemoryPart& part) { return llvm::StringRef(part.title).starts_with("body"); }

/// The symbols of a network, also those that data determine.
std::vector<std::string> SymbolsOf(const MemoryReport& report, const Graph& graph) {
  std::set<std::string> symbols;
  for (const std::string& symbol : graph.Symbols()) symbols.insert(symbol);
  auto add = [&](const Dim& dim) {
    dim.ForEachSymbol([&](llvm::StringRef symbol) { symbols.insert(symbol.str()); });
  };
  add(report.inputs);
  for (const MemoryPart& part : report.parts)
    if (!IsBody(part)) add(part.Intermediates() + part.outputs + part.new_states);
  return {symbols.begin(), symbols.end()};
}

TEST(MemoryReport, CountsLiveValuesByStep) {
  // `b` is live until its sum is computed; the sum of `a` needs both, and 4 bytes.
  const MemoryReport report = Report(
      "input x: f32[N, K]\nparam w: f32[5, 7] = zeros()\n"
      "a = transpose(x, perm=[1, 0]) @ x\nb = cumsum(x, axis=0)\n"
      "output y = sum(a) + sum(b)\n");
  ASSERT_EQ(report.parts.size(), 1u);
  EXPECT_EQ(report.parts[0].outputs.ToString(), "4");
  EXPECT_EQ(report.inputs.ToString(), "4*K*N");
  EXPECT_TRUE(report.states.is_constant(0));
  // Without the parameter, which nothing reads.
  EXPECT_TRUE(report.parameters.is_constant(0));
  EXPECT_EQ(report.parts[0].IntermediatesFormula(), "4*K**2 + 4*K*N + 4");
}

TEST(MemoryReport, MaximumHasNoTermThatIsProvablyAtMostAnother) {
  const MemoryReport report = Report(
      "input x: f32[N]\na = cumsum(x, axis=0)\nb = cumsum(concat(a, a, axis=0), axis=0)\n"
      "output y = cumsum(b, axis=0)\n");
  const MemoryPart& part = report.parts[0];
  ASSERT_EQ(part.peaks.size(), 1u);
  EXPECT_EQ(part.IntermediatesFormula(), part.peaks[0].bytes.ToString());
  EXPECT_EQ(part.peaks[0].bytes.ToString(), "12*N");
  ASSERT_EQ(part.peaks[0].values.size(), 2u);
  EXPECT_EQ(part.peaks[0].values[0].name, "a");
  EXPECT_EQ(part.peaks[0].values[0].location, "m.pdl:2:5");
}

TEST(MemoryReport, StepsThatCannotBeComparedFormAMaximum) {
  const MemoryReport report = Report(
      "input x: f32[N]\ninput z: f32[M]\na = reshape(cumsum(x, axis=0), [N, 1])\n"
      "p = sum(a @ transpose(a, perm=[1, 0]))\nb = reshape(cumsum(z, axis=0), [M, 1])\n"
      "q = sum(b @ transpose(b, perm=[1, 0]))\noutput y = p * q\n");
  const MemoryPart& part = report.parts[0];
  EXPECT_EQ(part.peaks.size(), 2u) << part.IntermediatesFormula();
  EXPECT_TRUE(llvm::StringRef(part.IntermediatesFormula()).starts_with("max("));
  EXPECT_TRUE(llvm::StringRef(report.RunFormula()).ends_with("+ 4")) << report.RunFormula();
}

TEST(MemoryReport, ANetworkWithoutCalls) {
  const MemoryReport report = Report("input x: f32[N]\noutput y = x\n");
  EXPECT_EQ(report.Run().ToString(), "4*N");
  EXPECT_EQ(report.RunFormula(), "4*N");
}

TEST(MemoryReport, NewValuesOfStatesAndBodiesOfLoops) {
  const MemoryReport report = Report(
      "layer cell(x: F[6], h: F[6]) {\n  next = tanh(cumsum(h + x, axis=0) + mean(h))\n"
      "  return h=next, y=next\n}\n"
      "input x: f32[T, 6]\nstate s: f32[3] = zeros()\n"
      "y, last = scan(x, init=zeros([6]), body=cell(), axis=0)\n"
      "update s = s + 1\noutput last\n");
  ASSERT_EQ(report.parts.size(), 2u);
  EXPECT_EQ(report.states.ToString(), "12");
  EXPECT_EQ(report.parts[0].outputs.ToString(), "24");
  EXPECT_TRUE(llvm::StringRef(report.parts[1].title).starts_with("body of scan"));
}

TEST(MemoryReport, UnknownSymbolsAreErrors) {
  auto network = MakeNetwork("input x: f32[N]\noutput y = x * 2\n");
  CPUContext context(2);
  llvm::Expected<MemoryReport> report = network->ReportMemory(&context, RunOptions(), {{"M", 3}});
  EXPECT_EQ(llvm::toString(report.takeError()), "the network has no symbol 'M' [PDL0102]");
  report = network->ReportMemory(nullptr, RunOptions(), {});
  EXPECT_EQ(llvm::toString(report.takeError()),
            "the memory of a network needs a context, got none [PDL0507]");
}

/// The examples that can be planned on a small machine without downloads.
std::vector<std::string> Examples() {
  std::vector<std::string> files;
  std::error_code code;
  for (llvm::sys::fs::recursive_directory_iterator entry("../examples", code), end; entry != end;
       entry.increment(code)) {
    const llvm::StringRef path = entry->path();
    const bool is_skipped = path.contains("custom_op/") ||            // needs its plugin
                            path.ends_with("finetune.pdl") ||         // needs weights
                            path.ends_with("huggingface/llama.pdl");  // 25 GiB of parameters
    if (llvm::sys::path::extension(path) == ".pdl" && !is_skipped) files.push_back(path.str());
  }
  llvm::sort(files);
  return files;
}

class MemoryOfExample : public testing::TestWithParam<std::string> {};

TEST_P(MemoryOfExample, FormulaIsThePlannedPeak) {
  LoadOptions options;
  llvm::Expected<LoadedNetwork> loaded = LoadNetwork(GetParam(), options);
  ASSERT_TRUE(static_cast<bool>(loaded)) << llvm::toString(loaded.takeError());
  auto network = Unwrap(CreateNetwork(std::move(*loaded), NetworkOptions()));
  const std::vector<std::string> symbols = SymbolsOf(Report(*network), network->optimized_graph());
  constexpr std::array kSizes = {2, 3, 5, 6, 8, 10, 12, 17, 24, 40};
  for (const int size : kSizes) {
    llvm::StringMap<int64_t> sizes;
    // Different sizes of symbols, since values may share memory if sizes coincide.
    for (size_t i = 0; i < symbols.size(); ++i) sizes[symbols[i]] = size + 3 * static_cast<int>(i);
    if (GetParam().find("maml") != std::string::npos) sizes["N"] = 25;  // as it requires
    const MemoryReport report = Report(*network, sizes);
    for (const MemoryPart& part : report.parts) {
      ASSERT_TRUE(part.planned) << part.title;
      const std::optional<int64_t> values = Evaluate(part.Intermediates(), sizes);
      ASSERT_TRUE(values || IsBody(part)) << part.title;
      if (values) {
        EXPECT_EQ(*values, part.planned->values)
            << part.title << ' ' << size << ": " << part.IntermediatesFormula();
      }
      EXPECT_LE(static_cast<double>(part.planned->arena),
                1.05 * static_cast<double>(part.planned->live))
          << part.title << ' ' << size;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, MemoryOfExample, testing::ValuesIn(Examples()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           std::string name = info.param.substr(sizeof("../examples"));
                           for (char& c : name)
                             if (!llvm::isAlnum(c)) c = '_';
                           return name;
                         });

}  // namespace
}  // namespace pdl
