#include "pdl/runtime/scope.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "pdl/op/tensor.h"

namespace pdl {
namespace {

TEST(Variable, HoldsAnyValue) {
  Scope scope;
  Variable* variable = scope.Create("v");
  EXPECT_TRUE(variable->empty());
  variable->Set(std::vector<int>{1, 2, 3});
  ASSERT_TRUE(variable->Holds<std::vector<int>>());
  EXPECT_EQ(variable->Get<std::vector<int>>()->size(), 3u);
  EXPECT_EQ(variable->Get<std::vector<float>>(), nullptr);
  EXPECT_EQ(variable->Get<Tensor>(), nullptr);
  variable->GetMutable<std::vector<int>>()->push_back(4);
  EXPECT_EQ(variable->Get<std::vector<int>>()->back(), 4);

  variable->Set(Tensor());
  EXPECT_TRUE(variable->Holds<Tensor>());
  EXPECT_EQ(variable->Get<std::vector<int>>(), nullptr);
  variable->Clear();
  EXPECT_TRUE(variable->empty());
}

TEST(Scope, FindsAParentsVariable) {
  Scope parent;
  Scope child(&parent);
  Scope grandchild(&child);
  Variable* x = parent.Create("x");
  x->Set(std::string("parent"));
  EXPECT_EQ(grandchild.Find("x"), x);
  EXPECT_EQ(grandchild.FindLocal("x"), nullptr);
  EXPECT_EQ(grandchild.Find("y"), nullptr);
}

TEST(Scope, HidesAParentsVariable) {
  Scope parent;
  Scope child(&parent);
  parent.Create("x")->Set(1);
  child.Create("x")->Set(2);
  EXPECT_EQ(*child.Find("x")->Get<int>(), 2);
  EXPECT_EQ(*parent.Find("x")->Get<int>(), 1);
  EXPECT_TRUE(child.Erase("x"));
  EXPECT_EQ(*child.Find("x")->Get<int>(), 1);
  EXPECT_FALSE(child.Erase("x"));
}

TEST(Scope, KeepsAddressesAndSortsNames) {
  Scope scope;
  Variable* b = scope.Create("b");
  for (int i = 0; i < 100; ++i) scope.Create("a" + std::to_string(i));
  EXPECT_EQ(scope.Create("b"), b);
  EXPECT_EQ(scope.FindLocal("b"), b);
  EXPECT_EQ(scope.Names().size(), 101u);
  EXPECT_EQ(scope.Names()[1], "a1");
  EXPECT_EQ(scope.Names().back(), "b");
}

TEST(Scope, VersionChangesWithNamesHereAndAbove) {
  Scope parent;
  Scope child(&parent);
  uint64_t version = child.version();
  auto has_changed = [&] { return std::exchange(version, child.version()) != child.version(); };
  parent.Create("x");
  EXPECT_TRUE(has_changed());
  child.Create("x");
  EXPECT_TRUE(has_changed());
  child.Create("x")->Set(1);
  EXPECT_FALSE(has_changed());
  child.Erase("x");
  EXPECT_TRUE(has_changed());
  parent.Erase("x");
  EXPECT_TRUE(has_changed());
}

}  // namespace
}  // namespace pdl
