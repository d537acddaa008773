#include <cstring>

#include "gtest/gtest.h"
#include "pdl/op/device_context.h"
#include "pdl/runtime/io.h"
#include "test/cc/testing/runtime_testing.h"

namespace pdl {
namespace {

std::string NpzError(const std::string& bytes) {
  TemporaryFolder folder;
  std::string path = WriteBytes(folder / "x.npz", bytes);
  std::string message = Message(ReadNpz(path));
  llvm::StringRef text = message;
  EXPECT_TRUE(text.consume_front("cannot read '" + path)) << message;
  text.consume_front("': ");
  EXPECT_TRUE(text.consume_back(" [PDL0401]")) << message;
  return text.str();
}

/// `bytes` with the little-endian `value` at `offset` after the `occurrence`-th `signature`.
std::string Patch(std::string bytes, const std::string& signature, size_t offset, uint64_t value,
                  size_t size) {
  size_t at = bytes.find(signature);
  EXPECT_NE(at, std::string::npos);
  for (size_t i = 0; i < size; ++i) bytes[at + offset + i] = static_cast<char>(value >> (8 * i));
  return bytes;
}

const std::string kCentral = "PK\x01\x02";
const std::string kEnd = "PK\x05\x06";

TEST(ReadNpz, WhatNumPyWrote) {
  std::vector<NamedTensor> stored = Unwrap(ReadNpz(DataFile("stored.npz")));
  ASSERT_EQ(stored.size(), 2u);
  EXPECT_EQ(stored[0].first, "x");
  EXPECT_EQ(stored[0].second.TypeString(), "f32[2, 3]");
  EXPECT_EQ(stored[0].second.data<float>()[5], 5);
  EXPECT_EQ(stored[1].first, "flags");
  EXPECT_EQ(TensorToString(stored[1].second), "[[false, false, false],\n [ true,  true,  true]]");

  std::vector<NamedTensor> deflated = Unwrap(ReadNpz(DataFile("deflated.npz")));
  ASSERT_EQ(deflated.size(), 2u);
  EXPECT_EQ(deflated[0].second.TypeString(), "f32[40, 50]");
  EXPECT_EQ(deflated[1].second.data<int64_t>()[5], 5);
}

TEST(ReadNpz, BrokenArchives) {
  const std::string stored = ReadBytes(DataFile("stored.npz"));
  const std::string deflated = ReadBytes(DataFile("deflated.npz"));
  const std::string no_directory = "it is not a .npz file, or truncated: it has no zip directory";
  EXPECT_EQ(NpzError(""), no_directory);
  EXPECT_EQ(NpzError(ReadBytes(DataFile("f32.npy"))), no_directory);
  EXPECT_EQ(NpzError(stored.substr(0, stored.size() - 1)), no_directory);
  EXPECT_EQ(NpzError(stored.substr(20)), "its directory is broken");
  EXPECT_EQ(NpzError(Patch(stored, kEnd, 10, 60000, 2)),
            "its directory states more members than fit into it");
  EXPECT_EQ(NpzError(Patch(stored, kEnd, 10, 1, 2)),
            "its directory has more members than it states");
  EXPECT_EQ(NpzError(Patch(stored, kEnd, 4, 1, 2)), "it is a part of an archive in several files");
  EXPECT_EQ(NpzError(Patch(stored, kCentral, 8, 1, 2)), "member 'x.npy' is encrypted");
  EXPECT_EQ(NpzError(Patch(stored, kCentral, 10, 12, 2)),
            "member 'x.npy' is compressed by method 12; only deflate is supported");
  EXPECT_EQ(NpzError(Patch(stored, kCentral, 42, 1, 4)),
            "member 'x.npy' has no header at its offset");
  EXPECT_EQ(NpzError(Patch(stored, kCentral, 16, 0x12345678, 4)).substr(0, 38),
            "member 'x.npy' is damaged: its CRC is ");
  EXPECT_EQ(NpzError(Patch(deflated, kCentral, 46, 'y', 1)),
            "member 'y.npy' has another name in its header");
}

TEST(ReadNpz, LyingSizesAreRefusedBeforeAnAllocation) {
  const std::string stored = ReadBytes(DataFile("stored.npz"));
  const std::string deflated = ReadBytes(DataFile("deflated.npz"));
  EXPECT_EQ(NpzError(Patch(stored, kCentral, 24, 0x7fffffff, 4)),
            "member 'x.npy' cannot have 2.0 GiB in 152 bytes");
  EXPECT_EQ(NpzError(Patch(stored, kCentral, 20, 0x7fffffff, 4)),
            "member 'x.npy' is truncated: it should have 2.0 GiB");
  EXPECT_EQ(NpzError(Patch(deflated, kCentral, 24, 0xfffffffe, 4)).substr(0, 31),
            "member 'x.npy' cannot have 4.0 ");
  EXPECT_EQ(NpzError(Patch(deflated, kCentral, 24, 8129, 4)),
            "member 'x.npy' is damaged: it does not unpack to its 7.9 KiB");
  EXPECT_EQ(NpzError(Patch(deflated, kCentral, 24, 8127, 4)),
            "member 'x.npy' is damaged: it does not unpack to its 7.9 KiB");
  EXPECT_EQ(NpzError(Patch(stored, kCentral, 24, 0xffffffff, 4)),
            "member 'x.npy' has no zip64 sizes");
}

TEST(ReadNpz, UnpackingCountsAgainstTheMemoryLimit) {
  const int64_t before = MemoryLimit();
  SetMemoryLimit(4096);
  EXPECT_EQ(Message(ReadNpz(DataFile("deflated.npz"))),
            "member 'x.npy' of 'cc/data/deflated.npz' needs 7.9 KiB, but the memory limit is 4.0 "
            "KiB [PDL0506]");
  SetMemoryLimit(before);
}

TEST(ReadNpz, EveryPrefixAndEveryChangedByteIsSurvived) {
  const std::string whole = ReadBytes(DataFile("deflated.npz"));
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(NpzError(whole.substr(0, size)), "") << size;
  TemporaryFolder folder;
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x55);
    // A changed byte may have no effect (times), but must not crash the reader.
    Message(ReadNpz(WriteBytes(folder / "x.npz", changed)));
  }
}

TEST(WriteNpz, RoundTrip) {
  TemporaryFolder folder;
  std::vector<NamedTensor> tensors = Unwrap(ReadNpz(DataFile("deflated.npz")));
  tensors.emplace_back("empty/one", Unwrap(Tensor::Allocate(DType::kI8, {0})));
  std::string path = folder / "x.npz";
  EXPECT_EQ(Message(WriteNpz(path, tensors)), "");
  std::vector<NamedTensor> back = Unwrap(ReadNpz(path));
  ASSERT_EQ(back.size(), tensors.size());
  for (size_t i = 0; i < back.size(); ++i) {
    EXPECT_EQ(back[i].first, tensors[i].first);
    EXPECT_TRUE(back[i].second.ToConstant() == tensors[i].second.ToConstant());
  }
  EXPECT_EQ(Message(WriteNpz(path, {})), "");
  EXPECT_TRUE(Unwrap(ReadNpz(path)).empty());
}

TEST(WriteNpz, RefusesEqualNames) {
  TemporaryFolder folder;
  Tensor tensor = Unwrap(Tensor::Allocate(DType::kI8, {}));
  std::string path = folder / "x.npz";
  EXPECT_EQ(Message(WriteNpz(path, {{"a", tensor}, {"a", tensor}})),
            "cannot write '" + path + "': two tensors have the name 'a' [PDL0401]");
  EXPECT_EQ(folder.CountFiles(), 0u);
}

}  // namespace
}  // namespace pdl
