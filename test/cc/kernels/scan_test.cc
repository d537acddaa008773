// Loops over Blocks: invalid files, source and files that make the same network again, and results
// that do not depend on the number of threads.
#include <functional>
#include <thread>

#include "gtest/gtest.h"
#include "pdl/compiler/compiler.h"
#include "pdl/compiler/layers.h"
#include "pdl/compiler/serialize.h"
#include "pdl/runtime/network.h"
#include "proto/pdl.pb.h"
#include "test/cc/testing/runtime_testing.h"

namespace pdl {
namespace {

constexpr char kText[] = R"(
layer cell(x: F[N, D], h: F[N, H]) {
  param w: F[D + H, H] = normal(std=0.5)
  next = tanh(concat(x, h, axis=1) @ w)
  return h=next, y=2.0 * next
}
input x: f32[N, ~T, 3]
input p: f32[M, S, 3]
input lengths: i64[M]
y, last = scan(x, init=zeros([N, 5]), body=cell())
q, q_last = scan(p, init=zeros([M, 5]), lengths=lengths, reverse=true, body=cell())
s = scan(p, p, axis=0, init=zeros([S, 3]), body=add_n())
output last, q, q_last, s
output total = sequence_pool(y)
)";

// Second derivatives of loops and attention.
constexpr char kTwice[] = R"(
input x: f32[N, ~T, 3]
input p: f32[M, S, 3]
input lengths: i64[M]
y, last, cell = lstm(x, size=4)
z = gru(p, lengths=lengths, size=4, reverse=true)
a = multi_head_attention(z, heads=2, kv_heads=1, causal=true)
gx = grad(sum(square(y)) + sum(last * cell), x)
gp = grad(sum(square(a)), p)
output hx = grad(sum(square(gx)), x)
output hp = grad(sum(square(gp)), p)
)";

Graph GraphOf(const std::string& text) {
  CompileRequest request;
  request.file = std::make_shared<SourceFile>("m.pdl", text);
  request.registry = &GlobalRegistry();
  request.library = StandardLayers();
  CompileResult result = Compile(request);
  if (result.graph) return std::move(*result.graph);
  std::string mistakes;
  llvm::raw_string_ostream os(mistakes);
  result.diagnostics.Render(os);
  ADD_FAILURE() << mistakes;
  return {};
}

Tensor Noise(llvm::ArrayRef<int64_t> sizes, uint32_t x) {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) {
    x = x * 1664525u + 1013904223u;
    value = static_cast<float>(static_cast<int32_t>(x) >> 8) * 0x1p-23f;
  }
  return Tensor::FromValues<float>(DType::kF32, sizes, values);
}

void Feed(Scope& scope, const std::string& name, Tensor tensor) {
  scope.Create(name)->Set(std::move(tensor));
}

std::string Bytes(const Scope& scope, const std::string& name) {
  const Tensor& tensor = *scope.Find(name)->Get<Tensor>();
  return {static_cast<const char*>(tensor.raw()), static_cast<size_t>(tensor.num_bytes())};
}

std::string Serialized(const Graph& graph) { return Unwrap(SerializeNetwork(graph)); }

void FeedAll(Scope& scope) {
  Feed(scope, "x", Noise({40, 3}, 2));
  const int64_t offsets[] = {0, 7, 7, 20, 40};
  Feed(scope, "x.offsets", Tensor::FromValues<int64_t>(DType::kI64, {5}, offsets));
  Feed(scope, "p", Noise({3, 6, 3}, 3));
  const int64_t lengths[] = {6, 0, 2};
  Feed(scope, "lengths", Tensor::FromValues<int64_t>(DType::kI64, {3}, lengths));
}

/// All outputs, concatenated.
std::string Results(Graph graph, NetworkOptions options = {}, int threads = 1) {
  std::vector<std::string> names;
  for (const GraphOutput& output : graph.outputs()) names.push_back(output.name);
  auto network = Unwrap(Network::Create(std::move(graph), std::move(options), GlobalRegistry()));
  Scope scope;
  FeedAll(scope);
  CPUContext context(threads);
  EXPECT_EQ(Message(network->Run(&scope, &context)), "");
  std::string all;
  for (const std::string& name : names) all += Bytes(scope, name);
  return all;
}

TEST(Scan, FilesMakeTheSameNetwork) {
  const Graph graph = GraphOf(kText);
  const std::string bytes = Serialized(graph);
  Graph read = Unwrap(DeserializeNetwork(bytes, "net.pdlc", GlobalRegistry()));
  EXPECT_EQ(Serialized(read), bytes);
  EXPECT_EQ(Results(std::move(read)), Results(graph.Clone()));
}

TEST(Scan, TextsMakeTheSameNetwork) {
  const Graph graph = GraphOf(kText);
  const std::string text = EmitPdl(graph);
  Graph again = GraphOf(text);
  EXPECT_EQ(EmitPdl(again), text);
  EXPECT_EQ(Results(std::move(again)), Results(graph.Clone()));
}

TEST(Scan, ThreadsAndFusionChangeNoBit) {
  const Graph graph = GraphOf(kText);
  const std::string bits = Results(graph.Clone());
  for (int threads : {2, 3, 8}) EXPECT_EQ(Results(graph.Clone(), {}, threads), bits);
  NetworkOptions plain;
  plain.fuse = false;
  plain.optimize = false;
  EXPECT_EQ(Results(graph.Clone(), plain), bits);
}

TEST(Scan, SecondDerivativesHaveTheSameBits) {
  const Graph graph = GraphOf(kTwice);
  const std::string bits = Results(graph.Clone());
  for (int threads : {2, 3, 8}) EXPECT_EQ(Results(graph.Clone(), {}, threads), bits);
  Graph read = Unwrap(DeserializeNetwork(Serialized(graph), "net.pdlc", GlobalRegistry()));
  EXPECT_EQ(Results(std::move(read)), bits);
}

TEST(Scan, RunsAtOnceShareNothing) {
  auto network = Unwrap(Network::Create(GraphOf(kText), {}, GlobalRegistry()));
  const std::string want = Results(GraphOf(kText));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      Scope scope;
      FeedAll(scope);
      CPUContext context(1);
      for (int run = 0; run < 20; ++run) {
        EXPECT_EQ(Message(network->Run(&scope, &context)), "");
        std::string all;
        for (const char* name : {"last", "q", "q_last", "s", "total"}) all += Bytes(scope, name);
        EXPECT_EQ(all, want);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

struct BrokenCase {
  const char* name;
  std::function<void(NetworkDesc&)> damage;
  const char* message;
};
void PrintTo(const BrokenCase& broken, std::ostream* os) { *os << broken.name; }

OpDesc& ScanOf(NetworkDesc& desc, const std::string& result) {
  for (OpDesc& op : *desc.mutable_blocks(0)->mutable_ops())
    if (op.outputs(0) == result) return op;
  std::abort();
}
BlockDesc& BodyOf(NetworkDesc& desc, const std::string& result) {
  return *desc.mutable_blocks(
      static_cast<int>(ScanOf(desc, result).attributes().at("body").block()));
}
VarDesc& VarOf(NetworkDesc& desc, const std::string& name) {
  for (VarDesc& var : *desc.mutable_variables())
    if (var.name() == name) return var;
  std::abort();
}

class ScanBroken : public testing::TestWithParam<BrokenCase> {};

TEST_P(ScanBroken, IsRefused) {
  NetworkDesc desc;
  SerializeOptions options;
  options.locations = false;
  ASSERT_TRUE(desc.ParseFromString(Unwrap(SerializeNetwork(GraphOf(kText), options))));
  GetParam().damage(desc);
  auto read = DeserializeNetwork(desc.SerializeAsString(), "net.pdlc", GlobalRegistry());
  ASSERT_FALSE(read);
  EXPECT_EQ(Message(read.takeError()), std::string("net.pdlc: ") + GetParam().message);
}

const BrokenCase kBroken[] = {
    {"NoOutput", [](NetworkDesc& d) { BodyOf(d, "y").clear_outputs(); },
     "call of 'scan' for 'y': the body returns 0 values, but the call has 2 results [PDL0318]"},
    {"OutputsTurnedRound",
     [](NetworkDesc& d) {
       BlockDesc& body = BodyOf(d, "y");
       body.mutable_outputs()->SwapElements(0, 1);
       body.set_outputs(0, body.inputs(0));
     },
     "call of 'scan' for 'y': a carried value has type f32[rows, 5], but the body returns "
     "f32[rows, 3] as its value 1 [PDL0318]"},
    {"OutputFromOutside", [](NetworkDesc& d) { BodyOf(d, "y").set_outputs(0, "x"); },
     "variable 'x' is not in block 1 [PDL0402]"},
    {"InputLacks", [](NetworkDesc& d) { BodyOf(d, "y").mutable_inputs()->RemoveLast(); },
     "call of 'matmul' for 'y.body.next_matmul': it reads 'y.body.outer.w', which is not in its "
     "block [PDL0402]"},
    {"NoBlock",
     [](NetworkDesc& d) { (*ScanOf(d, "y").mutable_attributes())["body"].set_block(77); },
     "call of 'scan' for 'y': attribute 'body': there is no block 77 to call [PDL0402]"},
    {"BlockOfAnInitializer",
     [](NetworkDesc& d) { (*ScanOf(d, "y").mutable_attributes())["body"].set_block(2); },
     "call of 'scan' for 'y': the body takes 0 values, but is given 3 [PDL0318]"},
    {"BlockOfAnother",
     [](NetworkDesc& d) {
       (*ScanOf(d, "y").mutable_attributes())["body"] = ScanOf(d, "q").attributes().at("body");
     },
     "call of 'scan' for 'y': the body takes 0 values, but is given 3 [PDL0318]"},
    {"MoreSequences",
     [](NetworkDesc& d) { (*ScanOf(d, "y").mutable_attributes())["num_xs"].set_int_(2); },
     "call of 'scan' for 'y': takes 5 inputs according to its counts, got 3 [PDL0205]"},
    {"ManySequences",
     [](NetworkDesc& d) { (*ScanOf(d, "y").mutable_attributes())["num_xs"].set_int_(INT64_MAX); },
     "call of 'scan' for 'y': attribute 'num_xs' of 'scan' must be at least 0 and at most 65536, "
     "got 9223372036854775807 [PDL0203]"},
    {"OtherCounts",
     [](NetworkDesc& d) {
       (*ScanOf(d, "y").mutable_attributes())["num_xs"].set_int_(2);
       (*ScanOf(d, "y").mutable_attributes())["num_init"].set_int_(0);
     },
     "call of 'scan' for 'y': numbers of steps differ: ~T and 5 [PDL0301]"},
    {"RowsOfTheNetwork",
     [](NetworkDesc& d) {
       for (VarDesc& var : *d.mutable_variables())
         for (DimDesc& dim : *var.mutable_type()->mutable_dims())
           if (dim.symbol() == "rows") dim.set_symbol("N");
     },
     "call of 'scan' for 'y': the number of rows N of the body must be a symbol of its own "
     "[PDL0318]"},
    {"InputOfAnotherType",
     [](NetworkDesc& d) {
       VarOf(d, BodyOf(d, "y").inputs(0)).mutable_type()->mutable_dims(1)->set_constant(4);
     },
     "call of 'concat' for 'y.body.next_concat': 'y.body.next_concat' is stored as f32[rows, 8], "
     "but the call returns f32[rows, 9] [PDL0402]"},
};
INSTANTIATE_TEST_SUITE_P(, ScanBroken, testing::ValuesIn(kBroken),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace pdl
