// The index arithmetic of CUDA kernels, tested on the CPU.
#include "kernels/core/index_map.h"

#include <gtest/gtest.h>

#include <random>

namespace pdl::cuda {
namespace {

TEST(Divisor, DividesAsTheProcessorDoes) {
  std::mt19937 generator(1);
  std::vector<uint32_t> numbers = {1,   2,   3,     5,     7,          10,        255,
                                   256, 641, 65535, 65536, 0x7ffffffe, 0x7fffffff};
  for (int i = 0; i < 1000; ++i) numbers.push_back((generator() >> (1 + i % 30)) | 1);
  for (uint32_t divisor : numbers) {
    const Divisor fast = MakeDivisor(divisor);
    for (uint32_t n : {0u, 1u, divisor - 1, divisor, 0x7fffffffu, 0x7ffffffeu})
      ASSERT_EQ(fast.Divide(n), n / divisor) << n << " / " << divisor;
    for (int i = 0; i < 1000; ++i) {
      const uint32_t n = generator() >> 1;
      ASSERT_EQ(fast.Divide(n), n / divisor) << n << " / " << divisor;
    }
  }
}

/// Offsets by plain arithmetic on every axis.
int64_t PlainOffset(int64_t index, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides) {
  int64_t offset = 0;
  for (size_t axis = sizes.size(); axis-- > 0;) {
    offset += index % sizes[axis] * strides[axis];
    index /= sizes[axis];
  }
  return offset;
}

TEST(IndexMap, AgreesWithPlainArithmetic) {
  const std::vector<std::pair<Sizes, Sizes>> broadcasts = {
      {{}, {}},
      {{1}, {5}},
      {{7}, {5, 7}},
      {{5, 1}, {5, 7}},
      {{2, 1, 3, 1}, {2, 4, 3, 5}},
      {{1, 4, 1, 5}, {2, 4, 3, 5}},
      {{2, 3, 4, 5}, {2, 3, 4, 5}},
      {{3, 1, 1, 2, 1, 2}, {3, 2, 1, 2, 3, 2}},
  };
  for (const auto& [from, to] : broadcasts) {
    const Sizes strides = BroadcastStrides(from, to);
    const Sizes dense = DenseStrides(to);
    auto map = MakeIndexMap<2>(to, {strides, dense});
    ASSERT_TRUE(static_cast<bool>(map));
    for (const bool narrow : {true, false}) {
      map->narrow = narrow;
      for (int64_t i = 0; i < map->num_elements; ++i) {
        ASSERT_EQ(map->At(i).at[0], PlainOffset(i, to, strides));
        ASSERT_EQ(map->At(i).at[1], i);
      }
    }
  }
}

TEST(IndexMap, MergesAxes) {
  const Sizes sizes = {2, 3, 1, 4};
  const Sizes dense = DenseStrides(sizes);
  auto all = MakeIndexMap<1>(sizes, {dense});
  ASSERT_TRUE(static_cast<bool>(all));
  EXPECT_EQ(all->rank, 1);
  EXPECT_EQ(all->sizes[0], 24);

  const Sizes row = BroadcastStrides({1, 4}, sizes);
  auto rows = MakeIndexMap<2>(sizes, {dense, row});
  ASSERT_TRUE(static_cast<bool>(rows));
  EXPECT_EQ(rows->rank, 2);
  EXPECT_EQ(rows->sizes[0], 6);
  EXPECT_EQ(rows->strides[1][0], 0);
}

TEST(IndexMap, WideIndicesAreNotNarrow) {
  const Sizes sizes = {3, int64_t{1} << 31};
  const Sizes dense = DenseStrides(sizes), column = {1, 0};
  auto map = MakeIndexMap<2>(sizes, {dense, column});
  ASSERT_TRUE(static_cast<bool>(map));
  EXPECT_FALSE(map->narrow);
  const int64_t index = (int64_t{1} << 32) + 5;
  EXPECT_EQ(map->At(index).at[0], index);
  EXPECT_EQ(map->At(index).at[1], 2);
}

TEST(IndexMap, RefusesTooManyAxes) {
  Sizes sizes(40, 2), strides(40, 0);
  for (size_t axis = 0; axis < sizes.size(); ++axis) strides[axis] = axis % 2;
  auto map = MakeIndexMap<1>(llvm::ArrayRef(sizes).take_front(20),
                             {llvm::ArrayRef(strides).take_front(20)});
  EXPECT_FALSE(static_cast<bool>(map));
  llvm::consumeError(map.takeError());
}

}  // namespace
}  // namespace pdl::cuda
