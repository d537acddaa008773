// Addition of gradients in the memory of a device, and their exchange between ranks.
#ifndef PDL_RUNTIME_DISTRIBUTED_DEVICE_RANKS_H_
#define PDL_RUNTIME_DISTRIBUTED_DEVICE_RANKS_H_

#include <cstdint>
#include <memory>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/op/dtype.h"
#include "pdl/op/tensor.h"

namespace pdl {

/// Bytes in device memory that are sent to a rank or received from it. Between two ranks, messages
/// of one exchange are matched in order; their sizes agree.
struct DeviceMessage {
  int rank;
  void* data;
  size_t bytes;
};

/// The operations of a device by which gradients are added. Calls only launch work, in one of two
/// queues; work of a queue runs in the order of the calls. Sums are f32 or f64. The calls of all
/// ranks that launch exchanges are made in the same order. Used by one thread, and not while a
/// stream of the device is captured. After a RankError no further call may be made. See
/// DeviceContext::JoinRanks.
class PDL_API DeviceRanks {
 public:
  /// kCompute is the queue in which the device's operators run. The two run at the same time.
  enum class Queue : uint8_t { kCompute, kExchange };

  virtual ~DeviceRanks();
  int rank() const { return rank_; }
  int size() const { return size_; }
  /// Bytes that this rank has sent to others so far.
  int64_t bytes_sent() const { return bytes_sent_; }

  /// Allocates memory, aligned to 256 bytes. It is reused in the order of kCompute when it is
  /// freed, so memory that kExchange uses is freed after Finish or Cancel.
  virtual llvm::Expected<std::shared_ptr<void>> Allocate(int64_t bytes) = 0;
  /// Sets the sums to the elements of a floating-point tensor, converted, times `weight`. Sums of
  /// f64 tensors are f64, others f32. In kCompute, as is Divide.
  virtual llvm::Error Weigh(const Tensor& from, double weight, void* sums) = 0;
  /// Sets the elements to the sums divided by `count`, converted.
  virtual llvm::Error Divide(const void* sums, double count, Tensor& to) = 0;
  /// Sets `count` sums to left + right; `sums` may equal `left`.
  virtual llvm::Error Add(Queue queue, DType dtype, const void* left, const void* right,
                          size_t count, void* sums) = 0;

  /// kExchange waits for what has been launched in kCompute so far.
  virtual llvm::Error BeginExchange() = 0;
  /// Copies in kExchange.
  virtual llvm::Error Copy(void* to, const void* from, size_t bytes) = 0;
  /// Sends and receives in kExchange. Messages without bytes, or to the own rank, are skipped. May
  /// wait for the other ranks.
  llvm::Error Exchange(llvm::ArrayRef<DeviceMessage> send, llvm::ArrayRef<DeviceMessage> receive);
  /// Waits until the work in kExchange is done. A RankError if the other ranks do not take part
  /// within the communicator's timeout.
  virtual llvm::Error Finish() = 0;
  /// Aborts the work in kExchange, whether or not the other ranks take part in it, so that its
  /// memory can be freed. Later exchanges return a RankError. For use after an Error.
  virtual void Cancel() = 0;

 protected:
  DeviceRanks(int rank, int size) : rank_(rank), size_(size) {}
  /// Exchange without the messages that are skipped: there may be none.
  virtual llvm::Error StartExchange(llvm::ArrayRef<DeviceMessage> send,
                                    llvm::ArrayRef<DeviceMessage> receive) = 0;

 private:
  const int rank_, size_;
  int64_t bytes_sent_ = 0;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_DISTRIBUTED_DEVICE_RANKS_H_
