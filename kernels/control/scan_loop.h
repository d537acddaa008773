// The loop of scan, segment_scan and while_loop, shared by all devices.
#ifndef PDL_KERNELS_CONTROL_SCAN_LOOP_H_
#define PDL_KERNELS_CONTROL_SCAN_LOOP_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/op/device_context.h"
#include "pdl/op/operator.h"
#include "runtime/body.h"

namespace pdl {

/// Moves rows on a device; all operations are ordered by its stream.
class PDL_API RowMover {
 public:
  virtual ~RowMover() = default;
  /// Sets row i of `to` to row `rows[i] + shift` of `from`, for i below `count`. `rows` is in
  /// device memory.
  virtual llvm::Error Gather(void* to, const void* from, const int64_t* rows, int64_t shift,
                             int64_t count, int64_t row_bytes) = 0;
  /// Sets row `rows[i] + shift` of `to` to row i of `from`.
  virtual llvm::Error Scatter(void* to, const void* from, const int64_t* rows, int64_t shift,
                              int64_t count, int64_t row_bytes) = 0;
  /// Copies `count` pieces of `bytes` each; the strides are in bytes.
  virtual llvm::Error CopyPieces(void* to, int64_t to_stride, const void* from, int64_t from_stride,
                                 int64_t count, int64_t bytes) = 0;
  virtual llvm::Error Clear(void* to, int64_t bytes) = 0;
};

/// Describes a call of scan, segment_scan or while_loop: its attributes and its numbers of
/// operands.
struct PDL_API ScanCall {
  unsigned num_xs = 0, num_init = 0, num_captured = 0, num_results = 0;
  unsigned axis = 0;
  bool reverse = false;
  /// Each row has a length of its own: from offsets (segment_scan) or lengths (scan).
  bool is_packed = false;
  bool has_lengths = false;
  /// while_loop: runs while the first carried value is true. Its results are stacked along axis 0.
  bool is_conditional = false;

  static ScanCall Of(const OperatorArguments& arguments);
  bool by_row() const { return is_packed || has_lengths; }
  unsigned num_steps_results() const { return num_results - num_init; }
  unsigned first_init() const { return num_xs; }
  unsigned first_captured() const { return num_xs + num_init; }
  unsigned num_given() const { return num_xs + num_init + num_captured; }
};

/// Prepares and runs the calls of one operator.
class PDL_API ScanLoop {
 public:
  llvm::Error Initialize(const OperatorArguments& arguments);
  llvm::Expected<Preparation> Prepare(const OperatorArguments& arguments,
                                      const PrepareContext& context) const;
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  DeviceContext& context, RowMover& mover) const;

 private:
  /// The compiled body, which calls with the same captured constants share.
  llvm::Expected<std::shared_ptr<Body>> BodyFor(const OperatorArguments& arguments,
                                                const PrepareContext& context) const;

  ScanCall call_;
  /// The symbol for the number of rows in the body's input types; empty if there is none.
  std::string rows_symbol_;
  /// For each carried value, whether the body has it row by row.
  std::vector<bool> carried_by_row_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<Body> body_;
};

}  // namespace pdl

#endif  // PDL_KERNELS_CONTROL_SCAN_LOOP_H_
