// Operators with checks of their own, for test/tool/plugin_checks.test, pdl_h_test and the tests of
// the Python package.
#include <cmath>
#include <vector>

#include "pdl/op/elementwise.h"
#include "pdl/op/gradient.h"
#include "pdl/op/inference.h"
#include "pdl/op/register_op.h"

namespace {

/// scale * cos(x), for an even scale of at most 100.
template <typename Context>
class ScaledCosineOp : public pdl::Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const pdl::Tensor*> inputs,
                  llvm::MutableArrayRef<pdl::Tensor*> outputs, Context&) const override {
    for (int64_t i = 0; i < inputs[0]->num_elements(); ++i)
      outputs[0]->template data<float>()[i] =
          scale_ * std::cos(inputs[0]->template data<float>()[i]);
    return llvm::Error::success();
  }

 protected:
  llvm::Error InitializeAttributes(const pdl::AttributeReader& attributes) override {
    if (llvm::Error error = attributes.Get<float>("scale", &scale_)) return error;
    if (scale_ > 100)
      return pdl::MakeUserError(pdl::Code::kAttributeRange,
                                "Scale of cosine op should be at most 100, got {0}", scale_);
    if (std::fmod(scale_, 2.0F) != 0)
      return llvm::createStringError("Scale of cosine op should be even, got %g",
                                     static_cast<double>(scale_));
    return llvm::Error::success();
  }

 private:
  float scale_ = 0;
};

struct ScaledCosineMaker : pdl::OpProtoMaker {
  void Make() override {
    AddComment("scale * cos(x), elementwise.");
    AddInput("x", "angles in radians").Accepts(pdl::DType::kF32);
    AddOutput("y", "in [-scale, scale]");
    AddAttr<float>("scale", "amplitude, an even number up to 100").Default(2).GreaterThan(0);
    SetInference(pdl::InferSameAsFirst);
  }
};

REGISTER_OP(ScaledCosineOp, ScaledCosineMaker, "test_cos");

/// x where it is in [low, high], else 0.
struct Band {
  double low = 0, high = 0;

  llvm::Error Initialize(const pdl::AttributeReader& attributes) {
    low = attributes.Float("low");
    high = attributes.Float("high");
    if (low < high) return llvm::Error::success();
    if (attributes.String("name") == "place")
      return attributes.FailAtAttribute("high", pdl::Code::kAttributeRange,
                                        "'high' must be larger than 'low', {0}, got {1}", low,
                                        high);
    return llvm::createStringError("the band is empty");
  }
  template <class T>
  T operator()(T x) const {
    return x >= static_cast<T>(low) && x <= static_cast<T>(high) ? x : T(0);
  }
};
template <class Context>
using BandOp = pdl::FloatFormulaOp<Context, Band>;

struct BandMaker : pdl::OpProtoMaker {
  void Make() override {
    AddComment("x where it is in [low, high], else 0.");
    AddInput("x", "any numbers").Accepts(pdl::kFloats);
    AddOutput("y", "as x");
    AddAttr<double>("low", "the smallest number that is kept").Default(0);
    AddAttr<double>("high", "the largest number that is kept").Default(1);
    AddAttr<std::string>("name", "what the error names").Default("place");
    properties().elementwise = true;
    SetInference(pdl::InferSameAsFirst);
  }
};

REGISTER_OP(BandOp, BandMaker, "test_band");

/// The sum of the weights times x.
template <typename Context>
class WeightsOp : public pdl::Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const pdl::Tensor*> inputs,
                  llvm::MutableArrayRef<pdl::Tensor*> outputs, Context&) const override {
    for (int64_t i = 0; i < inputs[0]->num_elements(); ++i)
      outputs[0]->template data<float>()[i] = sum_ * inputs[0]->template data<float>()[i];
    return llvm::Error::success();
  }

 protected:
  llvm::Error InitializeAttributes(const pdl::AttributeReader& attributes) override {
    std::vector<float> weights;
    std::vector<int> counts;
    std::vector<std::string> names;
    std::vector<bool> flags;
    if (llvm::Error error = attributes.GetArray("weights", &weights)) return error;
    if (llvm::Error error = attributes.GetArray("counts", &counts)) return error;
    if (llvm::Error error = attributes.GetArray("names", &names)) return error;
    if (llvm::Error error = attributes.GetArray("flags", &flags)) return error;
    if (weights.size() != counts.size())
      return attributes.FailAtAttribute("counts", pdl::Code::kAttributeRange,
                                        "'counts' must have {0} items, got {1}", weights.size(),
                                        counts.size());
    for (size_t i = 0; i < weights.size(); ++i) sum_ += weights[i] * static_cast<float>(counts[i]);
    sum_ += static_cast<float>(names.size()) + (flags.at(0) ? 1.0F : 0.0F);
    return llvm::Error::success();
  }

 private:
  float sum_ = 0;
};

struct WeightsMaker : pdl::OpProtoMaker {
  void Make() override {
    AddComment("The sum of weights, each times its count, times x.");
    AddInput("x", "any numbers").Accepts(pdl::DType::kF32);
    AddOutput("y", "as x");
    AddAttr<std::vector<float>>("weights", "summed").Default({0.5F, 1.5F});
    AddAttr<std::vector<int>>("counts", "how often each weight is added").Default({2, 4});
    AddAttr<std::vector<std::string>>("names", "their number is added").Default({"a", "b"});
    AddAttr<std::vector<bool>>("flags", "the first adds 1").Default({true});
    SetInference(pdl::InferSameAsFirst);
  }
};

REGISTER_OP(WeightsOp, WeightsMaker, "test_weights");

/// An operator whose default is not accepted, in ONNX, too.
template <typename Context>
class NeedsLimitOp : public pdl::Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const pdl::Tensor*>, llvm::MutableArrayRef<pdl::Tensor*>,
                  Context&) const override {
    return llvm::Error::success();
  }

 private:
  llvm::Error InitializeAttributes(const pdl::AttributeReader& attributes) override {
    int limit = 0;
    if (llvm::Error error = attributes.Get("limit", &limit)) return error;
    if (attributes.Bool("on_device")) return pdl::MakeDeviceError("the device is busy");
    return limit > 0 ? llvm::Error::success()
                     : attributes.FailAtAttribute("limit", pdl::Code::kMissingAttribute,
                                                  "a limit must be given");
  }
};

struct NeedsLimitMaker : pdl::OpProtoMaker {
  void Make() override {
    AddComment("x.");
    AddInput("x", "any numbers").Accepts(pdl::DType::kF32);
    AddOutput("y", "as x");
    AddAttr<int>("limit", "a number above 0").Default(0);
    AddAttr<bool>("on_device", "fails as a device does").Default(false);
    properties().onnx_name = "TestNeedsLimit";
    SetInference(pdl::InferSameAsFirst);
  }
};

REGISTER_OP(NeedsLimitOp, NeedsLimitMaker, "test_needs_limit");

}  // namespace
