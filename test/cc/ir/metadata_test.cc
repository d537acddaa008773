// The declarations of operators and layers are complete, and true: descriptions, ragged levels of
// inputs, types of outputs, differentiability.
#include <map>
#include <set>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "pdl/compiler/describe_layers.h"
#include "pdl/compiler/layers.h"
#include "pdl/compiler/test_block.h"
#include "pdl/op/attribute_reader.h"
#include "pdl/op/inference.h"
#include "pdl/op/lowering.h"
#include "test/cc/testing/network_testing.h"

namespace pdl {
namespace {

std::vector<LayerSignature> StandardSignatures() { return DescribeLayers(*StandardLayers()); }

// --- descriptions -------------------------------------------------------------------------------

TEST(Descriptions, OfOperators) {
  for (const OpDef* def : GlobalRegistry().All()) {
    const OpSignature& signature = def->signature;
    EXPECT_FALSE(signature.comment.empty()) << def->name();
    for (const InputDecl& input : signature.inputs)
      EXPECT_FALSE(input.comment.empty()) << def->name() << ", input " << input.name;
    for (const OutputDecl& output : signature.outputs)
      EXPECT_FALSE(output.comment.empty()) << def->name() << ", output " << output.name;
    for (const AttributeDecl& attribute : signature.attributes)
      EXPECT_FALSE(attribute.comment.empty()) << def->name() << ", attribute " << attribute.name;
  }
}

TEST(Descriptions, OfLayers) {
  const std::vector<LayerSignature> layers = StandardSignatures();
  EXPECT_GE(layers.size(), 48u);
  auto check = [](const LayerSignature& layer, llvm::ArrayRef<LayerAttributeDecl> attributes) {
    for (const LayerAttributeDecl& attribute : attributes)
      EXPECT_FALSE(attribute.decl.comment.empty())
          << layer.name << ", attribute " << attribute.decl.name;
  };
  for (const LayerSignature& layer : layers) {
    EXPECT_FALSE(layer.comment.empty()) << layer.name;
    EXPECT_FALSE(layer.outputs.empty()) << layer.name;
    for (const LayerInputDecl& input : layer.inputs) {
      EXPECT_FALSE(input.comment.empty()) << layer.name << ", input " << input.name;
      check(layer, input.parameter_attributes);
    }
    for (const OutputDecl& output : layer.outputs)
      EXPECT_FALSE(output.comment.empty()) << layer.name << ", output " << output.name;
    check(layer, layer.attributes);
    check(layer, layer.parameter_attributes);
    check(layer, layer.bias_attributes);
  }
}

// --- types of outputs ---------------------------------------------------------------------------

/// The operators of a graph with declared types of outputs, each of which is compared with the
/// types that inference set.
void CheckOutputs(const Graph& graph, std::set<std::string>* seen) {
  for (size_t i = 0; i < graph.num_blocks(); ++i) {
    for (const Op* op : graph.block({static_cast<uint32_t>(i)}).ops) {
      std::vector<const Type*> operands, results;
      for (const auto* operand : op->operands()) operands.push_back(&operand->type());
      for (const auto* result : op->results()) results.push_back(&result->type());
      EXPECT_EQ(FaultOfOutputs(op->def().signature, operands, op->attributes().values(), results),
                "")
          << op->type();
      seen->insert(op->type());
    }
  }
}

TEST(OutputTypes, AreAsInferredInAllTestsOfOperators) {
  std::set<std::string> seen;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator file("ops", error), end; file != end && !error;
       file.increment(error)) {
    if (llvm::sys::path::extension(file->path()) != ".pdl") continue;
    SCOPED_TRACE(file->path());
    auto text = llvm::MemoryBuffer::getFile(file->path());
    ASSERT_TRUE(text);
    CompileRequest request;
    request.file = std::make_shared<SourceFile>(file->path(), (*text)->getBuffer().str());
    request.registry = &GlobalRegistry();
    request.library = StandardLayers();
    Diagnostics diagnostics;
    const TestSuite suite(request, &diagnostics);
    ASSERT_FALSE(diagnostics.has_errors());
    for (unsigned test = 0; test < suite.tests().size(); ++test)
      for (unsigned run = 0; run < suite.tests()[test].num_runs; ++run)
        if (const TestResult result = suite.Compile(test, run, {}); result.run)
          CheckOutputs(result.run->graph, &seen);
  }
  EXPECT_FALSE(error) << error.message();
  EXPECT_GE(seen.size(), 200u);
}

TEST(OutputTypes, AFaultNamesTheOutput) {
  const OpDef* cos = GlobalRegistry().Find("cos");
  ASSERT_NE(cos, nullptr);
  const Type x(DType::kF32, {Dim(2)}), wide(DType::kF64, {Dim(2)}), longer(DType::kF32, {Dim(3)});
  const std::vector<AttributeValue> attributes = {1.0};
  auto fault = [&](const Type& result) {
    return FaultOfOutputs(cos->signature, {&x}, attributes, {&result});
  };
  EXPECT_EQ(fault(x), "");
  EXPECT_EQ(fault(wide), "output 'y' is declared with dtype f32, and is f64[2]");
  EXPECT_EQ(fault(longer), "output 'y' is declared with the dims of 'x', [2], and is f32[3]");
}

// --- ragged levels of operators -----------------------------------------------------------------

/// Some dims with `levels` ragged ones.
std::vector<Shape> SomeDims(unsigned levels) {
  const Dim n = Dim::Symbol("N"), s = Dim::Symbol("~S"), t = Dim::Symbol("~T");
  if (levels == 1) return {{n, t, Dim(4)}, {n, t}, {n, t, Dim(2), Dim(4)}, {n, s, Dim(4)}, {n, s}};
  if (levels == 2) return {{n, s, t, Dim(4)}, {n, s, t}};
  return {{n, Dim(4)}, {n, Dim(3), Dim(4)}, {n}, {}, {Dim(4), Dim(2)}, {n, Dim(3), Dim(4), Dim(4)}};
}

/// A value for an attribute that has no default.
AttributeValue SomeValue(const AttributeDecl& decl, const Shape& dims) {
  switch (decl.kind) {
    case AttributeKind::kInt:
      return decl.is_list ? AttributeValue(std::vector<int64_t>{-1}) : AttributeValue(int64_t{-1});
    case AttributeKind::kDType:
      return DType::kF64;
    case AttributeKind::kShape:
      return decl.takes_ragged ? dims : Shape{Dim(1)};
    default:
      return {};
  }
}

/// Calls of one operator, made by trial: whether inference accepts them.
class Trial {
 public:
  explicit Trial(const OpDef& def) : def_(def) {}

  /// Whether some call is accepted in which an input has `levels` ragged dims.
  bool Accepts(size_t input, unsigned levels) {
    refusals_ = 0;
    tested_ = input;
    others_.clear();
    for (unsigned level = 0; level <= kMaxRaggedLevels; ++level)
      for (const Shape& dims : SomeDims(level)) others_.push_back(dims);
    for (const Shape& dims : SomeDims(levels)) {
      // All operands alike, or the other ones any of a few.
      std::vector<Shape> shapes(def_.signature.inputs.size(), dims);
      if (IsAccepted(shapes) || AcceptsOthers(shapes, input, 0)) return true;
    }
    return false;
  }
  /// How many of these calls were rejected because of their ragged dims.
  size_t refusals() const { return refusals_; }

 private:
  bool AcceptsOthers(std::vector<Shape>& shapes, size_t input, size_t at) {
    if (at == shapes.size()) return IsAccepted(shapes);
    if (at == input) return AcceptsOthers(shapes, input, at + 1);
    for (const Shape& other : others_) {
      shapes[at] = other;
      if (AcceptsOthers(shapes, input, at + 1)) return true;
    }
    return false;
  }

  bool IsAccepted(llvm::ArrayRef<Shape> shapes) {
    for (const DType dtype : {DType::kF32, DType::kI64, DType::kBool})
      for (const bool last_axis : {false, true})
        if (Infers(shapes, dtype, last_axis)) return true;
    return false;
  }

  bool Infers(llvm::ArrayRef<Shape> shapes, DType dtype, bool last_axis) {
    std::vector<Type> types;
    for (const auto& [input, dims] : llvm::zip_equal(def_.signature.inputs, shapes)) {
      DType own = dtype;
      for (const DType next : {DType::kF32, DType::kI64, DType::kBool})
        if (!input.dtypes.Contains(own)) own = next;
      types.push_back(Type(own, dims));
    }
    std::vector<NamedAttribute> given;
    for (const AttributeDecl& decl : def_.signature.attributes) {
      if (decl.counted) given.push_back({decl.name, int64_t{1}});
      if (decl.name == "parts") given.push_back({decl.name, int64_t{2}});
      if (decl.required())
        given.push_back({decl.name, SomeValue(decl, shapes.empty() ? Shape() : shapes[0])});
      if (!decl.required() && last_axis && decl.is_axis)
        given.push_back({decl.name, SomeValue(decl, {})});
    }
    // Optional inputs after the one that is tested are given, too, and then left out.
    const size_t least = std::max(size_t{def_.signature.MinOperands()}, tested_ + 1);
    for (size_t count = types.size(); count >= least; --count) {
      auto attributes = CompleteAttributes(def_.signature, given);
      if (!attributes) {
        llvm::consumeError(attributes.takeError());
        return false;
      }
      std::vector<const Type*> operands;
      for (size_t i = 0; i < count; ++i) operands.push_back(&types[i]);
      InferenceContext context(def_, operands, *attributes);
      llvm::Error error = Infer(context);
      if (!error) return true;
      llvm::handleAllErrors(std::move(error), [&](const CallError& one) {
        refusals_ += one.code() == Code::kStorage;
      });
    }
    return false;
  }

  const OpDef& def_;
  std::vector<Shape> others_;
  size_t tested_ = 0;
  size_t refusals_ = 0;
};

TEST(RaggedLevels, OfOperatorsAreThoseThatInferenceAccepts) {
  // Their calls have a body; test/ops/scan.pdl has ragged ones, and test/broken/scan_levels.pdl one
  // with two ragged dims.
  const std::set<std::string> with_body = {"scan", "segment_scan"};
  for (const OpDef* def : GlobalRegistry().All()) {
    if (with_body.count(def->name()) > 0) continue;
    for (const auto& [i, input] : llvm::enumerate(def->signature.inputs)) {
      // The check of the declaration itself rejects ragged operands of dense inputs.
      if (input.ragged_levels == 0) continue;
      for (unsigned level = 0; level <= kMaxRaggedLevels; ++level) {
        const bool is_declared = input.min_ragged_levels <= level && level <= input.ragged_levels;
        Trial trial(*def);
        EXPECT_EQ(trial.Accepts(i, level), is_declared)
            << def->name() << ", input " << input.name << ", " << level << " ragged dims";
        if (is_declared) continue;
        EXPECT_GT(trial.refusals(), 0u) << def->name() << ", input " << input.name;
      }
    }
  }
}

// --- ragged levels of layers --------------------------------------------------------------------

/// A call of a layer, and types with which it compiles. An input with the type "" has that of the
/// input that is tried.
struct LayerCall {
  const char* call;
  std::vector<std::pair<std::string, std::string>> inputs;
};

// Several rows of a layer are alternatives.
const std::vector<LayerCall>& LayerCalls() {
  static const auto* calls = new std::vector<LayerCall>{
      {"accuracy(logits, label)", {{"logits", "f32[N, 4]"}, {"label", "i64[N]"}}},
      {"accuracy(logits, label)", {{"logits", "f32[N, ~T, 4]"}, {"label", "i64[N, ~T]"}}},
      {"accuracy(logits, label)", {{"logits", "f32[N, ~S, ~T, 4]"}, {"label", "i64[N, ~S, ~T]"}}},
      {"adagrad(w, g, lr)", {{"w", ""}, {"g", ""}, {"lr", "f32[]"}}},
      {"adam(w, g, lr)", {{"w", ""}, {"g", ""}, {"lr", "f32[]"}}},
      {"adamw(w, g, lr)", {{"w", ""}, {"g", ""}, {"lr", "f32[]"}}},
      {"batch_norm(x)", {{"x", "f32[N, 4, H]"}}},
      {"bidirectional(x, lengths=lengths, forward=gru(size=3), backward=gru(size=3))",
       {{"x", "f32[N, T, 4]"}, {"lengths", "i64[N]"}}},
      {"bidirectional(x, forward=gru(size=3), backward=gru(size=3))", {{"x", "f32[N, T, 4]"}}},
      {"clip_gradient(g, bound=1.0)", {{"g", "f32[N]"}}},
      {"conv(x, channels=2, kernel=1)", {{"x", "f32[N, 4, H]"}}},
      {"conv_bn(x, channels=2, kernel=1)", {{"x", "f32[N, 4, H]"}}},
      {"conv_up(x, channels=2, kernel=1)", {{"x", "f32[N, 4, H]"}}},
      {"cosine(step, from=1.0, until=10)", {{"step", "i64[]"}}},
      {"dropout(x)", {{"x", "f32[N]"}}},
      {"embedding(ids, size=3)", {{"ids", "i64[N] in 0..10"}}},
      {"fc(xs, size=3)", {{"xs", "f32[N, 4]"}}},
      {"ftrl(w, g, lr)", {{"w", ""}, {"g", ""}, {"lr", "f32[]"}}},
      {"gemm(a, b, c)", {{"a", "f32[N, 4]"}, {"b", "f32[4, 4]"}, {"c", "f32[4]"}}},
      {"global_avg_pool(x)", {{"x", "f32[N, 4, H]"}}},
      {"global_max_pool(x)", {{"x", "f32[N, 4, H]"}}},
      {"group_norm(x, groups=2)", {{"x", "f32[N, 4, H]"}}},
      {"gru(x, h=h, lengths=lengths, size=3)",
       {{"x", "f32[N, T, 4]"}, {"h", "f32[N, 3]"}, {"lengths", "i64[N]"}}},
      {"gru(x, size=3)", {{"x", "f32[N, T, 4]"}}},
      {"gru_step(gates, h, w_h, b_x, b_h)",
       {{"gates", "f32[N, 12]"},
        {"h", "f32[N, 4]"},
        {"w_h", "f32[4, 12]"},
        {"b_x", "f32[12]"},
        {"b_h", "f32[12]"}}},
      {"instance_norm(x)", {{"x", "f32[N, 4, H]"}}},
      {"l2_normalize(x)", {{"x", "f32[N, 4]"}}},
      {"lamb(w, g, lr)", {{"w", ""}, {"g", ""}, {"lr", "f32[]"}}},
      {"layer_norm(x)", {{"x", "f32[N, 4]"}}},
      {"local_response_norm(x)", {{"x", "f32[N, 4, H]"}}},
      {"lstm(x, h=h, c=c, lengths=lengths, size=3)",
       {{"x", "f32[N, T, 4]"}, {"h", "f32[N, 3]"}, {"c", "f32[N, 3]"}, {"lengths", "i64[N]"}}},
      {"lstm(x, size=3)", {{"x", "f32[N, T, 4]"}}},
      {"lstm_step(gates, h, c, w_h, bias)",
       {{"gates", "f32[N, 16]"},
        {"h", "f32[N, 4]"},
        {"c", "f32[N, 4]"},
        {"w_h", "f32[4, 16]"},
        {"bias", "f32[16]"}}},
      {"matrix_power(x, n=2)", {{"x", "f32[N, 4, 4]"}}},
      {"mlp(x, widths=[3, 2])", {{"x", "f32[N, 4]"}}},
      {"multi_head_attention(x, memory, mask, heads=2)",
       {{"x", "f32[N, T, 4]"}, {"memory", "f32[N, S, 6]"}, {"mask", "bool[T, S]"}}},
      {"norm_factor(gs, limit=1.0)", {{"gs", "f32[N]"}}},
      {"outer(x, y)", {{"x", ""}, {"y", ""}}},
      {"pinv(x)", {{"x", "f32[N, 4, 3]"}}},
      {"piecewise(step, boundaries=[5], values=[1.0, 0.5])", {{"step", "i64[]"}}},
      {"regularize_gradient(w, g, factor, decay=0.5)", {{"w", ""}, {"g", ""}, {"factor", "f32[]"}}},
      {"residual(x, body=tanh())", {{"x", "f32[N]"}}},
      {"rms_norm(x)", {{"x", "f32[N, 4]"}}},
      {"rmsprop(w, g, lr)", {{"w", ""}, {"g", ""}, {"lr", "f32[]"}}},
      {"rnn(x, h=h, lengths=lengths, size=3)",
       {{"x", "f32[N, T, 4]"}, {"h", "f32[N, 3]"}, {"lengths", "i64[N]"}}},
      {"rnn(x, size=3)", {{"x", "f32[N, T, 4]"}}},
      {"rnn_step(sums, h, w_h, bias)",
       {{"sums", "f32[N, 4]"}, {"h", "f32[N, 4]"}, {"w_h", "f32[4, 4]"}, {"bias", "f32[4]"}}},
      {"scale_step(w, next, scale=0.5)", {{"w", ""}, {"next", ""}}},
      {"scatter_softmax(x, index)", {{"x", "f32[N, 4]"}, {"index", "i64[N] in 0..8"}}},
      {"sequence_conv(x, channels=3)", {{"x", "f32[N, ~T, 4]"}}},
      {"sgd(w, g, lr)", {{"w", ""}, {"g", ""}, {"lr", "f32[]"}}},
      {"step_decay(step, from=1.0, every=10)", {{"step", "i64[]"}}},
      {"topk_accuracy(logits, label)", {{"logits", "f32[N, 4]"}, {"label", "i64[N]"}}},
      {"topk_accuracy(logits, label)", {{"logits", "f32[N, ~T, 4]"}, {"label", "i64[N, ~T]"}}},
      {"topk_accuracy(logits, label)",
       {{"logits", "f32[N, ~S, ~T, 4]"}, {"label", "i64[N, ~S, ~T]"}}},
      {"transformer_decoder(x, memory, mask, memory_mask, layers=1, heads=2)",
       {{"x", "f32[N, T, 4]"},
        {"memory", "f32[N, S, 6]"},
        {"mask", "bool[T, T]"},
        {"memory_mask", "bool[T, S]"}}},
      {"transformer_encoder(x, mask, layers=1, heads=2)",
       {{"x", "f32[N, T, 4]"}, {"mask", "bool[T, T]"}}},
      {"warmup(step, peak=1.0, steps=10)", {{"step", "i64[]"}}},
      {"warmup_cosine(step, peak=1.0, warmup=5, until=10)", {{"step", "i64[]"}}},
  };
  return *calls;
}

bool Compiles(const std::string& text) {
  CompileRequest request;
  request.file = std::make_shared<SourceFile>("m.pdl", text);
  request.registry = &GlobalRegistry();
  request.library = StandardLayers();
  return Compile(request).graph.has_value();
}

/// Types with `levels` ragged dims.
std::vector<std::string> SomeTypes(unsigned levels) {
  const std::string before = levels == 0 ? "[N" : levels == 1 ? "[N, ~T" : "[N, ~S, ~T";
  std::vector<std::string> types;
  for (const std::string rest : {"]", ", 4]", ", 4, 4]", ", 4, 4, 4]"}) {
    for (const std::string dtype : {"f32", "i64", "bool"}) types.push_back(dtype + before + rest);
    types.push_back("i64" + before + rest + " in 0..10");
  }
  types.push_back("sparse f32" + before + ", 4]");
  if (levels == 0) types.insert(types.end(), {"f32[]", "i64[]", "f32[8, 4]", "bool[]"});
  return types;
}

/// Whether the call compiles with an input of `type`.
bool AcceptsType(const LayerCall& call, const std::string& input, const std::string& type) {
  std::string text;
  for (const auto& [name, own] : call.inputs)
    text += "input " + name + ": " + (name == input || own.empty() ? type : own) + "\n";
  return Compiles(text + "y = " + call.call + "\n");
}

/// The numbers of ragged dims with which some call of the layer compiles.
std::vector<unsigned> AcceptedLevels(const std::string& layer, const std::string& input) {
  std::vector<unsigned> levels;
  for (unsigned level = 0; level <= kMaxRaggedLevels; ++level) {
    bool is_accepted = false;
    for (const LayerCall& call : LayerCalls()) {
      if (llvm::StringRef(call.call).split('(').first != layer) continue;
      std::vector<std::string> types = SomeTypes(level);
      for (const auto& [name, own] : call.inputs) {
        if (name != input) continue;
        const size_t ragged = llvm::StringRef(own).count('~');
        if (!own.empty() && ragged == level) types.push_back(own);
        is_accepted |= llvm::any_of(
            types, [&](const std::string& type) { return AcceptsType(call, input, type); });
      }
    }
    if (is_accepted) levels.push_back(level);
  }
  return levels;
}

TEST(RaggedLevels, OfLayersAreThoseWithWhichTheyCompile) {
  for (const LayerSignature& layer : StandardSignatures())
    for (const LayerInputDecl& input : layer.inputs)
      EXPECT_EQ(AcceptedLevels(layer.name, input.name), input.levels)
          << layer.name << ", input " << input.name << ": " << input.type;
}

// --- gradients of operators that are lowered ----------------------------------------------------

TEST(Differentiable, OperatorsThatAreAlwaysLoweredAreIfAGradientFlows) {
  const std::map<std::string, std::string> calls = {
      {"einsum", "einsum(x, x, equation=\"ij,ij->i\")"},
      {"gradient", "gradient(sum(cos(x)), 1.0, x)"},
      {"nonzero", "cast(nonzero(x), to=f32)"},
      {"ragged", "ragged(sequence_at(x, [0]), [1, 1])"},
      {"sequence_at", "sequence_at(x, [0])"},
      {"sequence_concat", "sequence_concat(x, x)"},
      {"sequence_expand", "sequence_expand(sequence_pool(x), x)"},
      {"sequence_length", "cast(sequence_length(x), to=f32)"},
      {"sequence_pad", "sequence_pad(x, [4])"},
      {"sequence_pool", "sequence_pool(x)"},
      {"sequence_reverse", "sequence_reverse(x)"},
      {"sequence_slice", "sequence_slice(x, 1, 2)"},
      {"sequence_softmax", "sequence_softmax(x)"},
      {"sequence_unpad", "sequence_unpad(sequence_pad(x, [4]), sequence_length(x))"},
      {"sequence_window", "sequence_window(x)"},
      {"split", "split(x, axis=1, parts=2)"},
      {"unique", "unique(sequence_at(x, [0]))"},
  };
  const std::set<std::string> is_dense = {"einsum", "nonzero", "split"};
  const std::set<std::string> without = {"nonzero", "sequence_length", "unique"};
  for (const OpDef* def : GlobalRegistry().All()) {
    if (!IsAlwaysLowered(*def)) continue;
    const auto found = calls.find(def->name());
    if (found == calls.end()) {
      ADD_FAILURE() << "no call of " << def->name();
      continue;
    }
    const std::string dims = is_dense.count(def->name()) > 0 ? "[N, 8]" : "[N, ~T, 8]";
    const std::string text = "input x: f32" + dims + "\ny = " + found->second + "\n";
    EXPECT_TRUE(Compiles(text)) << text;
    EXPECT_EQ(IsDifferentiable(*def), without.count(def->name()) == 0) << def->name();
    if (def->name() == "unique") continue;  // compiles, but is documented to have no gradient
    EXPECT_EQ(Compiles(text + "g = grad(sum(y), x)\n"), IsDifferentiable(*def)) << text;
  }
}

}  // namespace
}  // namespace pdl
