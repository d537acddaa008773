#include "pdl/runtime/plugin.h"

#include "gtest/gtest.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"
#include "pdl/version.h"
#include "proto/pdl.pb.h"
#include "test/cc/testing/runtime_testing.h"

namespace pdl {
namespace {

const std::string kFolder = TEST_PLUGIN_FOLDER "/";

TEST(LoadPlugin, AddsItsOperators) {
  ASSERT_EQ(GlobalRegistry().Find("test_negate"), nullptr);
  EXPECT_EQ(Message(LoadPlugin(kFolder + "libtest_plugin.so")), "");
  EXPECT_EQ(Message(LoadPlugin(kFolder + "libtest_plugin.so")), "") << "twice does nothing";

  OpDesc desc;
  desc.set_type("test_negate");
  desc.add_inputs("x");
  desc.add_outputs("y");
  std::unique_ptr<OperatorBase> op =
      Unwrap(CreateOperator(GlobalRegistry(), desc, DeviceKind::kCPU));
  Scope scope;
  CPUContext context(1);
  scope.Create("x")->Set(Tensor::FromValues<float>(DType::kF32, {2}, {1, 2}));
  EXPECT_EQ(Message(op->Run(&scope, &context)), "");
  EXPECT_EQ(TensorToString(*scope.Find("y")->Get<Tensor>()), "[-1.0, -2.0]");
}

TEST(LoadPlugin, RefusesAnotherVersion) {
  std::string path = kFolder + "libtest_plugin_of_other_version.so";
  EXPECT_EQ(Message(LoadPlugin(path)), "plugin '" + path + "' was built against pdl 0.0.0-test, " +
                                           "this is pdl " + PDL_PLUGIN_VERSION + " [PDL0508]");
  EXPECT_EQ(GlobalRegistry().Find("test_other"), nullptr);
}

TEST(LoadPlugin, RefusesASecondOperatorOfAName) {
  EXPECT_EQ(Message(LoadPlugin(kFolder + "libtest_plugin.so")), "");
  std::string path = kFolder + "libtest_plugin_of_same_name.so";
  EXPECT_EQ(Message(LoadPlugin(path)),
            "plugin '" + path + "' has an operator 'test_negate', which already exists [PDL0508]");
}

TEST(LoadPlugin, RefusesInconsistentDeclarations) {
  const std::string path = kFolder + "libwrong_default_plugin.so";
  const std::string begin = "the declaration of operator ";
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Message(LoadPlugin(path)),
              "plugin '" + path + "': " + begin +
                  "'test_wrong_default' is inconsistent: the default of attribute 'scale' of "
                  "'test_wrong_default' must be larger than 0, got -1.0\n" +
                  begin + "'test_no_comment' is inconsistent: 'n' has no comment\n" +
                  "'for' cannot be the name of an operator: it is not a name of the language "
                  "(letters, digits and '_') or is a reserved word\n" +
                  begin +
                  "'test_attribute_name' is inconsistent: 'a-b' is not a name of the language: "
                  "letters, digits and '_', and not a reserved word\n" +
                  begin + "'test_range' is inconsistent: the range of 'k' is empty\n" + begin +
                  "'test_axis' is inconsistent: 'axis' is an Axis() but not an int\n" + begin +
                  "'test_order' is inconsistent: its gradient has order 7, more than 2\n" + begin +
                  "'test_results' is inconsistent: 'n', which sets the number of results, may be "
                  "0\n" +
                  begin +
                  "'test_counted' is inconsistent: 'xs' is counted, but there is no Block "
                  "attribute\n" +
                  begin +
                  "'test_two_inputs' is inconsistent: it is elementwise with several inputs, whose "
                  "types InferSameAsFirst does not compare: see InferBroadcast\n" +
                  "the declaration of operator 'test_throws' failed: boom\n" +
                  "two operators have the name 'test_twice' [PDL0508]");
  }
  for (const char* name : {"test_wrong_default", "test_no_comment", "test_twice"})
    EXPECT_EQ(GlobalRegistry().Find(name), nullptr);
}

TEST(LoadPlugin, RefusesWhatIsNoPlugin) {
  std::string path = kFolder + "libtest_no_plugin.so";
  EXPECT_EQ(Message(LoadPlugin(path)),
            "'" + path + "' is not a pdl plugin: it does not define pdl_plugin_version (see " +
                "pdl_add_plugin) [PDL0508]");
  EXPECT_EQ(Message(LoadPlugin("no-such.so")),
            "cannot load plugin 'no-such.so': ./no-such.so: cannot open shared object file: No "
            "such file or directory [PDL0508]");
  EXPECT_NE(Message(LoadPlugin("cc/data/f32.npy")), "");
  path = kFolder + "libtest_program_ops.so";
  const OpDef* before = GlobalRegistry().Find("cos");
  EXPECT_EQ(Message(LoadPlugin(path)),
            "'" + path +
                "' has operators, but is not compiled as a plugin: pdl_add_plugin does "
                "it, and so does the option -DPDL_BUILD_PLUGIN [PDL0508]");
  EXPECT_EQ(GlobalRegistry().Find("cos"), before);
}

}  // namespace
}  // namespace pdl
