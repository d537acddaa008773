// Ragged dims and sparse storage as types: declaration, matching, inference, serialization, errors.
#include "pdl/compiler/emit.h"
#include "pdl/compiler/serialize.h"
#include "pdl/op/op_docs.h"
#include "test/cc/testing/network_testing.h"

namespace pdl {
namespace {

CompileResult CompileText(std::string text) {
  CompileRequest request;
  request.file = std::make_shared<SourceFile>("m.pdl", std::move(text));
  request.registry = &GlobalRegistry();
  return Compile(request);
}

/// The first message, with its code.
std::string Mistake(const CompileResult& result) {
  if (result.diagnostics.all().empty()) return "";
  const Diagnostic& first = result.diagnostics.all().front();
  return first.message + " [" + CodeName(first.code) + "]";
}

constexpr char kInputs[] = R"(
input x: f32[N, ~T, 4]
input y: f32[N, ~S, 4]
input p: f32[N, ~S, ~R, 4]
input word: i64[N, ~T] in 0..100
input d: f32[N, 4]
input s: sparse f32[N, 1000]
input c: sparse bool[N, 1000]
param w: f32[4, 8] = zeros()
param v: f32[1000, 8] = zeros()
)";

/// The type of `expression`, or the error.
std::string TypeOf(const std::string& expression) {
  CompileResult result = CompileText(kInputs + ("r = " + expression + "\noutput r\n"));
  if (!result.graph) return Mistake(result);
  return result.graph->outputs().front().value->type().ToString();
}

TEST(RaggedDim, IsEqualToItselfAloneAndNothingIsComputedWithIt) {
  const Dim t = Dim::Symbol("~T"), n = Dim::Symbol("N");
  EXPECT_TRUE(t.is_ragged());
  EXPECT_FALSE(n.is_ragged());
  EXPECT_FALSE(Dim(3).is_ragged());
  EXPECT_EQ(t, Dim::Symbol("~T"));
  EXPECT_NE(t, Dim::Symbol("T"));
  EXPECT_EQ(t.ToString(), "~T");
  for (const Dim& dim : {t + 1, t - t, t * 2, t * n, t + t, Dim::FloorDiv(t, 2), Dim::Mod(n, t),
                         Dim::Min(t, n), Dim::Max(t, 3), NumElements({n, t})})
    EXPECT_FALSE(dim.is_valid()) << dim.ToString();
  // Substitution renames symbols.
  auto rename = [](llvm::StringRef) -> std::optional<Dim> { return Dim::Symbol("~S"); };
  EXPECT_EQ(t.Substitute(rename), Dim::Symbol("~S"));
}

TEST(RaggedType, StandsRightBehindTheFirstDim) {
  const Dim n = Dim::Symbol("N"), s = Dim::Symbol("~S"), t = Dim::Symbol("~T");
  auto fault = [](Shape dims) { return Type(DType::kF32, dims).Fault(); };
  EXPECT_EQ(fault({n, t}), "");
  EXPECT_EQ(fault({n, s, t, 3}), "");
  EXPECT_EQ(fault({}), "");
  EXPECT_EQ(Type(DType::kF32, {n, s, t}).ragged_levels(), 2u);
  EXPECT_EQ(fault({t}),
            "the ragged dim ~T does not come right after the first dim or another ragged one");
  EXPECT_EQ(fault({n, 3, t}),
            "the ragged dim ~T does not come right after the first dim or another ragged one");
  EXPECT_EQ(fault({n, s, t, Dim::Symbol("~R")}), "a tensor has at most 2 ragged dims, not 3");
  EXPECT_EQ(fault({n, t, t}), "two ragged dims of one tensor have the name ~T");
  Type sparse(DType::kF32, {n, t});
  sparse.storage = Storage::kSparse;
  EXPECT_EQ(sparse.Fault(), "a sparse tensor has 2 dims besides its ragged ones, not 1");
  sparse.dims = {n, s, t, 3};
  EXPECT_EQ(sparse.Fault(), "");
  sparse.dims = {n, t, 3};
  EXPECT_EQ(sparse.Fault(), "");
  sparse.dims = {n, t, 3, 3};
  EXPECT_EQ(sparse.Fault(), "a sparse tensor has 2 dims besides its ragged ones, not 3");
  sparse.dims = {n};
  EXPECT_EQ(sparse.Fault(), "a sparse matrix has 2 dims, not 1");
}

TEST(RaggedInference, ElementByElement) {
  EXPECT_EQ(TypeOf("relu(x)"), "f32[N, ~T, 4]");
  EXPECT_EQ(TypeOf("x * 2.0 + [1.0, 2.0, 3.0, 4.0]"), "f32[N, ~T, 4]");
  EXPECT_EQ(TypeOf("x + x"), "f32[N, ~T, 4]");
  EXPECT_EQ(TypeOf("cast(x > 0.0, to=i64)"), "i64[N, ~T, 4]");
  EXPECT_EQ(TypeOf("word + 1"), "i64[N, ~T]");
  EXPECT_EQ(TypeOf("tanh(p)"), "f32[N, ~S, ~R, 4]");
  EXPECT_EQ(TypeOf("x + y"), "add: sizes do not broadcast: ~T and ~S [PDL0304]");
  EXPECT_EQ(TypeOf("x + [[1.0], [2.0]]"), "add: sizes do not broadcast: ~T and 2 [PDL0304]");
  EXPECT_EQ(TypeOf("x + ones([3, 1, 1, 4])"),
            "add: the result would be f32[3, N, ~T, 4], but the ragged dim ~T does not come right "
            "after the first dim or another ragged one [PDL0308]");
}

TEST(RaggedInference, RowsAreNotRepeated) {
  CompileResult result =
      CompileText("input a: f32[1, ~T, 4]\ninput b: f32[3, 1, 4]\nr = a + b\noutput r\n");
  EXPECT_EQ(Mistake(result), "add: the row of f32[1, ~T, 4] does not broadcast to 3 [PDL0304]");
  result = CompileText(
      "input a: f32[1, ~T, 4]\ninput b: f32[3, 1, 4]\nr = where(b > 0.0, a, b)\noutput r\n");
  EXPECT_EQ(Mistake(result), "where: the row of f32[1, ~T, 4] does not broadcast to 3 [PDL0304]");
}

TEST(RaggedInference, AlongAnAxisBehindTheRaggedDims) {
  EXPECT_EQ(TypeOf("sum(x, axes=[-1])"), "f32[N, ~T]");
  EXPECT_EQ(TypeOf("max(p, axes=[3], keep=true)"), "f32[N, ~S, ~R, 1]");
  EXPECT_EQ(TypeOf("mean(x)"), "f32[]");
  EXPECT_EQ(TypeOf("sum(p, axes=[0, 1, 2])"), "f32[4]");
  EXPECT_EQ(TypeOf("sum(x, axes=[0, 1], keep=true)"), "f32[1, 1, 4]");
  EXPECT_EQ(TypeOf("sum(p, axes=[1, 2])"),
            "sum: axis 1 of f32[N, ~S, ~R, 4] is not after its ragged dims [PDL0308]");
  EXPECT_EQ(TypeOf("sum(x, axes=[1])"),
            "sum: axis 1 of f32[N, ~T, 4] is not after its ragged dim [PDL0308]");
  EXPECT_EQ(TypeOf("mean(x, axes=[0])"),
            "mean: axis 0 of f32[N, ~T, 4] is not after its ragged dim [PDL0308]");
  EXPECT_EQ(TypeOf("argmax(x)"), "i64[N, ~T] in 0..4");
  EXPECT_EQ(TypeOf("softmax(p)"), "f32[N, ~S, ~R, 4]");
  EXPECT_EQ(TypeOf("softmax(p, axis=2)"),
            "softmax: axis 2 of f32[N, ~S, ~R, 4] is not after its ragged dims [PDL0308]");
  EXPECT_EQ(TypeOf("cos_sim(x, relu(x))"), "f32[N, ~T]");
  EXPECT_EQ(TypeOf("standardize(p)"), "f32[N, ~S, ~R, 4]");
  EXPECT_EQ(TypeOf("standardize(x, axis=1)"),
            "standardize: axis 1 of f32[N, ~T, 4] is not after its ragged dim [PDL0308]");
  EXPECT_EQ(TypeOf("cross_entropy(x @ ones([4, 100]), word)"), "f32[N, ~T]");
  EXPECT_EQ(TypeOf("mean(cross_entropy(x @ ones([4, 100]), word))"), "f32[]");
  EXPECT_EQ(TypeOf("cross_entropy(y @ ones([4, 100]), word)"),
            "cross_entropy: labels and logits have different dims: ~S and ~T [PDL0301]");
  EXPECT_EQ(TypeOf("mse(x, relu(x))"), "f32[]");
  EXPECT_EQ(TypeOf("one_hot(word, 100)"), "f32[N, ~T, 100]");
  EXPECT_EQ(TypeOf("gather(ones([100, 7]), word)"), "f32[N, ~T, 7]");
  EXPECT_EQ(TypeOf("word @ ones([100, 7])"), "f32[N, ~T, 7]");
  EXPECT_EQ(TypeOf("gather(ones([7, 100]), word, axis=1)"),
            "gather: the result would be f32[7, N, ~T], but the ragged dim ~T does not come right "
            "after the first dim or another ragged one [PDL0308]");
  EXPECT_EQ(TypeOf("concat(x, x, axis=-1)"), "f32[N, ~T, 8]");
  EXPECT_EQ(TypeOf("concat(x, y, axis=-1)"),
            "concat: sizes along other axes differ: ~T and ~S [PDL0301]");
  EXPECT_EQ(TypeOf("concat(x, y, axis=1)"),
            "concat: axis 1 of f32[N, ~T, 4] is not after its ragged dim [PDL0308]");
}

TEST(RaggedInference, Products) {
  EXPECT_EQ(TypeOf("x @ w"), "f32[N, ~T, 8]");
  EXPECT_EQ(TypeOf("p @ w"), "f32[N, ~S, ~R, 8]");
  EXPECT_EQ(TypeOf("x @ [1.0, 2.0, 3.0, 4.0]"), "f32[N, ~T]");
  EXPECT_EQ(TypeOf("w @ x"), "matmul: 'b' takes no ragged dims, got f32[N, ~T, 4] [PDL0308]");
  EXPECT_EQ(TypeOf("x @ ones([1, 4, 2])"),
            "matmul: 'b' must be one matrix if 'a' is f32[N, ~T, 4], got f32[1, 4, 2] "
            "[PDL0305]");
  EXPECT_EQ(TypeOf("s @ v"), "f32[N, 8]");
  EXPECT_EQ(TypeOf("c @ v"), "f32[N, 8]");
  EXPECT_EQ(TypeOf("s @ w"), "matmul: inner dims differ: 1000 and 4 [PDL0301]");
  EXPECT_EQ(TypeOf("d @ s"), "matmul: 'b' must be dense, got sparse f32[N, 1000] [PDL0308]");
  EXPECT_EQ(
      TypeOf("(d > 0.0) @ w"),
      "matmul: 'a' must be f16, bf16, f32, f64, i8, i32, i64 or u8, got bool[N, 4] [PDL0302]");
}

TEST(RaggedInference, OtherOperatorsRefuse) {
  EXPECT_EQ(TypeOf("reshape(x, [N, 4])"),
            "reshape: f32[N, ~T, 4] must keep its ragged dims and those before them, got [N, 4] "
            "[PDL0308]");
  EXPECT_EQ(TypeOf("transpose(x)"),
            "transpose: 'x' takes no ragged dims, got f32[N, ~T, 4] [PDL0308]");
  EXPECT_EQ(TypeOf("x[:, 0]"),
            "axis 1 of f32[N, ~T, 4] can only be taken completely, `:`, since its sequences have "
            "lengths of their "
            "own; sequence_pool(x, kind=\"first\") gives one row of each [PDL0308]");
  EXPECT_EQ(TypeOf("c @ zeros([1000, 2], dtype=i32)"),
            "matmul: 'b' must be f16, bf16, f32 or f64 if 'a' is sparse bool[N, 1000], got "
            "i32[1000, 2] [PDL0302]");
  EXPECT_EQ(TypeOf("relu(s)"), "relu: 'x' must be dense, got sparse f32[N, 1000] [PDL0308]");
  EXPECT_EQ(TypeOf("s + s"), "add: 'x' must be dense, got sparse f32[N, 1000] [PDL0308]");
  EXPECT_EQ(TypeOf("sum(c)"), "sum: 'x' must be dense, got sparse bool[N, 1000] [PDL0308]");
  EXPECT_EQ(TypeOf("ones([N, dims(x)[1]])"), "f32[N, ~T]");
  EXPECT_EQ(TypeOf("xavier_uniform([N, dims(x)[1]])"),
            "xavier_uniform: 'dims' takes no ragged dims, got [N, ~T] [PDL0308]");
  EXPECT_EQ(TypeOf("dims(x)[1] + 1"),
            "~T is not one size: each row has its own, so '+' does not take it [PDL0210]");
}

TEST(RaggedText, Declarations) {
  auto mistake = [](const std::string& text) { return Mistake(CompileText(kInputs + text)); };
  EXPECT_EQ(mistake("r: f32[N, ~T, 8] = x @ w\noutput r"), "");
  EXPECT_EQ(mistake("r: f32[N, ~S, 8] = x @ w\noutput r"),
            "'r' is f32[N, ~T, 8], declared f32[N, ~S, 8] [PDL0301]");
  EXPECT_EQ(mistake("r: f32[N, ~Q, 8] = x @ w\noutput r"),
            "no input has a ragged dim ~Q; did you mean '~T'? [PDL0102]");
  EXPECT_EQ(mistake("r: f32[N, 1000] = s\noutput r"),
            "'r' is sparse f32[N, 1000], declared f32[N, 1000] [PDL0308]");
  EXPECT_EQ(mistake("r: i64[N, ~T] in 0..200 = word\noutput r"), "");
  EXPECT_EQ(mistake("r: i64[N, ~T] in 0..50 = word\noutput r"),
            "'r' is i64[N, ~T] in 0..100, declared i64[N, ~T] in 0..50 [PDL0301]");
  // A run checks a range that is not known.
  EXPECT_EQ(mistake("r: i64[N, ~T] in 0..50 = word + 1\noutput r"), "");
  EXPECT_EQ(mistake("input z: f32[~T, 3]"),
            "the ragged dim ~T does not come right after the first dim or another ragged one "
            "[PDL0312]");
  EXPECT_EQ(mistake("input z: sparse f32[N, 3, 3]"), "a sparse matrix has 2 dims, not 3 [PDL0312]");
  EXPECT_EQ(mistake("param z: f32[3, ~T] = zeros()"),
            "a parameter is dense and has no ragged dims [PDL0312]");
  EXPECT_EQ(mistake("state z: sparse f32[3, 3] = zeros()"),
            "a state is dense and has no ragged dims [PDL0312]");
}

TEST(RaggedText, LayersBindRaggedDims) {
  const std::string layers = R"(
layer rows(a: F[..., D], size: int) {
  param w: F[D, size] = zeros()
  return a @ w
}
layer lines(a: F[B, ~L, D]) {
  r: F[B, ~L, D] = relu(a)
  return r
}
layer both(a: F[B, ~L, D], b: F[B, ~L, E]) { return concat(a, b, axis=-1) }
layer plain(a: F[B, L, D]) { return relu(a) }
layer all_kinds(a: F[B, D] | sparse F[B, D] | sparse bool[B, D]) {
  param w: F[D, 2] = zeros()
  return a @ w
}
layer same(a: F[..., D], b: F[..., E]) { return concat(a, b, axis=-1) }
)";
  auto type_of = [&](const std::string& call) {
    CompileResult result = CompileText(layers + kInputs + "r = " + call + "\noutput r\n");
    if (!result.graph) return Mistake(result);
    return result.graph->outputs().front().value->type().ToString();
  };
  EXPECT_EQ(type_of("rows(x, size=3)"), "f32[N, ~T, 3]");
  EXPECT_EQ(type_of("rows(p, size=3)"), "f32[N, ~S, ~R, 3]");
  EXPECT_EQ(type_of("lines(x)"), "f32[N, ~T, 4]");
  EXPECT_EQ(type_of("lines(d)"),
            "input 'a' of 'lines' must be F[B, ~L, D], got f32[N, 4] [PDL0305]");
  EXPECT_EQ(type_of("lines(ones([3, 2, 4]))"),
            "input 'a' of 'lines' must be F[B, ~L, D], got f32[3, 2, 4] [PDL0308]");
  EXPECT_EQ(type_of("plain(x)"),
            "input 'a' of 'plain' must be F[B, L, D], got f32[N, ~T, 4] [PDL0308]");
  EXPECT_EQ(type_of("both(x, x @ w)"), "f32[N, ~T, 12]");
  EXPECT_EQ(type_of("both(x, y)"),
            "input 'b' of 'both' must be F[B, ~L, E], got f32[N, ~S, 4] [PDL0301]");
  EXPECT_EQ(type_of("all_kinds(s)"), "f32[N, 2]");
  EXPECT_EQ(type_of("all_kinds(c)"), "f32[N, 2]");
  EXPECT_EQ(type_of("all_kinds(d)"), "f32[N, 2]");
  EXPECT_EQ(type_of("plain(s)"),
            "input 'a' of 'plain' must be F[B, L, D], got sparse f32[N, 1000] [PDL0308]");
  EXPECT_EQ(type_of("same(x, x)"), "f32[N, ~T, 8]");
  EXPECT_EQ(type_of("same(x, y)"),
            "input 'b' of 'same' must be F[..., E], got f32[N, ~S, 4] [PDL0301]");
}

TEST(IndexRange, StaysWithAnIndexThatIsMoved) {
  const std::string inputs =
      "input i: i64[N, 6] in 0..10\ninput j: i64[N, 6] in 0..20\n"
      "input k: i64[N, 6]\n";
  auto type_of = [&](const std::string& expression) {
    CompileResult result = CompileText(inputs + "r = " + expression + "\noutput r\n");
    if (!result.graph) return Mistake(result);
    return result.graph->outputs().front().value->type().ToString();
  };
  EXPECT_EQ(type_of("reshape(i, [N, 2, 3])"), "i64[N, 2, 3] in 0..10");
  EXPECT_EQ(type_of("transpose(i)"), "i64[6, N] in 0..10");
  EXPECT_EQ(type_of("i[:, 1:3]"), "i64[N, 2] in 0..10");
  EXPECT_EQ(type_of("broadcast_to(i, [2, N, 6])"), "i64[2, N, 6] in 0..10");
  EXPECT_EQ(type_of("concat(i, j, axis=1)"), "i64[N, 12] in 0..20");
  EXPECT_EQ(type_of("concat(i, k, axis=1)"), "i64[N, 12]");
  EXPECT_EQ(type_of("i + 1"), "i64[N, 6]");
  EXPECT_EQ(type_of("cast(i, to=i64)"), "i64[N, 6]");
}

TEST(RaggedDocs, SayWhatAnInputTakes) {
  auto has = [](const char* op, const char* part) {
    const std::string text = OpDocText(*GlobalRegistry().Find(op));
    return text.find(part) != std::string::npos ? "" : text;
  };
  EXPECT_EQ(has("relu", "; dense or ragged\n"), "");
  EXPECT_EQ(has("matmul", "; dense, sparse or ragged\n"), "");
  EXPECT_EQ(has("matmul", "  b: f16, bf16, f32, f64, i8, i32, i64 or u8\n"), "");
  EXPECT_EQ(has("reshape", "  x: any dtype; dense or ragged\n"), "");
  EXPECT_EQ(has("transpose", "i64, u8 or bool\n"), "");
}

TEST(RaggedFormat, TextAndFileComeBack) {
  CompileResult first = CompileText(std::string(kInputs) +
                                    "output r = softmax(x @ w), q = p * 2.0, u = s @ v + c @ v, "
                                    "a = word\n");
  ASSERT_TRUE(first.graph) << Mistake(first);
  const std::string text = EmitPdl(*first.graph);
  CompileResult second = CompileText(text);
  ASSERT_TRUE(second.graph) << text << Mistake(second);
  EXPECT_EQ(EmitPdl(*second.graph), text);
  EXPECT_NE(text.find("input p: f32[N, ~S, ~R, 4]"), std::string::npos) << text;
  EXPECT_NE(text.find("input c: sparse bool[N, 1000]"), std::string::npos) << text;

  const std::string bytes = Unwrap(SerializeNetwork(*first.graph));
  Graph read = Unwrap(DeserializeNetwork(bytes, "m.pdlc", GlobalRegistry()));
  EXPECT_EQ(EmitIr(read), EmitIr(*first.graph));
  EXPECT_EQ(Unwrap(SerializeNetwork(read)), bytes);
  EXPECT_NE(EmitIr(read).find("symbols N, ~T, ~S, ~R"), std::string::npos) << EmitIr(read);
}

Tensor Places(const std::vector<int64_t>& values) {
  return Tensor::FromValues<int64_t>(DType::kI64, {static_cast<int64_t>(values.size())}, values);
}

/// The error of a run for one output, or "".
std::string MessageOf(const Network& network, Scope* scope, const char* output) {
  CPUContext context;
  RunOptions options;
  options.outputs = {output};
  return Message(network.Run(scope, &context, options));
}

TEST(RaggedRun, SequencesOfSparseRows) {
  auto network = MakeNetwork(
      "input s: sparse f32[N, ~T, 3]\ninput c: sparse bool[N, ~S, ~R, 3]\ninput x: f32[N, ~T, 1]\n"
      "w = [[1.0], [10.0], [100.0]]\n"
      "output a = s @ w + x, b = c @ w, same = s\n");
  ASSERT_NE(network, nullptr);
  Scope scope;
  auto run = [&](const char* output) { return MessageOf(*network, &scope, output); };
  // [[{1: 2.0}, {}], [], [{0: 3.0, 2: 4.0}]]
  Feed(scope, "s", F32({3}, {2, 3, 4}));
  Feed(scope, "s.offsets", Places({0, 2, 2, 3}));
  Feed(scope, "s.indices", Places({1, 0, 2}));
  Feed(scope, "x", F32({3, 1}, {1, 2, 3}));
  EXPECT_EQ(run("a"), "no value for input 's.offsets2': i64[sum(T) + 1] [PDL0501]");
  Feed(scope, "s.offsets2", Places({0, 1, 1, 3}));
  EXPECT_EQ(run("a"), "");
  EXPECT_EQ(Printed(scope, "a"), "[[ 21.0],\n [  2.0],\n [406.0]]");
  EXPECT_EQ(Printed(scope, "a.offsets"), "[0, 2, 2, 3]");
  EXPECT_EQ(run("same"), "");
  EXPECT_EQ(Printed(scope, "same.offsets2"), "[0, 1, 1, 3]");
  Feed(scope, "s.offsets2", Places({0, 1, 1, 2}));
  EXPECT_EQ(run("a"),
            "input 's', sparse f32[N, ~T, 3]: the offsets end at 2, but there are 3 elements "
            "[PDL0513]");
  Feed(scope, "s.offsets2", Places({0, 1, 3}));
  EXPECT_EQ(run("a"),
            "input 's', sparse f32[N, ~T, 3]: the offsets end at 3, but there are 2 rows "
            "[PDL0513]");
  Feed(scope, "s.offsets2", Places({0, 1, 1, 3}));
  // One sequence with two rows, with one row, and with none; no sequences.
  Feed(scope, "c.offsets", Places({0, 2}));
  Feed(scope, "c.offsets2", Places({0, 1, 1}));
  Feed(scope, "c.offsets3", Places({0, 2}));
  Feed(scope, "c.indices", Places({0, 2}));
  EXPECT_EQ(run("b"), "");
  EXPECT_EQ(Printed(scope, "b"), "[[101.0]]");
  EXPECT_EQ(Printed(scope, "b.offsets2"), "[0, 1, 1]");
  Feed(scope, "c.offsets", Places({0}));
  Feed(scope, "c.offsets2", Places({0}));
  Feed(scope, "c.offsets3", Places({0}));
  Feed(scope, "c.indices", Places({}));
  EXPECT_EQ(run("b"), "");
  EXPECT_EQ(Printed(scope, "b.offsets"), "[0]");
}

TEST(RaggedRun, FindsTheParts) {
  auto network = MakeNetwork(
      "input x: f32[N, ~T, 2]\ninput y: f32[N, ~T, 2]\ninput s: sparse f32[M, 3]\n"
      "output sum = x + y, z = s @ ones([3, 2]), same = y\n");
  ASSERT_NE(network, nullptr);
  Scope scope;
  auto run = [&](const char* output) { return MessageOf(*network, &scope, output); };
  EXPECT_EQ(run("sum"), "no value for input 'x': f32[N, ~T, 2], 'y': f32[N, ~T, 2] [PDL0501]");
  Feed(scope, "x", F32({3, 2}, {1, 2, 3, 4, 5, 6}));
  Feed(scope, "y", F32({3, 2}, {1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(run("sum"), "no value for input 'x.offsets': i64[N + 1] [PDL0501]");
  // Both inputs must have the same lengths.
  Feed(scope, "y.offsets", Places({0, 1, 3}));
  EXPECT_EQ(run("sum"), "");
  EXPECT_EQ(Printed(scope, "sum"), "[[2.0, 3.0],\n [4.0, 5.0],\n [6.0, 7.0]]");
  EXPECT_EQ(Printed(scope, "sum.offsets"), "[0, 1, 3]");
  Feed(scope, "x.offsets", Places({0, 1, 3}));
  EXPECT_EQ(run("sum"), "");
  EXPECT_EQ(run("same"), "");
  EXPECT_EQ(Printed(scope, "same.offsets"), "[0, 1, 3]");

  auto with = [&](std::vector<int64_t> values) {
    Feed(scope, "x.offsets", Places(std::move(values)));
    return run("sum");
  };
  EXPECT_EQ(
      with({0, 2, 3}),
      "inputs 'x' and 'y' share the lengths ~T, but row 0 has 2 in the one and 1 in the other "
      "[PDL0513]");
  EXPECT_EQ(with({0, 1, 2, 3}),
            "inputs 'x' and 'y' share the lengths ~T, but have 3 and 2 of them [PDL0513]");
  EXPECT_EQ(with({1, 1, 3}),
            "input 'x', f32[N, ~T, 2]: offsets must begin with 0, got 1 [PDL0513]");
  EXPECT_EQ(with({0, 4, 3}),
            "input 'x', f32[N, ~T, 2]: offsets must not decrease, but after 4 comes 3 [PDL0513]");
  EXPECT_EQ(with({0, 1, 2}),
            "input 'x', f32[N, ~T, 2]: the offsets end at 2, but there are 3 rows [PDL0513]");
  EXPECT_EQ(with({}), "input 'x', f32[N, ~T, 2]: offsets must be i64[N + 1], got i64[0] [PDL0513]");

  // Offsets of a wrong dtype are an error.
  Scope narrow;
  Feed(narrow, "x.offsets", Tensor::FromValues<int32_t>(DType::kI32, {3}, {0, 1, 3}));
  Feed(narrow, "y.offsets", Tensor::FromValues<int32_t>(DType::kI32, {3}, {0, 2, 3}));
  EXPECT_EQ(MessageOf(*network, &narrow, "sum"),
            "no value for input 'x': f32[sum(T), 2], 'y': f32[sum(T), 2] [PDL0501]");

  Feed(scope, "s", F32({2}, {1.5, 2}));
  Feed(scope, "s.offsets", Places({0, 0, 2}));
  Feed(scope, "x.offsets", Places({0, 1, 3}));
  EXPECT_EQ(run("z"), "no value for input 's.indices': i64[count(s)] in 0..3 [PDL0501]");
  Feed(scope, "s.indices", Places({0, 2}));
  EXPECT_EQ(run("z"), "");
  EXPECT_EQ(Printed(scope, "z"), "[[0.0, 0.0],\n [3.5, 3.5]]");
  Feed(scope, "s.indices", Places({0, 3}));
  EXPECT_EQ(run("z"), "input 's.indices' must be in 0..3, and element 1 is 3 [PDL0512]");
}

// A network of which only a part is needed; no rows; lengths that change from run to run.
TEST(RaggedRun, AnyLengths) {
  auto network = MakeNetwork(
      "input x: f32[N, ~T]\noutput total = sum(x), each = sequence_pool(x, kind=\"max\", "
      "empty=-1)\n");
  ASSERT_NE(network, nullptr);
  Scope scope;
  CPUContext context;
  for (int64_t rows : {0, 1, 5, 40}) {
    for (int64_t sequences : {1, 2, 7}) {
      std::vector<int64_t> offsets = {0};
      for (int64_t i = 1; i < sequences; ++i) offsets.push_back(rows * i / sequences);
      offsets.push_back(rows);
      Feed(scope, "x", F32({rows}, std::vector<float>(static_cast<size_t>(rows), 2.0f)));
      Feed(scope, "x.offsets", Tensor::FromValues<int64_t>(DType::kI64, {sequences + 1}, offsets));
      ASSERT_EQ(Message(network->Run(&scope, &context)), "");
      EXPECT_EQ(*scope.Find("total")->Get<Tensor>()->data<float>(),
                2.0f * static_cast<float>(rows));
      const Tensor& each = *scope.Find("each")->Get<Tensor>();
      ASSERT_EQ(each.num_elements(), sequences);
      for (int64_t i = 0; i < sequences; ++i)
        EXPECT_EQ(
            each.data<float>()[i],
            offsets[static_cast<size_t>(i)] == offsets[static_cast<size_t>(i) + 1] ? -1.0f : 2.0f);
    }
  }
}

}  // namespace
}  // namespace pdl
