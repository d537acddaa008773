// Runs one operator on a device through the public interface, and compares what two devices give.
#ifndef PDL_TEST_CUDA_CUDA_TESTING_H_
#define PDL_TEST_CUDA_CUDA_TESTING_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pdl/op/attribute.h"
#include "pdl/op/device_context.h"
#include "pdl/op/operator.h"
#include "pdl/op/tensor.h"

namespace pdl::testing {

/// The first GPU, or the emulated one in a test that links the emulator.
llvm::Expected<std::unique_ptr<DeviceContext>> CreateCudaContext();

/// One call of an operator, with operands on the CPU.
struct TestCall {
  std::string op;
  std::vector<Tensor> inputs;
  std::vector<NamedAttribute> attributes;
};

/// How the operands lie in memory.
struct Placement {
  /// Elements by which every operand is moved off its alignment.
  int64_t misalignment = 0;
  /// The output is written over this input, where the kernel allows that; -1: apart from all.
  int in_place = -1;
};

/// A call prepared on a device, its operands in the device's memory.
class PreparedCall {
 public:
  static llvm::Expected<std::unique_ptr<PreparedCall>> Create(DeviceContext& context,
                                                              const TestCall& call,
                                                              const Placement& placement = {});
  /// Writes the operands again, which a run in place overwrites, and marks the outputs.
  llvm::Error Reset();
  /// Only what RunPrepared does: on CUDA, launches.
  llvm::Error Launch();
  /// Waits, and copies the outputs to the CPU.
  llvm::Expected<std::vector<Tensor>> Outputs();
  /// The kernel let `placement.in_place` happen.
  bool is_in_place() const { return is_in_place_; }

 private:
  PreparedCall(DeviceContext& context, const TestCall& call) : context_(context), call_(call) {}
  llvm::Error Initialize(const Placement& placement);
  llvm::Expected<Tensor> Place(DType dtype, llvm::ArrayRef<int64_t> sizes, int64_t misalignment);

  DeviceContext& context_;
  TestCall call_;
  std::unique_ptr<OperatorBase> op_;
  Preparation preparation_;
  std::vector<std::shared_ptr<void>> memory_;
  std::vector<Tensor> inputs_;
  std::vector<Tensor> outputs_;
  std::shared_ptr<void> workspace_;
  bool is_in_place_ = false;
};

/// The outputs of a call, on the CPU. Failures of the machinery are test failures, and give
/// nothing.
std::vector<Tensor> RunCall(DeviceContext& context, const TestCall& call,
                            const Placement& placement = {});

/// Each element lies within `tolerance` times the larger of 1 and its size, halves within their
/// precision at best; NaN meets NaN; integers and bools are equal.
void ExpectClose(const TestCall& call, llvm::ArrayRef<Tensor> wanted, llvm::ArrayRef<Tensor> given,
                 double tolerance);
/// Runs the call on both devices and compares.
void ExpectSame(DeviceContext& cpu, DeviceContext& cuda, const TestCall& call,
                const Placement& placement = {}, double tolerance = 0);

/// Numbers in [low, high], the same for the same seed; for integers whole, for bools both.
Tensor RandomTensor(DType dtype, llvm::ArrayRef<int64_t> sizes, uint64_t seed, double low = -4,
                    double high = 4);
/// Puts NaN, infinities and zeros of both signs at the beginning of a float tensor, where they fit.
void PutSpecialValues(Tensor& tensor);
/// "f32[2, 3]", and so on, of all inputs.
std::string Describe(const TestCall& call);

}  // namespace pdl::testing

#endif  // PDL_TEST_CUDA_CUDA_TESTING_H_
