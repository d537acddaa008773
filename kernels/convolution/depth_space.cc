// depth_to_space and space_to_depth, which rearrange channels to spatial blocks and back.
#include "kernels/convolution/depth_space.h"
#include "kernels/convolution/window_attributes.h"
#include "kernels/core/element.h"
#include "pdl/op/gradient.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"

namespace pdl {
namespace {

struct CopyState : CallState {
  StridedCopy copy;
};

template <class Context, bool kToSpace>
class DepthSpaceOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    StridedView view = DepthSpaceView(x.sizes, this->attributes().Int("block"),
                                      this->attributes().String("mode") == "dcr", kToSpace);
    auto state = std::make_shared<CopyState>();
    view.Collapse();
    state->copy = StridedCopy(std::move(view), DTypeSize(x.dtype));
    Preparation preparation;
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    context.template state<CopyState>()->copy.Run(inputs[0]->raw(), outputs[0]->raw(), context);
    return llvm::Error::success();
  }
};
template <class Context>
using DepthToSpaceOp = DepthSpaceOp<Context, true>;
template <class Context>
using SpaceToDepthOp = DepthSpaceOp<Context, false>;

llvm::Error InferDepthToSpace(InferenceContext& context) {
  if (llvm::Error error = RequireSpatialRank(context, 0)) return error;
  Type type = context.input(0);
  const Dim block = context.attributes().Int("block");
  Dim places = 1;
  for (unsigned d = 2; d < type.rank(); ++d) {
    type.dims[d] = type.dims[d] * block;
    places = places * block;
  }
  if (llvm::Error error = context.RequireMultiple(
          type.dims[1], places, {0},
          "the number of channels must be a multiple of the block's elements")) {
    return error;
  }
  type.dims[1] = Dim::FloorDiv(type.dims[1], places);
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

llvm::Error InferSpaceToDepth(InferenceContext& context) {
  if (llvm::Error error = RequireSpatialRank(context, 0)) return error;
  Type type = context.input(0);
  const Dim block = context.attributes().Int("block");
  for (unsigned d = 2; d < type.rank(); ++d) {
    if (llvm::Error error = context.RequireMultiple(
            type.dims[d], block, {0}, "each spatial size must be a multiple of the block's")) {
      return error;
    }
    type.dims[d] = Dim::FloorDiv(type.dims[d], block);
    type.dims[1] = type.dims[1] * block;
  }
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

class DepthSpaceMaker : public OpProtoMaker {
 protected:
  void AddBlock() {
    AddAttr<int64_t>("block", "the size of a block along each spatial dim").Positional().AtLeast(1);
    AddAttr<std::string>(
        "mode",
        "the order of the channel index: with \"dcr\" the position in the block is the outer "
        "index, with \"crd\" the channel is (PyTorch's pixel_shuffle)")
        .Default("dcr")
        .OneOf({"dcr", "crd"});
  }
  template <bool kToSpace>
  static void Gradient(GradientContext& g) {
    if (!IsFloat(g.output()->type().dtype)) return;
    g.SetInputGradient(
        0,
        g.Call(kToSpace ? "space_to_depth" : "depth_to_space", {g.output_gradient()},
               {{"block", *g.attributes().Find("block")}, {"mode", *g.attributes().Find("mode")}}));
  }
};

struct DepthToSpaceMaker : DepthSpaceMaker {
  void Make() override {
    AddComment(
        "Rearranges channels into spatial blocks of a larger image: with block=2, four channels of "
        "[H, W] become one of [2*H, 2*W].");
    AddInput("x", "[N, C * block ** dims, ...] with 1 to 3 spatial dims").Accepts(kAnySet);
    AddOutput("y", "[N, C, ...], each spatial size multiplied by `block`; dtype as x").DTypeOf("x");
    AddBlock();
    AddExample("y = depth_to_space([[[1.0], [2.0]]], 2)  # = [[[1.0, 2.0]]]");
    properties().moves_elements = true;
    properties().reduced_precision = ReducedPrecision::kFollow;
    SetInference(InferDepthToSpace);
    SetGradient(Gradient<true>);
  }
};

struct SpaceToDepthMaker : DepthSpaceMaker {
  void Make() override {
    AddComment(
        "Rearranges spatial blocks of an image into channels: with block=2, [2*H, 2*W] becomes "
        "four channels of [H, W]. The reverse of depth_to_space.");
    AddInput("x", "[N, C, ...] with 1 to 3 spatial dims, each a multiple of `block`")
        .Accepts(kAnySet);
    AddOutput("y", "[N, C * block ** dims, ...], each spatial size divided by `block`; dtype as x")
        .DTypeOf("x");
    AddBlock();
    AddExample("y = space_to_depth([[[1.0, 2.0]]], 2)  # = [[[1.0], [2.0]]]");
    properties().moves_elements = true;
    properties().reduced_precision = ReducedPrecision::kFollow;
    SetInference(InferSpaceToDepth);
    SetGradient(Gradient<false>);
  }
};

}  // namespace

void RegisterDepthSpaceOps(OpRegistry& registry) {
  registry.BeginFamily("Images");
  registry.RegisterOp<DepthToSpaceOp, DepthToSpaceMaker>("depth_to_space");
  registry.RegisterOp<SpaceToDepthOp, SpaceToDepthMaker>("space_to_depth");
}

}  // namespace pdl
