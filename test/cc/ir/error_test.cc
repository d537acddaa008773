#include "pdl/op/error.h"

#include "gtest/gtest.h"

namespace pdl {
namespace {

TEST(NearestName, FewEdits) {
  EXPECT_EQ(NearestName("sofmax", {"relu", "softmax", "softplus"}), "softmax");
  EXPECT_EQ(NearestName("reul", {"relu", "rank"}), "relu");
  EXPECT_EQ(NearestName("Relu", {"relu"}), "relu");
  EXPECT_EQ(NearestName("sfmax", {"softmax", "max"}), "softmax");
  EXPECT_EQ(NearestName("crossentropy", {"cross_entropy"}), "cross_entropy");
}

TEST(NearestName, ShortWordsThatHaveLittleInCommon) {
  EXPECT_EQ(NearestName("foo", {"dot", "pdl"}), "");
  EXPECT_EQ(NearestName("print", {"pinv", "prod"}), "");
  EXPECT_EQ(NearestName("nosuch", {"cosh"}), "");
  EXPECT_EQ(NearestName("z", {"x"}), "");
}

TEST(NearestName, TheOnlyCompletion) {
  EXPECT_EQ(NearestName("out", {"set", "output", "input"}), "output");
  EXPECT_EQ(NearestName("soft", {"softmax", "softplus"}), "");
  EXPECT_EQ(NearestName("so", {"sort"}), "");
  EXPECT_EQ(NearestName("", {"sort"}), "");
}

TEST(DidYouMean, Sentence) {
  EXPECT_EQ(DidYouMean("sofmax", {"softmax"}), "; did you mean 'softmax'?");
  EXPECT_EQ(DidYouMean("foo", {"softmax"}), "");
}

}  // namespace
}  // namespace pdl
