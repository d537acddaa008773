// The header that make_builders.py writes: typed calls make the graph that a text makes.
#include "builders.h"

#include <memory>

#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler/compiler.h"

namespace {

using namespace pdl;

constexpr const char* kText =
    "input x: f32[N, 4]\n"
    "input y: f32[N, 4]\n"
    "cos = cos(x, scale=5.0)\n"
    "concat = concat(cos, y, axis=1)\n"
    "a, b = split(concat, parts=2, axis=1)\n"
    "values, places = topk(a, k=2)\n"
    "output sum = sum(values, axes=[1])\n";

llvm::Expected<Graph> Build() {
  Graph graph;
  const Dim n = Dim::Symbol("N");
  Value* x = graph.AddInput("x", Type(DType::kF32, {n, Dim(4)}));
  Value* y = graph.AddInput("y", Type(DType::kF32, {n, Dim(4)}));
  auto cos = build::Cos(graph, x, {.scale = 5.0});
  if (!cos) return cos.takeError();
  auto both = build::Concat(graph, {*cos, y}, {.axis = 1});
  if (!both) return both.takeError();
  auto parts = build::Split(graph, *both, {.parts = 2, .axis = 1}, "part");
  if (!parts) return parts.takeError();
  auto best = build::Topk(graph, (*parts)[0], /*k=*/Shape{Dim(2)});
  if (!best) return best.takeError();
  auto sum = build::Sum(graph, (*best)[0], {.axes = std::vector<int64_t>{1}});
  if (!sum) return sum.takeError();
  graph.AddOutput("sum", *sum);
  return graph;
}

std::string Message(llvm::Error error) { return llvm::toString(std::move(error)); }

int Fail(const std::string& message) {
  llvm::errs() << message << "\n";
  return 1;
}

}  // namespace

int main() {
  llvm::Expected<Graph> built = Build();
  if (!built) return Fail(Message(built.takeError()));

  CompileRequest request;
  request.file = std::make_shared<const SourceFile>("text.pdl", kText);
  request.registry = &GlobalRegistry();
  const CompileResult compiled = Compile(request);
  if (!compiled.graph) return compiled.diagnostics.Render(llvm::errs()), 1;
  size_t i = 0;
  for (const Op* op : built->ops()) {
    const Op* other = compiled.graph->ops()[i++];
    if (op->type() != other->type() || op->result()->type() != other->result()->type())
      return Fail("call " + std::to_string(i) + " is " + op->type() + ", and " + other->type());
    for (auto [a, b] : llvm::zip_equal(op->attribute_values(), other->attribute_values()))
      if (!Identical(a, b)) return Fail("attributes of " + op->type() + " differ");
  }

  Graph graph;
  Value* x = graph.AddInput("x", Type(DType::kF32, {Dim(3)}));
  auto wrong = build::Cos(graph, x, {.scale = -1.0});
  if (wrong) return Fail("scale=-1.0 was taken");
  const std::string message = Message(wrong.takeError());
  if (!llvm::StringRef(message).contains(
          "attribute 'scale' of 'cos' must be larger than 0, got -1.0"))
    return Fail("the message is: " + message);
  return 0;
}
