// Runs an operator on a device through the public interface, and compares the results of two
// devices.
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

/// A GPU, or an emulated one if the emulator is linked.
llvm::Expected<std::unique_ptr<DeviceContext>> CreateCudaContext(int index = 0);
int CountCudaDevices();

/// A call of an operator, with operands on the CPU.
struct TestCall {
  std::string op;
  std::vector<Tensor> inputs;
  std::vector<NamedAttribute> attributes;
};

/// The memory layout of the operands.
struct Placement {
  /// The number of elements by which all operands are misaligned.
  int64_t misalignment = 0;
  /// The input that the output overwrites, if the kernel supports that; -1: none.
  int in_place = -1;
};

/// A call prepared on a device, with operands in the device's memory.
class PreparedCall {
 public:
  static llvm::Expected<std::unique_ptr<PreparedCall>> Create(DeviceContext& context,
                                                              const TestCall& call,
                                                              const Placement& placement = {});
  /// Copies the operands again, since an in-place run overwrites them, and fills the outputs with a
  /// pattern.
  llvm::Error Reset();
  /// Calls RunPrepared only, which launches on CUDA.
  llvm::Error Launch();
  /// Synchronizes, and copies the outputs to the CPU.
  llvm::Expected<std::vector<Tensor>> Outputs();
  /// Whether the kernel supports `placement.in_place`.
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

/// The outputs of a call, on the CPU. Errors fail the test and return no outputs.
std::vector<Tensor> RunCall(DeviceContext& context, const TestCall& call,
                            const Placement& placement = {});

/// Compares each element with tolerance `tolerance` times the larger of 1 and its absolute value,
/// at least the precision of f16 and bf16; NaN equals NaN; integers and bools must be equal.
void ExpectClose(const TestCall& call, llvm::ArrayRef<Tensor> wanted, llvm::ArrayRef<Tensor> given,
                 double tolerance);
/// Runs the call on both devices and compares.
void ExpectSame(DeviceContext& cpu, DeviceContext& cuda, const TestCall& call,
                const Placement& placement = {}, double tolerance = 0);

/// Deterministic pseudorandom numbers in [low, high], for integer dtypes integers, for bool both
/// values.
Tensor RandomTensor(DType dtype, llvm::ArrayRef<int64_t> sizes, uint64_t seed, double low = -4,
                    double high = 4);
/// Sets the first elements of a floating-point tensor to NaN, infinities and zeros of both signs.
void PutSpecialValues(Tensor& tensor);
/// The types of all inputs, "f32[2, 3]" and so on.
std::string Describe(const TestCall& call);

}  // namespace pdl::testing

#endif  // PDL_TEST_CUDA_CUDA_TESTING_H_
