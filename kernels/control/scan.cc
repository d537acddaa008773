// Loops: scan, segment_scan, to which scan over ragged values is lowered, and while_loop.
#include <cstring>

#include "kernels/control/scan_gradient.h"
#include "kernels/control/scan_inference.h"
#include "kernels/control/scan_loop.h"
#include "pdl/op/cost.h"
#include "pdl/op/lowering.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"

namespace pdl {
namespace {

class CPURowMover final : public RowMover {
 public:
  explicit CPURowMover(CPUContext& context) : context_(context) {}

  llvm::Error Gather(void* to, const void* from, const int64_t* rows, int64_t shift, int64_t count,
                     int64_t row_bytes) override {
    context_.ParallelFor(count, GrainOf(row_bytes), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        std::memcpy(static_cast<char*>(to) + i * row_bytes,
                    static_cast<const char*>(from) + (rows[i] + shift) * row_bytes,
                    static_cast<size_t>(row_bytes));
    });
    return llvm::Error::success();
  }
  llvm::Error Scatter(void* to, const void* from, const int64_t* rows, int64_t shift, int64_t count,
                      int64_t row_bytes) override {
    context_.ParallelFor(count, GrainOf(row_bytes), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        std::memcpy(static_cast<char*>(to) + (rows[i] + shift) * row_bytes,
                    static_cast<const char*>(from) + i * row_bytes, static_cast<size_t>(row_bytes));
    });
    return llvm::Error::success();
  }
  llvm::Error CopyPieces(void* to, int64_t to_stride, const void* from, int64_t from_stride,
                         int64_t count, int64_t bytes) override {
    if (bytes == 0) return llvm::Error::success();
    context_.ParallelFor(count, GrainOf(bytes), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        std::memcpy(static_cast<char*>(to) + i * to_stride,
                    static_cast<const char*>(from) + i * from_stride, static_cast<size_t>(bytes));
    });
    return llvm::Error::success();
  }
  llvm::Error Clear(void* to, int64_t bytes) override {
    std::memset(to, 0, static_cast<size_t>(bytes));
    return llvm::Error::success();
  }

 private:
  static int64_t GrainOf(int64_t bytes) { return 1 + (1 << 17) / (bytes + 1); }
  CPUContext& context_;
};

template <typename Context>
class BlockScanOp;

template <>
class BlockScanOp<CPUContext> : public Operator<CPUContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    return loop_.Prepare(arguments(), context);
  }
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CPUContext& context) const override {
    CPURowMover mover(context);
    return loop_.Run(inputs, outputs, context, mover);
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader&) override {
    return loop_.Initialize(arguments());
  }

 private:
  ScanLoop loop_;
};

// Calls segment_scan with the packed rows and the same body.
llvm::Error LowerScan(LoweringContext& l) {
  llvm::SmallVector<Value*, 8> operands;
  for (unsigned i = 0; i < l.num_inputs(); ++i) operands.push_back(l.input(i).values);
  operands.push_back(l.input(0).offsets.back());
  const AttributeReader attributes = l.attributes();
  llvm::SmallVector<NamedAttribute, 8> given;
  for (llvm::StringRef name :
       {"body", "reverse", "num_xs", "num_init", "num_captured", "num_results"})
    given.push_back({name.str(), *attributes.Find(name)});
  Value* first = l.Call("segment_scan", operands, given);
  for (unsigned i = 0; first && i < l.op().results().size(); ++i)
    l.SetOutput(i, first->producer()->result(i));
  return l.TakeError();
}

/// The work of one step, times the steps; where rows have their own lengths, the work for one row,
/// times the rows.
double ScanOperations(const CallSizes& call) {
  const ScanCall scan = ScanCall::Of(call.call);
  if (!call.call.body || scan.num_xs == 0) return 0;
  std::vector<OperandType> given(call.inputs.begin(), call.inputs.begin() + scan.num_given());
  int64_t axis = scan.is_packed ? 0 : call.attributes().Int("axis");
  if (axis < 0) axis += static_cast<int64_t>(given[0].sizes.size());
  const auto steps = static_cast<double>(given[0].sizes[axis]);
  for (OperandType& slice : llvm::MutableArrayRef(given).take_front(scan.num_xs)) {
    if (scan.is_packed) {
      slice.sizes[0] = 1;
    } else {
      slice.sizes.erase(slice.sizes.begin() + axis);
    }
  }
  return steps * OperationsOf(*call.call.body, given);
}

struct BlockScanMaker : OpProtoMaker {
  InputBuilder AddInit() {
    return AddInput("init", "the initial carry: any number of values of any type")
        .Counted("num_init");
  }
  void AddCaptured() {
    AddInput("captured",
             "values from outside the loop, passed to the body after the carry and the same at "
             "each step; other outside values that the body uses are appended")
        .Counted("num_captured");
  }
  void AddResults() {
    AddOutput("results",
              "first the per-step results of the body (those after the carry), stacked over all "
              "steps; then the final carry, with the types of init");
  }
  void AddRest() {
    AddResults();
    AddAttr<BlockId>("body",
                     "the function of a step: takes a slice of each sequence, the carry, and the "
                     "captured values; returns the new carry, then the results of the step");
    AddAttr<bool>("reverse", "run from the last step to the first").Default(false);
    AddCount("num_xs", "the number of sequences");
    AddCounts();
    SetGradient(ScanGradient);
  }
  void AddCount(const char* name, const char* comment) {
    AddAttr<int64_t>(name, comment).Default(0).AtLeast(0).AtMost(1 << 16).Counted();
  }
  /// The other counts and the rules.
  void AddCounts() {
    AddCount("num_init", "the number of values in the carry");
    AddCount("num_captured", "the number of captured values");
    AddCount("num_results", "the number of results of the body");
    RepeatLastOutput({"num_results"});
    SetBody(ScanBodyTypes);
    SetInference(InferBlockScan);
  }
};

struct ScanMaker : BlockScanMaker {
  void Make() override {
    AddComment(
        "A loop over time (JAX's lax.scan). The body is called for each step along an axis, with a "
        "slice of each sequence and the carry of the step before. Ragged sequences, and those of a "
        "padded batch with lengths, each end after their own last step: a step processes the rows "
        "that are still active, whose number is a symbolic size of the body. Results after the end "
        "of a padded row are zeros. Without any steps, the final carry is the initial one. Random "
        "numbers in the body differ from step to step. The gradient is a loop in the other "
        "direction that recomputes the steps, with the same random numbers; only the carry that "
        "each step received and the results of its matmuls with captured matrices are kept, the "
        "latter not in layers with `recompute=true`.");
    AddInput("xs", "the sequences: of equal size along the axis, which is 1 for ragged ones")
        .Counted("num_xs")
        .Ragged(1);
    AddInit();
    AddCaptured();
    AddInput("lengths", "the number of steps of each row of a padded batch, i64[N]")
        .Accepts(DTypeSet(DType::kI64))
        .Optional()
        .OwnDType();
    AddAttr<int64_t>("axis", "the time axis, which slices do not have").Default(1).Axis();
    AddRest();
    SetLowering(LowerScan);
    AddExample("total = scan([1.0, 2.0, 3.0], init=0.0, axis=0, body=add())  # = 6.0");
    AddExample(
        "zero = zeros([2, 4])\ny, last = scan(ones([2, 3, 4]), init=zero, "
        "captured=zeros([4, 4]), body=rnn_step())");
  }
};

struct SegmentScanMaker : BlockScanMaker {
  void Make() override {
    AddComment(
        "A loop over the rows of each segment, like `scan` over ragged sequences, but on packed "
        "rows with offsets.");
    AddInput("xs", "the rows of all segments, one after another: [R, ...]").Counted("num_xs");
    AddInit();
    AddCaptured();
    AddInput("offsets", "the start of each segment, then the end of the last one: i64[N + 1]")
        .Accepts(DTypeSet(DType::kI64))
        .OwnDType();
    AddRest();
    AddExample(
        "last = segment_scan([1.0, 2.0, 3.0], init=zeros([2]), offsets=[0, 2, 3], body=add())"
        "  # = [3.0, 3.0]");
  }
};

struct WhileLoopMaker : BlockScanMaker {
  void Make() override {
    AddComment(
        "A loop that ends on a condition of the data (JAX's lax.while_loop, ONNX's Loop). The "
        "first "
        "carried value is the condition: the body is called while it is true, at most `max_steps` "
        "times; if it is still true at the end, the bound was reached. The results of the steps "
        "are "
        "stacked, and are zeros for steps that did not run. Without any steps, the final carry is "
        "the initial one. Random numbers in the body differ from step to step. There is no "
        "gradient.");
    AddInit().OwnDType();
    AddCaptured();
    AddResults();
    AddAttr<BlockId>("body",
                     "the function of a step: takes the carry, with the condition first, and the "
                     "captured values; returns the new carry, then the results of the step");
    AddAttr<Shape>("max_steps", "the largest number of steps");
    AddCounts();
    AddExample("more = while_loop(init=true, max_steps=3, body=logical_not())  # = false");
  }
};

}  // namespace

void RegisterScanOps(OpRegistry& registry) {
  registry.BeginFamily("Scans");
  registry.RegisterOp<BlockScanOp, ScanMaker>("scan");
  registry.RegisterOp<BlockScanOp, SegmentScanMaker>("segment_scan");
  registry.RegisterOp<BlockScanOp, WhileLoopMaker>("while_loop");
  for (const char* name : {"scan", "segment_scan"}) DeclareOperations(name, ScanOperations);
}

}  // namespace pdl
