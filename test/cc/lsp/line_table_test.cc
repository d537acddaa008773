// Positions of the language server protocol.
#include "tools/pdl/lsp/line_table.h"

#include <gtest/gtest.h>

#include "tools/pdl/lsp/offset_map.h"

namespace pdl::lsp {
namespace {

// "a😀é" has the bytes 61, f0 9f 98 80, c3 a9.
constexpr llvm::StringLiteral kLines = "a\xF0\x9F\x98\x80\xC3\xA9\r\nb\rc\n";

TEST(LineTable, CountsUtf16Units) {
  const LineTable table(kLines);
  EXPECT_EQ(table.num_lines(), 4u);
  EXPECT_EQ(table.OffsetOf({0, 1}), 1u);
  EXPECT_EQ(table.OffsetOf({0, 3}), 5u);
  EXPECT_EQ(table.OffsetOf({0, 4}), 7u);
  EXPECT_EQ(table.PositionOf(5), (LineColumn{0, 3}));
  EXPECT_EQ(table.PositionOf(7), (LineColumn{0, 4}));
  EXPECT_EQ(table.PositionOf(9), (LineColumn{1, 0}));
  EXPECT_EQ(table.PositionOf(11), (LineColumn{2, 0}));
  EXPECT_EQ(table.PositionOf(13), (LineColumn{3, 0}));
}

TEST(LineTable, CountsBytesInUtf8) {
  const LineTable table(kLines, Encoding::kUtf8);
  EXPECT_EQ(table.OffsetOf({0, 5}), 5u);
  EXPECT_EQ(table.PositionOf(7), (LineColumn{0, 7}));
}

TEST(LineTable, MovesPositionsIntoTheSource) {
  const LineTable table(kLines);
  EXPECT_EQ(table.OffsetOf({0, 2}), 1u) << "the second half of a surrogate pair";
  EXPECT_EQ(table.OffsetOf({0, 99}), 7u) << "before the line end";
  EXPECT_EQ(table.OffsetOf({1, 5}), 10u);
  EXPECT_EQ(table.OffsetOf({99, 0}), 13u);
  EXPECT_EQ(table.OffsetOf({-1, 5}), 0u);
  EXPECT_EQ(table.OffsetOf({1, -5}), 9u);
  EXPECT_EQ(table.PositionOf(99), (LineColumn{3, 0}));
  EXPECT_EQ(table.PositionOf(8), (LineColumn{0, 4})) << "inside a line end";
  EXPECT_EQ(LineTable("").OffsetOf({3, 3}), 0u);
}

TEST(LineTable, SkipsAByteOrderMark) {
  const LineTable table("ab\nc", Encoding::kUtf16, 1);
  EXPECT_EQ(table.OffsetOf({0, 0}), 0u);
  EXPECT_EQ(table.OffsetOf({0, 1}), 0u);
  EXPECT_EQ(table.OffsetOf({0, 2}), 1u);
  EXPECT_EQ(table.PositionOf(1), (LineColumn{0, 2}));
  EXPECT_EQ(table.PositionOf(3), (LineColumn{1, 0}));
}

TEST(LineTable, SurvivesInvalidUtf8) {
  const LineTable table("\xF0\x9F\n\x80\x80");
  for (uint32_t offset = 0; offset <= 5; ++offset)
    EXPECT_LE(table.OffsetOf(table.PositionOf(offset)), 5u);
}

TEST(OffsetMap, MapsWhatIsEqual) {
  const OffsetMap map("abcdef", "abXXef");
  EXPECT_EQ(map.Map(2), 2u);
  EXPECT_EQ(map.Map(3), std::nullopt);
  EXPECT_EQ(map.Nearest(3), 2u);
  EXPECT_EQ(map.Map(4), 4u);
  EXPECT_EQ(map.Map(6), 6u);
  const OffsetMap longer("ab", "aXXXb");
  EXPECT_EQ(longer.Map(1), 1u);
  EXPECT_EQ(longer.Map(2), 5u);
  const OffsetMap equal("aaa", "aa");
  EXPECT_EQ(equal.Map(3), 2u);
  EXPECT_EQ(OffsetMap("", "abc").Map(0), 0u);
  EXPECT_EQ(OffsetMap("abc", "").Map(3), 0u);
}

}  // namespace
}  // namespace pdl::lsp
