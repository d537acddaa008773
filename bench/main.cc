// Runs the benchmarks. Without --benchmark_filter it also reports the peak memory of some of them,
// each in a separate process.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "bench/networks.h"
#include "benchmark/benchmark.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace {

constexpr char kPeakOnly[] = "PDL_BENCH_PEAK";

/// The peak resident memory of this process, as formatted by the kernel: "12345 kB".
std::string PeakMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (llvm::StringRef(line).starts_with("VmHWM:"))
      return llvm::StringRef(line).drop_front(6).trim().str();
  return "unknown";
}

/// The reporter of processes that only report their peak memory.
class Silent : public benchmark::BenchmarkReporter {
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

constexpr char kNothing[] = "nothing";

void ReportPeak(const std::string& program, const char* name) {
  std::string command = std::string(kPeakOnly) + "=" + name + " " + pdl::bench::kFileVariable +
                        "='" + pdl::bench::NetworkFile() + "' '" + program +
                        "' --benchmark_min_time=0.001 --benchmark_filter='^" + name + "$'";
  FILE* child = popen(command.c_str(), "r");
  char line[256] = "";
  while (child && std::fgets(line, sizeof line, child)) {
  }
  if (child) pclose(child);
  std::printf("%-40s %s", name, line);
}

}  // namespace

int main(int argc, char** argv) {
  bool filtered = llvm::any_of(llvm::ArrayRef(argv, argc), [](const char* argument) {
    return llvm::StringRef(argument).starts_with("--benchmark_");
  });
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  if (const char* alone = std::getenv(kPeakOnly)) {
    Silent silent;
    if (llvm::StringRef(alone) != kNothing) benchmark::RunSpecifiedBenchmarks(&silent);
    std::printf("%s\n", PeakMemory().c_str());
    return 0;
  }
  benchmark::RunSpecifiedBenchmarks();
  if (filtered) return 0;

  std::string program = std::filesystem::read_symlink("/proc/self/exe");
  std::printf("\nPeak memory of a process that runs only this benchmark (VmHWM)\n");
  for (const char* name :
       {kNothing, "Dispatch/plain/1", "Dispatch/fused/1", "BindNewSizeAndRun",
        "CheckStatements/10000", "CheckStatements/100000", "LoadNetwork", "LoadNetworkAndRun"})
    ReportPeak(program, name);
  return 0;
}
