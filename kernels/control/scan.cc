// The one loop: scan, and segment_scan, which ragged values become.
#include <cstring>

#include "kernels/control/scan_gradient.h"
#include "kernels/control/scan_inference.h"
#include "kernels/control/scan_loop.h"
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

// The call of packed rows with the same body.
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

struct BlockScanMaker : OpProtoMaker {
  void AddCarried() {
    AddInput("init", "what is carried into the first step: any number of values of any type")
        .Counted("num_init");
    AddInput("captured",
             "values from outside that the body takes behind these, the same at "
             "each step; what the body uses besides is added here")
        .Counted("num_captured");
  }
  void AddRest() {
    AddOutput("results",
              "the values of all steps, stacked, of each that the body gives behind those that it "
              "carries; then what is carried out of the last step, of the types of init");
    AddAttr<BlockId>("body",
                     "what a step does: a function of a slice of each sequence, what is carried, "
                     "and captured values, which returns what is carried to the next step, and "
                     "then the values of the step");
    AddAttr<bool>("reverse", "from the last step to the first").Default(false);
    auto count = [&](const char* name, const char* comment) {
      AddAttr<int64_t>(name, comment).Default(0).AtLeast(0).AtMost(1 << 16).Counted();
    };
    count("num_xs", "how many sequences there are");
    count("num_init", "how many values are carried");
    count("num_captured", "how many values are captured");
    count("num_results", "how many values the body gives");
    RepeatLastOutput({"num_results"});
    SetBody(ScanBodyTypes);
    SetInference(InferBlockScan);
    SetGradient(ScanGradient);
  }
};

struct ScanMaker : BlockScanMaker {
  void Make() override {
    AddComment(
        "A loop over time: the body is run for each step along an axis, with a slice of each "
        "sequence and with what the step before carried to it. Ragged sequences, and those of a "
        "padded batch with lengths, end each with its own last step: a step works on the rows that "
        "still run, and the body's count of rows is a size of its own. What stands behind the end "
        "of a padded row comes out as zeros. Without steps, what is carried comes out as it "
        "begins. A body that draws random numbers is refused. The gradient is a loop in the other "
        "direction, whose steps compute those of the loop again.");
    AddInput("xs", "the sequences: of the same size along the axis, which is 1 for ragged ones")
        .Counted("num_xs")
        .Ragged(1);
    AddCarried();
    AddInput("lengths", "the steps of each row of a padded batch, i64[N]")
        .Accepts(DTypeSet(DType::kI64))
        .Optional()
        .OwnDType();
    AddAttr<int64_t>("axis", "the axis of time, which slices do not have").Default(1).Axis();
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
        "A loop over the rows of each segment, as `scan` of ragged sequences is one: their packed "
        "rows, and where each sequence begins.");
    AddInput("xs", "the rows of all segments, one after another: [R, ...]").Counted("num_xs");
    AddCarried();
    AddInput("offsets", "where each segment begins, and where the last one ends: i64[N + 1]")
        .Accepts(DTypeSet(DType::kI64))
        .OwnDType();
    AddRest();
    AddExample(
        "last = segment_scan([1.0, 2.0, 3.0], init=zeros([2]), offsets=[0, 2, 3], body=add())"
        "  # = [3.0, 3.0]");
  }
};

}  // namespace

void RegisterScanOps(OpRegistry& registry) {
  registry.BeginFamily("Scans");
  registry.RegisterOp<BlockScanOp, ScanMaker>("scan");
  registry.RegisterOp<BlockScanOp, SegmentScanMaker>("segment_scan");
}

}  // namespace pdl
