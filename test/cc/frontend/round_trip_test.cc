// Networks stay the same when they are stored in a file or emitted as source, and read again.
#include <gtest/gtest.h>

#include <cstdlib>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler/layers.h"
#include "pdl/compiler/serialize.h"
#include "pdl/op/device_context.h"
#include "pdl/runtime/packed_value.h"
#include "test/cc/testing/network_testing.h"
#include "test/cc/testing/random_network.h"

namespace pdl {
namespace {

CompileResult CompileText(const std::string& text) {
  CompileRequest request;
  request.file = std::make_shared<SourceFile>("t.pdl", text);
  request.registry = &GlobalRegistry();
  request.library = StandardLayers();
  return Compile(request);
}

std::string Messages(const CompileResult& result) {
  std::string text;
  llvm::raw_string_ostream os(text);
  result.diagnostics.Render(os);
  return text;
}

/// The sizes of a dense type, with the symbols of RandomNetwork.
std::vector<int64_t> SizesOf(llvm::ArrayRef<Dim> dims) {
  std::vector<int64_t> sizes;
  for (const Dim& dim : dims)
    sizes.push_back(Unwrap(dim.Evaluate([](llvm::StringRef symbol) -> std::optional<int64_t> {
      return RandomNetworkSize(symbol[0]);
    })));
  return sizes;
}

Constant Numbers(DType dtype, const std::vector<int64_t>& sizes, uint32_t seed) {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < count; ++i) indices.push_back((i * 5 + seed) % 7);
  if (dtype == DType::kI64) return Constant::Copy(dtype, sizes, indices.data());
  return Noise(sizes, seed).ToConstant();
}

/// A value of the type. The sequences of `~R` have different lengths, and one is empty.
PackedConstant Fed(const Type& type, uint32_t seed) {
  if (type.is_sparse()) return Unwrap(Pack(Numbers(type.dtype, SizesOf(type.dims), seed), type));
  if (type.is_plain()) return Numbers(type.dtype, SizesOf(type.dims), seed);
  PackedConstant packed;
  int64_t rows = SizesOf(type.dims[0])[0];
  for (unsigned level = 0; level < type.ragged_levels(); ++level) {
    std::vector<int64_t> offsets = {0};
    for (int64_t row = 0; row < rows; ++row) offsets.push_back(offsets.back() + (row * 2 + 2) % 5);
    packed.offsets.push_back(
        Constant::Copy(DType::kI64, {static_cast<int64_t>(offsets.size())}, offsets.data()));
    rows = offsets.back();
  }
  std::vector<int64_t> sizes =
      SizesOf(llvm::ArrayRef(type.dims).drop_front(1 + type.ragged_levels()));
  sizes.insert(sizes.begin(), rows);
  packed.values = Numbers(type.dtype, sizes, seed);
  packed.type = TypeWithSizes(type, packed.values.sizes(), packed.offsets[0].sizes());
  return packed;
}

/// The bytes of all outputs and states of three runs, or an error.
std::string Results(Graph graph) {
  std::vector<std::pair<std::string, Type>> inputs, outputs;
  for (const auto* value : graph.inputs()) inputs.emplace_back(value->name(), value->type());
  for (const GraphOutput& output : graph.outputs())
    outputs.emplace_back(output.name, output.value->type());
  for (const auto* value : graph.states()) outputs.emplace_back(value->name(), value->type());
  auto network = Network::Create(std::move(graph), {}, GlobalRegistry());
  if (!network) return llvm::toString(network.takeError());
  CPUContext context;
  Scope scope;
  std::string results;
  for (uint32_t run = 0; run < 3; ++run) {
    for (size_t i = 0; i < inputs.size(); ++i)
      PackedValue::FromConstant(Fed(inputs[i].second, static_cast<uint32_t>(i) + 10 * run))
          .Put(&scope, inputs[i].first);
    RunOptions options;
    options.training = run == 1;
    if (llvm::Error error = (*network)->Run(&scope, &context, options))
      return llvm::toString(std::move(error));
    for (const auto& [name, type] : outputs)
      for (const PartType& part : PartsOf(name, type))
        results += name + ": " + Bytes(scope, PartName(name, part.part)) + "\n";
  }
  return results;
}

uint64_t CountOf(const char* variable, uint64_t fallback) {
  const char* given = std::getenv(variable);
  return given == nullptr ? fallback : std::strtoull(given, nullptr, 10);
}

/// Stores and emits the network of the source, and compares the networks read again. Returns false
/// if the source has errors or cannot be run.
bool RoundTrip(const std::string& text) {
  CompileResult first = CompileText(text);
  if (!first.graph) {
    if (std::getenv("PDL_RANDOM_VERBOSE") != nullptr) llvm::errs() << Messages(first) << text;
    return false;
  }
  const std::string bytes = Unwrap(SerializeNetwork(*first.graph));
  const std::string flat = EmitPdl(*first.graph);

  llvm::Expected<Graph> stored = DeserializeNetwork(bytes, "t.pdlc", GlobalRegistry());
  if (!stored) {
    ADD_FAILURE() << llvm::toString(stored.takeError()) << "\n" << text;
    return false;
  }
  EXPECT_EQ(Unwrap(SerializeNetwork(*stored)), bytes) << text;
  EXPECT_EQ(EmitPdl(*stored), flat) << text;

  CompileResult again = CompileText(flat);
  if (!again.graph) {
    ADD_FAILURE() << Messages(again) << flat << "\n" << text;
    return false;
  }
  EXPECT_EQ(EmitPdl(*again.graph), flat) << text;

  const std::string results = Results(std::move(*first.graph));
  EXPECT_EQ(Results(std::move(*stored)), results) << text;
  EXPECT_EQ(Results(std::move(*again.graph)), results) << flat << text;
  const bool ran = results.find("[PDL") == std::string::npos;
  if (!ran && std::getenv("PDL_RANDOM_VERBOSE") != nullptr) llvm::errs() << results << text;
  return ran;
}

TEST(RoundTrip, NetworksMadeByChance) {
  const uint64_t begin = CountOf("PDL_RANDOM_BEGIN", 0);
  const uint64_t count = CountOf("PDL_RANDOM_COUNT", 300);
  uint64_t ran = 0;
  for (uint64_t seed = begin; seed < begin + count; ++seed) {
    SCOPED_TRACE(seed);
    ran += RoundTrip(RandomNetwork(seed, 4 + static_cast<unsigned>(seed % 12)));
  }
  // The others are not valid.
  EXPECT_GE(ran, count * 9 / 10);
  RecordProperty("ran", static_cast<int>(ran));
}

}  // namespace
}  // namespace pdl
