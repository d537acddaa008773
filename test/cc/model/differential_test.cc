// Random networks give the same results in all ways in which they can be run.
//
// PDL_RANDOM_BEGIN and PDL_RANDOM_COUNT select the seeds, PDL_RANDOM_VERBOSE prints what is
// covered. PDL_ONNX_RUNTIME is a Python that has ONNX Runtime, for the comparison with it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "kernels/core/cpu_isa.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "onnx/export/export.h"
#include "onnx/model/model.h"
#include "pdl/compiler/compiler.h"
#include "pdl/op/half.h"
#include "test/cc/testing/differential.h"
#include "test/cc/testing/runtime_testing.h"

namespace pdl {
namespace {

uint64_t NumberOf(const char* variable, uint64_t fallback) {
  const char* given = std::getenv(variable);
  return given == nullptr ? fallback : std::strtoull(given, nullptr, 10);
}

uint64_t Begin() { return NumberOf("PDL_RANDOM_BEGIN", 0); }
uint64_t End() { return Begin() + NumberOf("PDL_RANDOM_COUNT", 200); }

/// The network as source, and the values of its inputs as comments.
std::string TextOf(const RandomGraph& network) {
  std::string text = EmitPdl(network.graph);
  for (const Value* input : network.graph.inputs()) {
    const Constant values = network.inputs.lookup(input->name()).values;
    text += "# " + input->name() + ":";
    for (int64_t i = 0; i < values.num_elements(); ++i)
      text += " " + FloatToString(values.ElementAsDouble(i));
    text += "\n";
  }
  return text;
}

TEST(Differential, RandomNetworks) {
  CallCorpus corpus("..");
  Differential differential;
  for (uint64_t seed = Begin(); seed < End(); ++seed) {
    RandomSource random(seed);
    const RandomGraph network = MakeRandomGraph(corpus, random);
    if (std::getenv("PDL_RANDOM_TRACE") != nullptr)
      llvm::errs() << "seed " << seed << "\n" << TextOf(network);
    for (const std::string& difference : differential.Compare(network))
      ADD_FAILURE() << "seed " << seed << ": " << difference << "\n" << TextOf(network);
  }
  const Differential::Count& plain = differential.counts().at("plain");
  EXPECT_GE(plain.ran, plain.failed * 5);
  if (std::getenv("PDL_RANDOM_VERBOSE") == nullptr) return;
  for (const auto& [name, counted] : differential.counts())
    llvm::outs() << name << ": " << counted.ran << " ran, " << counted.failed << " failed\n";
  unsigned covered = 0;
  const std::set<std::string> features = FeaturesToCover();
  for (const std::string& feature : features) {
    if (differential.covered().count(feature) != 0) {
      ++covered;
    } else {
      llvm::outs() << "not covered: " << feature << "\n";
    }
  }
  llvm::outs() << "covered: " << covered << " of " << features.size() << "\n";
}

// --- Instruction sets ---------------------------------------------------------------------------
//
// A process has one, so another process records its results.

void Write(std::ostream& os, const std::string& bytes) { os << bytes.size() << '\n' << bytes; }

std::string Read(std::istream& is) {
  size_t size = 0;
  is >> size;
  is.get();
  std::string bytes(size, 0);
  is.read(bytes.data(), static_cast<std::streamsize>(size));
  return bytes;
}

void WriteResults(std::ostream& os, const RunResults& results) {
  os << results.size() << '\n';
  for (const auto& [name, values] : results) {
    Write(os, name);
    os << static_cast<int>(values.dtype()) << ' ' << values.sizes().size() << ' ';
    for (const int64_t size : values.sizes()) os << size << ' ';
    Write(os, {static_cast<const char*>(values.data()), static_cast<size_t>(values.num_bytes())});
  }
}

RunResults ReadResults(std::istream& is) {
  RunResults results;
  size_t count = 0;
  for (is >> count; count > 0 && is; --count) {
    const std::string name = Read(is);
    int dtype = 0;
    size_t rank = 0;
    is >> dtype >> rank;
    std::vector<int64_t> sizes(rank);
    for (int64_t& size : sizes) is >> size;
    results[name] = Constant::Copy(static_cast<DType>(dtype), sizes, Read(is).data());
  }
  return results;
}

// Only records results, for the test below.
TEST(Differential, Record) {
  const char* const path = std::getenv("PDL_RANDOM_RECORD");
  if (path == nullptr) GTEST_SKIP() << "PDL_RANDOM_RECORD names no file";
  std::ofstream file(path, std::ios::binary);
  CallCorpus corpus("..");
  for (uint64_t seed = Begin(); seed < End(); ++seed) {
    RandomSource random(seed);
    WriteResults(file, Differential::Reference(MakeRandomGraph(corpus, random)));
  }
}

TEST(Differential, InstructionSets) {
  const TemporaryFolder folder;
  for (const auto& [isa, name] : {std::pair(Isa::kAvx2, "AVX2"), {Isa::kBaseline, "SSE41"}}) {
    if (CurrentIsa() <= isa) continue;
    const std::string path = folder / name;
    const std::string command =
        std::string("PDL_MAX_CPU_ISA=") + name + " PDL_RANDOM_RECORD=" + path + " /proc/" +
        std::to_string(getpid()) + "/exe --gtest_filter=Differential.Record > " + path + ".log";
    ASSERT_EQ(std::system(command.c_str()), 0) << ReadBytes(path + ".log");
    std::ifstream file(path, std::ios::binary);
    CallCorpus corpus("..");
    for (uint64_t seed = Begin(); seed < End(); ++seed) {
      RandomSource random(seed);
      const RandomGraph network = MakeRandomGraph(corpus, random);
      const RunResults expected = Differential::Reference(network), got = ReadResults(file);
      ASSERT_TRUE(file) << seed;
      const std::string difference = Differential::CompareIsas(network, expected, got);
      if (!difference.empty())
        ADD_FAILURE() << "seed " << seed << ": " << name << ": " << difference << "\n"
                      << TextOf(network);
    }
  }
}

// --- ONNX Runtime -------------------------------------------------------------------------------

void WriteMessage(const std::string& path, const google::protobuf::MessageLite& message) {
  WriteBytes(path, message.SerializeAsString());
}

/// Writes the values of the inputs of a network as test/onnx/run_models.py reads them.
void WriteInputs(const std::string& folder, const RandomGraph& network) {
  int number = 0;
  for (const Value* input : network.graph.inputs()) {
    const Constant values = network.inputs.lookup(input->name()).values;
    onnx::TensorProto tensor;
    tensor.set_name(input->name());
    tensor.set_data_type(DTypeToOnnx(values.dtype()));
    for (const int64_t size : values.sizes()) tensor.add_dims(size);
    tensor.set_raw_data(values.data(), static_cast<size_t>(values.num_bytes()));
    WriteMessage(folder + "/input_" + std::to_string(number++) + ".pb", tensor);
  }
}

/// The outputs of a model, by name.
RunResults ReadOutputs(const std::string& folder) {
  RunResults results;
  for (int number = 0;; ++number) {
    onnx::TensorProto tensor;
    const std::string bytes = ReadBytes(folder + "/output_" + std::to_string(number) + ".pb");
    if (bytes.empty()) return results;
    EXPECT_TRUE(tensor.ParseFromString(bytes));
    const std::vector<int64_t> sizes(tensor.dims().begin(), tensor.dims().end());
    results[tensor.name()] =
        Constant::Copy(Unwrap(DTypeFromOnnx(tensor.data_type())), sizes, tensor.raw_data().data());
  }
}

/// Whether ONNX Runtime may crash: in a Scan without steps, which cumprod is, too.
bool MayHaveNoSteps(const RandomGraph& network, llvm::StringRef model) {
  const auto is_empty = [&](const Value* value) {
    const auto input = network.inputs.find(value->name());
    return llvm::is_contained(value->type().dims, Dim(0)) ||
           (input != network.inputs.end() && llvm::is_contained(input->second.values.sizes(), 0));
  };
  return model.contains("Scan") && llvm::any_of(network.graph.ops(), [&](const Op* op) {
           return llvm::any_of(op->operands(), is_empty);
         });
}

/// Whether an error of ONNX Runtime is one of those in docs/onnx.md: dtypes for which it has no
/// kernel, sizes that it rejects, and the crash.
bool IsKnownError(llvm::StringRef error, const RandomGraph& network, llvm::StringRef model) {
  if (error.starts_with("crashed")) return MayHaveNoSteps(network, model);
  return error.contains("NOT_IMPLEMENTED") || error.contains("Pad reflect: ") ||
         error.contains("Only N can be zero");
}

TEST(Differential, OnnxRuntime) {
  const char* const python = std::getenv("PDL_ONNX_RUNTIME");
  if (python == nullptr) GTEST_SKIP() << "PDL_ONNX_RUNTIME names no Python";
  CallCorpus corpus("..");
  const auto make = [&](uint64_t seed) {
    RandomSource random(seed);
    return MakeRandomGraph(corpus, random);
  };
  constexpr uint64_t kBatch = 500;
  Differential differential;
  std::map<std::string, unsigned> counts;
  std::set<std::string> operators;
  for (uint64_t begin = Begin(); begin < End(); begin += kBatch) {
    const TemporaryFolder root;
    std::map<uint64_t, std::string> models;
    for (uint64_t seed = begin; seed < std::min(begin + kBatch, End()); ++seed) {
      const RandomGraph network = make(seed);
      const std::string model = differential.Export(network);
      if (model.empty()) continue;
      models[seed] = model;
      const std::string folder = root / std::to_string(seed);
      std::filesystem::create_directory(folder);
      WriteBytes(folder + "/model.onnx", model);
      WriteInputs(folder, network);
    }
    const int status = std::system(
        (std::string(python) + " onnx/run_models.py " + root.path() + " > /dev/null").c_str());
    if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no onnxruntime";
    ASSERT_EQ(status, 0);
    for (const auto& [seed, model] : models) {
      const RandomGraph network = make(seed);
      const std::string folder = root / std::to_string(seed);
      const std::string error = ReadBytes(folder + "/error.txt");
      if (!error.empty()) {
        const bool is_known = IsKnownError(error, network, model);
        ++counts[is_known ? "not supported" : "failed"];
        if (!is_known)
          ADD_FAILURE() << "seed " << seed << ": ONNX Runtime: " << error << "\n"
                        << TextOf(network);
        continue;
      }
      ++counts["ran"];
      for (uint32_t i = 0; i < network.graph.num_blocks(); ++i)
        for (const Op* op : network.graph.block({i}).ops) operators.insert(op->type());
      const std::string difference = Differential::CompareOnnx(
          network, model, Differential::Reference(network), ReadOutputs(folder));
      if (!difference.empty() && !Differential::MayDifferInOnnxRuntime(network))
        ADD_FAILURE() << "seed " << seed << ": ONNX Runtime: " << difference << "\n"
                      << TextOf(network);
    }
  }
  // Of a few networks, none may have a counterpart.
  const bool are_enough = End() - Begin() >= 100;
  EXPECT_TRUE(!are_enough || counts["ran"] >= counts["not supported"]);
  for (const auto& [name, count] : counts) llvm::outs() << name << ": " << count << "\n";
  llvm::outs() << operators.size() << " operators\n";
}

// Networks whose results differed.
TEST(Differential, Found) {
  const char* const kSources[] = {
      // x / y is rounded up to the next integer.
      "x = constant([1.0, -1.0, 7.5, inf, 1.0, -0.0, 5.0], dtype=f32)\n"
      "y = constant([0.1, 0.1, -2.0, 2.0, inf, 3.0, 0.0], dtype=f32)\n"
      "output quotient = floor_div(x, y), rest = mod(x, y), fmod = fmod(x, y)\n",
      "y = constant([1.4, 1.4, -1.4, -0.0, 0.0, 0.0, inf, -inf, 2.0, nan], dtype=f64)\n"
      "x = constant([-0.0, 0.0, -0.0, -1.0, -1.0, -0.0, inf, -inf, -3.0, 1.0], dtype=f64)\n"
      "output angle = atan2(y, x)\n",
      "output length = hypot([nan, 3.0, 0.0], [-inf, 4.0, -0.0])\n",
      "output v = variance([[1.0, 2.5, 4.0]], axes=[1], ddof=4)\n",
      // ONNX's float attributes are f32.
      "x = constant([-7.0, -1.25, -0.1, 0.0, 0.3, 2.0, nan], dtype=f64)\n"
      "output hard_sigmoid = hard_sigmoid(x), elu = elu(x, alpha=0.1), selu = selu(x)\n"
      "output celu = celu(x, alpha=0.1), leaky = leaky_relu(x, alpha=0.1)\n"
      "output thresholded = thresholded_relu(x, alpha=0.3)\n"
      "output shrink = shrink(x, threshold=0.1, bias=0.3)\n",
      "output loss = binary_cross_entropy([inf, -inf, 2.0, -2.0], [1.0, 0.0, 1.0, 0.25], "
      "logits=true)\n",
      // log(exp(x)) would overflow.
      "output y = logsumexp([110.5, -300.0], axes=[])\n",
      "output loss = kl_div([-1.0, -inf], [-inf, -2.0], log_target=true)\n",
      "x = constant([[[1.0, 2.0, 4.0, 8.0, 16.0]]], dtype=f64)\n"
      "output y = adaptive_avg_pool(x, [2])\n",
      "q = constant([[3.5, -10.25], [0.7, 9.0]], dtype=f16)\n"
      "y, lse = attention(q, q, q)\noutput y, lse\n",
      // No other size can be determined from those of a tensor without elements.
      "output y = im2col(zeros([0, 3, 4, 5]), kernel=[2])\n",
      // Where ONNX's windows do not fit, there is none.
      "x = zeros([1, 2, 0, 7])\noutput y = avg_pool(x, kernel=[2], pad=\"same\")\n"
      "output z = conv2d(x, ones([3, 2, 3, 3]), pad=\"same\", dilation=[2])\n",
      // An angle of 3001 is no f16.
      "x = constant([[0.5, -1.0, 2.0, 0.25]], dtype=f16)\n"
      "output y = rotary_embedding(x, [3001])\n",
      // Bounds of integers: fractions, and numbers outside of the dtype.
      "x = constant([0, 1, 2, 3, 127], dtype=u8)\n"
      "output a = clip(x, low=2.0, high=-1.0), b = clip(x, low=-3.0, high=300.0)\n"
      "y = constant([-128, -1, 0, 1, 2, 127], dtype=i8)\n"
      "output c = clip(y, low=-0.5, high=1.5), d = clip(y, low=300.0), e = clip(y, high=-1e30)\n"
      "z = constant([-9223372036854775807, 0, 9223372036854775807], dtype=i64)\n"
      "output f = clip(z, low=1e30), g = clip(z, low=-inf, high=inf), h = clip(z, low=0.5)\n",
  };
  for (const char* source : kSources) {
    CompileRequest request;
    request.file = std::make_shared<SourceFile>("t.pdl", source);
    request.registry = &GlobalRegistry();
    CompileResult compiled = Compile(request);
    ASSERT_TRUE(compiled.graph) << source;
    Differential differential;
    const RandomGraph network{std::move(*compiled.graph), {}, "", ""};
    EXPECT_EQ(llvm::join(differential.Compare(network, /*special=*/true), "\n"), "") << source;
    EXPECT_EQ(differential.counts().at("import").ran, 1u) << source;
  }
}

// A literal of another dtype than the default one, for which a file states no dtype.
TEST(Differential, LiteralWithoutDType) {
  Graph graph;
  const float16 values[] = {float16(0.5f), float16(-2.0f)};
  const Op* op = Unwrap(graph.AddOp(*GlobalRegistry().Find("constant"), {},
                                    {{"value", Constant::Copy(DType::kF16, {2}, values)}}, {"c"}));
  graph.AddOutput("y", op->result());
  const std::string text = EmitPdl(graph);
  EXPECT_EQ(text, "c = constant([0.5, -2.0], dtype=f16)\noutput y = c\n");
  Differential differential;
  EXPECT_EQ(llvm::join(differential.Compare({std::move(graph), {}, "", ""}), "\n"), "");
}

}  // namespace
}  // namespace pdl
