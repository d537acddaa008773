// matmul of matrices and of batches of matrices.
#include "kernels/core/element.h"
#include "kernels/core/inference_helpers.h"
#include "kernels/linear/matmul_plan.h"
#include "pdl/op/cost.h"
#include "pdl/op/gradient.h"
#include "pdl/op/lowering.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"

namespace pdl {
namespace {

template <class Context>
class MatmulOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    auto plan = MatmulPlan::Make(context, transpose_a_, transpose_b_);
    if (!plan) return plan.takeError();
    Preparation preparation;
    preparation.workspace_bytes = (*plan)->workspace_bytes();
    preparation.has_register_epilogue = (*plan)->has_register_epilogue();
    preparation.matmul_precision = (*plan)->precision();
    if (!(*plan)->reads_b()) preparation.packed.push_back(1);
    preparation.state = std::move(*plan);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    context.template state<MatmulPlan>()->Run(*inputs[0], *inputs[1], outputs[0]->raw(),
                                              context.workspace(), context);
    return llvm::Error::success();
  }

  bool makes_pieces() const override { return true; }
  void RunPieces(const CallState* state, void* workspace, llvm::ArrayRef<const Tensor*> inputs,
                 void* to, DeviceContext& context, const RegisterEpilogue& epilogue,
                 llvm::function_ref<void(const OutputPiece&)> then) const override {
    static_cast<const MatmulPlan*>(state)->Run(*inputs[0], *inputs[1], to, workspace,
                                               static_cast<CPUContext&>(context), epilogue, then);
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    transpose_a_ = attributes.Bool("transpose_a");
    transpose_b_ = attributes.Bool("transpose_b");
    return llvm::Error::success();
  }

 private:
  bool transpose_a_ = false;
  bool transpose_b_ = false;
};

// An operand as a batch of matrices [rows, columns], after its transposition.
struct Matrices {
  Shape batch;
  Dim rows, columns;
};

llvm::Expected<Matrices> ReadOperand(InferenceContext& context, unsigned index,
                                     llvm::StringRef transpose) {
  const Shape& dims = context.input(index).dims;
  const bool transposed = context.attributes().Bool(transpose);
  Matrices matrices;
  if (dims.empty()) {
    return context.FailAt({index}, Code::kRank, "'{0}' must have at least one dim, got {1}",
                          context.def().signature.inputs[index].name,
                          context.input(index).ToString());
  }
  if (dims.size() == 1) {
    if (transposed) {
      return context.FailAtAttribute(
          transpose, Code::kRank, "a vector cannot be transposed: '{0}' is {1}",
          context.def().signature.inputs[index].name, context.input(index).ToString());
    }
    matrices.rows = index == 0 ? Dim(1) : dims[0];
    matrices.columns = index == 0 ? dims[0] : Dim(1);
    return matrices;
  }
  matrices.batch.assign(dims.begin(), dims.end() - 2);
  matrices.rows = dims[dims.size() - (transposed ? 1 : 2)];
  matrices.columns = dims[dims.size() - (transposed ? 2 : 1)];
  return matrices;
}

llvm::Error InferMatmul(InferenceContext& context) {
  const Type& a = context.input(0);
  const Type& b = context.input(1);
  // A sparse bool matrix only selects the rows of b to sum.
  const bool is_pattern = a.is_sparse() && a.dtype == DType::kBool;
  if (a.dtype == DType::kBool && !is_pattern) {
    return context.FailAt({0}, Code::kOperandDType, "'a' must be {0}, got {1}",
                          kNumberSet.ToString(), a.ToString());
  }
  if (!a.is_plain() && b.rank() > 2) {
    return context.FailAt({1}, Code::kRank, "'b' must be one matrix if 'a' is {0}, got {1}",
                          a.ToString(), b.ToString());
  }
  if (a.is_sparse() && !IsFloat(b.dtype)) {
    return context.FailAt({1}, Code::kOperandDType, "'b' must be {0} if 'a' is {1}, got {2}",
                          kFloatSet.ToString(), a.ToString(), b.ToString());
  }
  if (a.dtype != b.dtype && !is_pattern) {
    return context.FailAt({0, 1}, Code::kDTypeMismatch, "dtypes differ: {0} and {1}",
                          DTypeName(a.dtype), DTypeName(b.dtype));
  }
  llvm::Expected<Matrices> left = ReadOperand(context, 0, "transpose_a");
  if (!left) return left.takeError();
  llvm::Expected<Matrices> right = ReadOperand(context, 1, "transpose_b");
  if (!right) return right.takeError();
  if (llvm::Error error =
          context.RequireEqual(left->columns, right->rows, {0, 1}, "inner dims differ")) {
    return error;
  }
  llvm::Expected<Shape> dims = BroadcastDims(context, left->batch, right->batch);
  if (!dims) return dims.takeError();
  if (a.rank() > 1) dims->push_back(left->rows);
  if (b.rank() > 1) dims->push_back(right->columns);
  context.SetOutput(Type(b.dtype, *dims));
  return llvm::Error::success();
}

Value* Reshape(GradientContext& g, Value* x, const Shape& dims) {
  if (x != nullptr && x->type().dims == dims) return x;
  return g.Call("reshape", {x}, {{"dims", dims}});
}

Value* Multiply(GradientContext& g, Value* a, bool transpose_a, Value* b, bool transpose_b) {
  return g.Call("matmul", {a, b}, {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}});
}

void MatmulGradient(GradientContext& g) {
  const bool ta = g.attributes().Bool("transpose_a");
  const bool tb = g.attributes().Bool("transpose_b");
  if (g.input(0)->type().is_sparse()) {
    // Only b has a gradient.
    Value* db = Multiply(g, g.input(0), !ta, g.output_gradient(), false);
    g.SetInputGradient(1, tb ? g.Call("transpose", {db}) : db);
    return;
  }
  // Reshapes vectors to the matrices that they represent.
  Shape a_dims = g.input(0)->type().dims;
  Shape b_dims = g.input(1)->type().dims;
  Shape c_dims = g.output()->type().dims;
  if (b_dims.size() == 1) {
    b_dims.push_back(1);
    c_dims.push_back(1);
  }
  if (a_dims.size() == 1) {
    a_dims.insert(a_dims.begin(), 1);
    c_dims.insert(c_dims.end() - 1, 1);
  }
  if (!ta && b_dims.size() == 2 && a_dims.size() > 2) {
    // A batch times one matrix is a single matmul with one tall matrix, which includes the sum over
    // the batch.
    const Dim rows = NumElements(llvm::ArrayRef<Dim>(a_dims).drop_back());
    a_dims = {rows, a_dims.back()};
    c_dims = {rows, c_dims.back()};
  }
  Value* a = Reshape(g, g.input(0), a_dims);
  Value* b = Reshape(g, g.input(1), b_dims);
  Value* dc = Reshape(g, g.output_gradient(), c_dims);
  Value* da = ta ? Multiply(g, b, tb, dc, true) : Multiply(g, dc, false, b, !tb);
  Value* db = tb ? Multiply(g, dc, true, a, ta) : Multiply(g, a, !ta, dc, false);
  g.SetInputGradient(0, Reshape(g, g.SumTo(da, a), g.input(0)->type().dims));
  g.SetInputGradient(1, Reshape(g, g.SumTo(db, b), g.input(1)->type().dims));
}

// A ragged a is one tall matrix; a sparse one is given by its rows, those of all sequences if it is
// ragged, too.
llvm::Error LowerMatmul(LoweringContext& l) {
  const LoweredValue& a = l.input(0);
  if (!a.type.is_sparse()) return l.LowerPacked();
  Value* b = l.input(1).values;
  const bool is_vector = b->type().rank() == 1;
  if (is_vector) {
    const Shape column = {b->type().dims[0], 1};
    b = l.Call("reshape", {b}, {{"dims", column}});
  } else if (l.attributes().Bool("transpose_b")) {
    b = l.Call("transpose", {b});
  }
  Value* c = nullptr;
  if (!l.attributes().Bool("transpose_a")) {
    llvm::SmallVector<Value*, 4> operands = {a.offsets.back(), a.indices, b};
    if (a.values != nullptr) operands.push_back(a.values);
    c = l.Call("csr_matmul", operands);
  } else {
    // Each element adds its multiple of a row of b to the row of the result given by its column
    // index.
    const Dim count = a.indices->type().dims[0];
    Value* rows = l.Call("segment_ids", {a.offsets.back()}, {{"dims", Shape{count}}});
    Value* spread = l.Call("gather", {b, rows});
    if (a.values != nullptr) {
      const Shape column = {count, 1};
      spread = l.Call("mul", {spread, l.Call("reshape", {a.values}, {{"dims", column}})});
    }
    const Type& result = l.result_type();
    const Shape dims = {result.dims[0], is_vector ? Dim(1) : result.dims[1]};
    Value* zeros = l.Call("zeros", {}, {{"dims", dims}, {"dtype", result.dtype}});
    c = l.Call("scatter_add", {zeros, a.indices, spread});
  }
  l.SetOutput(c);
  return l.TakeError();
}

/// A multiply-add for each element of c and each of the K that it sums over.
double MatmulOperations(const CallSizes& call) {
  const Sizes& a = call.inputs[0].sizes;
  const bool is_transposed = a.size() > 1 && call.attributes().Bool("transpose_a");
  const int64_t inner = is_transposed ? a[a.size() - 2] : a.back();
  return 2 * static_cast<double>(call.outputs[0].num_elements()) * static_cast<double>(inner);
}

struct MatmulMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "The matmul of a and b. Dims before the last two are batch dims and broadcast as "
        "in NumPy. A one-dimensional operand is a row on the left and a column on the right, and "
        "the added dim is removed from the result. f16 and bf16 accumulate in f32; integers wrap "
        "around. If a is sparse or ragged, b is one matrix; the elements of a sparse bool a are "
        "ones.");
    AddInput("a", "[..., M, K], or [K]; bool only if it is sparse")
        .Accepts(kAnySet)
        .Ragged()
        .Sparse();
    AddInput("b", "[..., K, N], or [K]; dtype as a").Accepts(kNumberSet);
    AddOutput("c", "[..., M, N]; dtype as a").DTypeOf("a");
    AddAttr<bool>("transpose_a", "whether a is [..., K, M]").Default(false);
    AddAttr<bool>("transpose_b", "whether b is [..., N, K]").Default(false);
    properties().reduced_precision = ReducedPrecision::kCompute;
    properties().widening = IntegerWidening::kModular;
    SetInference(InferMatmul);
    SetGradient(MatmulGradient);
    SetLowering(LowerMatmul);
    AddExample("c = matmul([[1.0, 2.0], [3.0, 4.0]], [[1.0], [10.0]])  # = [[21.0], [43.0]]");
    AddExample("c = matmul([[1.0, 2.0]], [[3.0, 4.0]], transpose_b=true)  # = [[11.0]]");
  }
};

}  // namespace

void RegisterMatmulOps(OpRegistry& registry) {
  registry.BeginFamily("Linear algebra");
  registry.RegisterOp<MatmulOp, MatmulMaker>("matmul");
  DeclareOperations("matmul", MatmulOperations);
}

}  // namespace pdl
