// The calls of NCCL, with a library that records them.
#include <dlfcn.h>

#include <chrono>
#include <cmath>

#include "fake_nccl.h"
#include "kernels/cuda/nccl_communicator.h"
#include "runtime/distributed/device_sum.h"
#include "test/cc/testing/host_ranks.h"
#include "test/cc/testing/runtime_testing.h"
#include "test/cc/testing/thread_communicator.h"

namespace pdl::cuda {
namespace {

/// The functions of the library for tests.
struct Fake {
  decltype(&FakeNcclCalls) calls;
  decltype(&FakeNcclReset) reset;
  decltype(&FakeNcclFail) fail;
};

Fake TheFake() {
  void* const library = dlopen(NcclLibrary::kFile, RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << dlerror();
  return {reinterpret_cast<decltype(&FakeNcclCalls)>(dlsym(library, "FakeNcclCalls")),
          reinterpret_cast<decltype(&FakeNcclReset)>(dlsym(library, "FakeNcclReset")),
          reinterpret_cast<decltype(&FakeNcclFail)>(dlsym(library, "FakeNcclFail"))};
}

/// Ranks whose memory is that of the CPU, connected by NCCL.
class NcclHostRanks : public HostRanks {
 public:
  NcclHostRanks(Communicator& ranks, GpuTransport& transport)
      : HostRanks(&ranks), transport_(transport) {}
  llvm::Error Finish() override {
    return transport_.Wait([]() -> llvm::Expected<bool> { return true; });
  }
  void Cancel() override { transport_.Abort(); }

 private:
  llvm::Error StartExchange(llvm::ArrayRef<DeviceMessage> send,
                            llvm::ArrayRef<DeviceMessage> receive) override {
    return transport_.Exchange(send, receive, nullptr);
  }
  GpuTransport& transport_;
};

TreeValues LeafOf(int64_t leaf, size_t count) {
  TreeValues values;
  for (size_t i = 0; i < count; ++i)
    values.f32.push_back(std::sin(static_cast<float>(leaf * 7) + static_cast<float>(i)) *
                         std::pow(10.0f, static_cast<float>(i % 9)));
  return values;
}

TEST(Nccl, IsLoadedOrNamesItsPackages) {
  EXPECT_EQ(WhyNoNccl(), "");
  const std::string packages =
      "; install the package libnccl2 of NVIDIA's repository for Debian, or nvidia-nccl-cu" +
      std::to_string(CUDART_VERSION / 1000) + " of PyPI";
  EXPECT_EQ(Message(NcclLibrary::LoadFrom("libnccl-missing.so").takeError()),
            "adding the gradients of several GPUs requires NCCL ("
            "libnccl-missing.so: cannot open shared object file: No such file or directory)" +
                packages);
  EXPECT_EQ(Message(NcclLibrary::LoadFrom("libm.so.6").takeError()),
            "adding the gradients of several GPUs requires NCCL (libm.so.6 has no function "
            "ncclGetVersion)" +
                packages);
}

TEST(Nccl, SumsHaveTheBitsOfTheHost) {
  constexpr size_t kCount = 1000;
  for (const int64_t leaves : {1, 3, 4, 8})
    for (const int ranks : {1, 2, 3, 4})
      RunRanks(ranks, [&](Communicator& communicator) {
        const MicroBatchRange range = MicroBatchesOf(leaves, communicator.rank(), ranks);
        const auto transport = Unwrap(ConnectByNccl(communicator));
        NcclHostRanks device(communicator, *transport);
        const SumLayout layout{{kCount, 0}, {}};
        TreeSum host(range.begin);
        DeviceSum sum(device, layout, range.begin, leaves);
        for (int64_t leaf = range.begin; leaf < range.end; ++leaf) {
          host.AddLeaf(LeafOf(leaf, kCount));
          EXPECT_EQ(Message(sum.BeginLeaf()), "");
          const TreeValues values = LeafOf(leaf, kCount);
          EXPECT_EQ(Message(device.Copy(sum.leaf().f32(), values.f32.data(), kCount * 4)), "");
          EXPECT_EQ(Message(sum.AddLeaf()), "");
        }
        EXPECT_EQ(Message(sum.Start()), "");
        EXPECT_EQ(Message(device.Finish()), "");
        SumNote note;
        const TreeValues expected =
            Unwrap(SumOverRanks(std::move(host), leaves, layout, communicator, &note));
        const float* const f32 = sum.total().f32();
        EXPECT_EQ(std::vector<float>(f32, f32 + kCount) == expected.f32, true)
            << leaves << " leaves, " << ranks << " ranks";
      });
}

TEST(Nccl, Calls) {
  const Fake fake = TheFake();
  fake.reset();
  RunRanks(2, [&](Communicator& communicator) {
    const auto transport = Unwrap(ConnectByNccl(communicator));
    NcclHostRanks device(communicator, *transport);
    const SumLayout layout{{64, 0}, {{0, 0}, {8, 0}}};
    DeviceSum sum(device, layout, communicator.rank(), 2);
    EXPECT_EQ(Message(sum.BeginLeaf()), "");
    std::fill_n(sum.leaf().f32(), 72, 1.0f);
    EXPECT_EQ(Message(sum.AddLeaf()), "");
    EXPECT_EQ(Message(sum.Start()), "");
    EXPECT_EQ(Message(device.Finish()), "");
    EXPECT_EQ(device.bytes_sent(), communicator.rank() == 0 ? 128 + 32 + 128 : 128 + 128);
  });
  // A half of the common values, then the values of rank 1; then the half of the sums.
  EXPECT_EQ(std::string(fake.calls(0)),
            "ncclCommInitRankConfig\n"
            "ncclSend 128 bytes to 1\n"
            "ncclSend 32 bytes to 1\n"
            "ncclRecv 128 bytes from 1\n"
            "ncclSend 128 bytes to 1\n"
            "ncclRecv 128 bytes from 1\n"
            "ncclCommFinalize\n"
            "ncclCommDestroy\n");
  EXPECT_EQ(std::string(fake.calls(1)),
            "ncclCommInitRankConfig\n"
            "ncclSend 128 bytes to 0\n"
            "ncclRecv 128 bytes from 0\n"
            "ncclRecv 32 bytes from 0\n"
            "ncclSend 128 bytes to 0\n"
            "ncclRecv 128 bytes from 0\n"
            "ncclCommFinalize\n"
            "ncclCommDestroy\n");
}

bool IsAborted(const Fake& fake, int rank) {
  return llvm::StringRef(fake.calls(rank)).ends_with("ncclCommAbort\n");
}

/// Exchanges a number with the other rank of two.
llvm::Error ExchangeNumbers(GpuTransport& transport, int rank) {
  float own = 1, other = 0;
  return transport.Exchange({{1 - rank, &own, sizeof(own)}}, {{1 - rank, &other, sizeof(other)}},
                            nullptr);
}

TEST(Nccl, ARankThatDoesNotAnswer) {
  const Fake fake = TheFake();
  fake.reset();
  RunRanks(
      2,
      [&](Communicator& communicator) {
        const auto transport = Unwrap(ConnectByNccl(communicator));
        communicator.set_timeout(60);  // not that of the transport
        if (communicator.rank() == 1) {
          EXPECT_EQ(Message(communicator.Barrier()), "");
          return;
        }
        const auto begin = std::chrono::steady_clock::now();
        EXPECT_EQ(Message(ExchangeNumbers(*transport, 0)),
                  "ncclGroupEnd: other ranks did not answer within 1 s");
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
        EXPECT_GE(time.count(), 1);
        EXPECT_EQ(IsAborted(fake, 0), true);
        EXPECT_EQ(Message(communicator.Barrier()), "");
      },
      1);
  // A rank that never joins.
  ncclUniqueId id = {};
  const NcclLibrary& library = *Unwrap(NcclLibrary::Load());
  ASSERT_EQ(library.GetUniqueId(&id), ncclSuccess);
  fake.reset();
  EXPECT_EQ(Message(NcclCommunicator::Create(library, id, 0, 2, 0.1).takeError()),
            "ncclCommInitRankConfig: other ranks did not answer within 0.1 s");
  EXPECT_EQ(IsAborted(fake, 0), true);
}

TEST(Nccl, WorkThatDoesNotEnd) {
  const Fake fake = TheFake();
  fake.reset();
  RunRanks(
      2,
      [&](Communicator& communicator) {
        const auto transport = Unwrap(ConnectByNccl(communicator));
        EXPECT_EQ(Message(ExchangeNumbers(*transport, communicator.rank())), "");
        EXPECT_EQ(Message(transport->Wait([]() -> llvm::Expected<bool> { return false; })),
                  "a transfer between GPUs by NCCL: other ranks did not answer within 1 s");
        EXPECT_EQ(IsAborted(fake, communicator.rank()), true);
      },
      1);
}

/// The Error of rank 0 in the first exchange, or before, if that function fails.
std::string MessageOfFailure(const char* function, ncclResult_t result) {
  std::string message;
  RunRanks(
      2,
      [&](Communicator& communicator) {
        if (communicator.rank() == 0) TheFake().fail(function, result);
        auto transport = ConnectByNccl(communicator);
        const std::string own = transport
                                    ? Message(ExchangeNumbers(**transport, communicator.rank()))
                                    : Message(transport.takeError());
        if (communicator.rank() == 0) message = own;
      },
      1);
  return message;
}

TEST(Nccl, EachFailureIsAnError) {
  EXPECT_EQ(MessageOfFailure("ncclGetUniqueId", ncclSystemError),
            "ncclGetUniqueId failed on rank 0: system error");
  EXPECT_EQ(MessageOfFailure("ncclCommInitRankConfig", ncclSystemError),
            "ncclCommInitRankConfig failed: system error");
  EXPECT_EQ(MessageOfFailure("ncclCommGetAsyncError", ncclRemoteError),
            "ncclCommInitRankConfig failed: remote error (injected)");
  EXPECT_EQ(MessageOfFailure("ncclGroupStart", ncclSystemError),
            "ncclGroupStart failed: system error");
  EXPECT_EQ(MessageOfFailure("ncclSend", ncclInvalidUsage),
            "ncclSend failed: invalid usage (injected)");
  EXPECT_EQ(MessageOfFailure("ncclRecv", ncclInvalidUsage),
            "ncclRecv failed: invalid usage (injected)");
  EXPECT_EQ(MessageOfFailure("ncclGroupEnd", ncclSystemError), "ncclGroupEnd failed: system error");
}

TEST(Nccl, AnErrorOfTheDeviceEndsTheWait) {
  const Fake fake = TheFake();
  fake.reset();
  RunRanks(2, [&](Communicator& communicator) {
    const auto transport = Unwrap(ConnectByNccl(communicator));
    EXPECT_EQ(Message(transport->Wait([]() -> llvm::Expected<bool> {
                return llvm::make_error<RankError>("the GPU failed");
              })),
              "the GPU failed");
    EXPECT_EQ(IsAborted(fake, communicator.rank()), true);
  });
}

}  // namespace
}  // namespace pdl::cuda
