// Sums of gradients on a device whose memory is that of the CPU.
#ifndef PDL_TEST_CC_TESTING_HOST_RANKS_H_
#define PDL_TEST_CC_TESTING_HOST_RANKS_H_

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "pdl/op/half.h"
#include "pdl/train/communicator.h"
#include "runtime/distributed/device_ranks.h"

namespace pdl {

/// All work is done when it is launched. The messages are those of the communicator.
class HostRanks : public DeviceRanks {
 public:
  /// `ranks` may be null: then there is one rank.
  explicit HostRanks(Communicator* ranks)
      : DeviceRanks(ranks ? ranks->rank() : 0, ranks ? ranks->size() : 1), ranks_(ranks) {}

  llvm::Expected<std::shared_ptr<void>> Allocate(int64_t bytes) override {
    // Uninitialized values become nan.
    auto memory = std::shared_ptr<char[]>(new char[static_cast<size_t>(bytes) + 1]);
    std::memset(memory.get(), 0xff, static_cast<size_t>(bytes) + 1);
    return std::shared_ptr<void>(memory, memory.get());
  }
  llvm::Error Weigh(const Tensor& from, double weight, void* sums) override {
    Visit(from.dtype(), [&]<typename T, typename Sum>(T, Sum) {
      for (int64_t i = 0; i < from.num_elements(); ++i)
        static_cast<Sum*>(sums)[i] =
            static_cast<Sum>(weight) * static_cast<Sum>(static_cast<const T*>(from.raw())[i]);
    });
    return llvm::Error::success();
  }
  llvm::Error Divide(const void* sums, double count, Tensor& to) override {
    Visit(to.dtype(), [&]<typename T, typename Sum>(T, Sum) {
      for (int64_t i = 0; i < to.num_elements(); ++i)
        static_cast<T*>(to.raw())[i] =
            static_cast<T>(static_cast<const Sum*>(sums)[i] / static_cast<Sum>(count));
    });
    return llvm::Error::success();
  }
  llvm::Error Add(Queue, DType dtype, const void* left, const void* right, size_t count,
                  void* sums) override {
    Visit(dtype, [&]<typename T, typename Sum>(T, Sum) {
      for (size_t i = 0; i < count; ++i)
        static_cast<Sum*>(sums)[i] =
            static_cast<const Sum*>(left)[i] + static_cast<const Sum*>(right)[i];
    });
    return llvm::Error::success();
  }
  llvm::Error BeginExchange() override { return llvm::Error::success(); }
  llvm::Error Copy(void* to, const void* from, size_t bytes) override {
    std::memcpy(to, from, bytes);
    return llvm::Error::success();
  }
  llvm::Error Finish() override { return llvm::Error::success(); }
  void Cancel() override { ++num_cancels; }

  int num_cancels = 0;

 protected:
  llvm::Error StartExchange(llvm::ArrayRef<DeviceMessage> send,
                            llvm::ArrayRef<DeviceMessage> receive) override {
    std::vector<std::vector<char>> sent(static_cast<size_t>(size())), received(sent.size());
    for (const auto& [rank, data, bytes] : send) {
      const char* const from = static_cast<const char*>(data);
      std::vector<char>& all = sent[static_cast<size_t>(rank)];
      all.insert(all.end(), from, from + bytes);
    }
    for (const auto& [rank, data, bytes] : receive) {
      std::vector<char>& all = received[static_cast<size_t>(rank)];
      all.resize(all.size() + bytes);
    }
    const std::vector<SentBytes> from(sent.begin(), sent.end());
    const std::vector<ReceivedBytes> to(received.begin(), received.end());
    if (llvm::Error error = ranks_->Exchange(from, to)) return error;
    std::vector<const char*> next;
    for (const std::vector<char>& all : received) next.push_back(all.data());
    for (const auto& [rank, data, bytes] : receive) {
      std::memcpy(data, next[static_cast<size_t>(rank)], bytes);
      next[static_cast<size_t>(rank)] += bytes;
    }
    return llvm::Error::success();
  }

 private:
  /// Calls `visit` with an element and a sum of it.
  template <typename F>
  static void Visit(DType dtype, F visit) {
    switch (dtype) {
      case DType::kF64:
        return visit(double(), double());
      case DType::kF16:
        return visit(float16(), float());
      case DType::kBF16:
        return visit(bfloat16(), float());
      default:
        return visit(float(), float());
    }
  }

  Communicator* const ranks_;
};

}  // namespace pdl

#endif  // PDL_TEST_CC_TESTING_HOST_RANKS_H_
