// The types of the outputs of layers and operators for given inputs.
#include "pdl/compiler/output_types.h"

#include <gtest/gtest.h>

#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler/layers.h"
#include "pdl/op/op_registry.h"

namespace pdl {
namespace {

using Attributes = std::vector<std::pair<std::string, std::string>>;

/// "y: f32[N, 3]; last: f32[N]", or the errors.
std::string Types(llvm::StringRef callee, llvm::ArrayRef<Type> inputs,
                  const Attributes& attributes = {}, const char* own = nullptr) {
  CompileRequest request;
  request.registry = &GlobalRegistry();
  request.library = StandardLayers();
  if (own) request.file = std::make_shared<const SourceFile>("own.pdl", own);
  Diagnostics diagnostics;
  const std::vector<OutputType> outputs =
      FindOutputTypes(request, callee, inputs, attributes, &diagnostics);
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const OutputType& output : outputs)
    stream << (text.empty() ? "" : "; ") << output.name << ": " << output.type.ToString();
  for (const Diagnostic& one : diagnostics.all())
    if (one.severity == Severity::kError) stream << CodeName(one.code) << ": " << one.message;
  return text;
}

const Dim kN = Dim::Symbol("N"), kM = Dim::Symbol("M");

TEST(OutputTypes, OfLayersAndOperators) {
  const Type x(DType::kF32, {kN, Dim(8)});
  EXPECT_EQ(Types("fc", {x}, {{"size", "3"}, {"act", "relu()"}}), "y: f32[N, 3]");
  EXPECT_EQ(Types("lstm", {Type(DType::kF32, {kN, kM, Dim(2)})}, {{"size", "5"}}),
            "y: f32[N, M, 5]; last: f32[N, 5]; cell: f32[N, 5]");
  EXPECT_EQ(Types("concat", {x, x}, {{"axis", "0"}}), "y: f32[2*N, 8]");
  EXPECT_EQ(Types("topk", {x}, {{"k", "2"}}), "y: f32[N, 2]; indices: i64[N, 2] in 0..8");
  EXPECT_EQ(Types("zeros", {}, {{"dims", "[2, 0]"}}), "y: f32[2, 0]");
  Type index(DType::kI64, {kN});
  index.index_bound = Dim(10);
  EXPECT_EQ(Types("embedding", {index}, {{"size", "4"}}), "y: f32[N, 4]");
}

TEST(OutputTypes, OfOwnLayers) {
  const char* own = "layer both(x: F[N, D], k: int) { return wide=concat(x, x), n=x[:, 0:k] }\n";
  EXPECT_EQ(Types("both", {Type(DType::kF64, {kN, kM})}, {{"k", "1"}}, own),
            "wide: f64[2*N, M]; n: f64[N, 1]");
}

TEST(OutputTypes, Errors) {
  const Type x(DType::kF32, {kN, Dim(8)});
  EXPECT_EQ(Types("fc", {x}, {{"sise", "3"}}),
            "PDL0201: 'fc' has no attribute or input 'sise'; did you mean 'size'?");
  EXPECT_EQ(Types("fc", {x}, {{"size", "0"}}),
            "PDL0203: attribute 'size' of 'fc' must be larger than 0, got 0");
  EXPECT_EQ(Types("matmul", {x, Type(DType::kF32, {Dim(3), Dim(8)})}),
            "PDL0301: matmul: inner dims differ: 8 and 3");
  EXPECT_EQ(Types("fcc", {x}).substr(0, 46), "PDL0101: no operator or layer is called 'fcc';");
}

}  // namespace
}  // namespace pdl
