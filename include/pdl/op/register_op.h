// REGISTER_OP: registration of operators outside libpdl, in a plugin or in a program.
// Module: kernels
#ifndef PDL_OP_REGISTER_OP_H_
#define PDL_OP_REGISTER_OP_H_

#include <vector>

#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"
#include "pdl/version.h"

namespace pdl::internal {

#ifdef PDL_BUILD_PLUGIN
/// The plugin's operators: filled by its static initializers, registered when the plugin is loaded.
__attribute__((visibility("hidden"))) inline std::vector<OpRegistrar>& PluginOps() {
  static std::vector<OpRegistrar> ops;
  return ops;
}
struct RegisterAtStart {
  explicit RegisterAtStart(OpRegistrar registrar) { PluginOps().push_back(registrar); }
};
extern "C" {
__attribute__((visibility("default"), weak)) const char* pdl_plugin_version() {
  return PDL_PLUGIN_VERSION;
}
__attribute__((visibility("default"), weak)) void pdl_plugin_register(OpRegistry* registry) {
  for (OpRegistrar registrar : PluginOps()) registrar(*registry);
}
}
#else
struct RegisterAtStart {
  explicit RegisterAtStart(OpRegistrar registrar) { RegisterAtProgramStart(registrar); }
};
#endif

}  // namespace pdl::internal

/// Registers `Op<CPUContext>`, declared by `Maker`, under the string `name`. `Op` is a class
/// template over the context, `Maker` an OpProtoMaker. In a plugin (a target of `pdl_add_plugin`)
/// this takes effect when LoadPlugin accepts the plugin, in a program before main.
#define REGISTER_OP(Op, Maker, name) PDL_REGISTER_OP(Op, Maker, name, __COUNTER__)
#define PDL_REGISTER_OP(Op, Maker, name, number) PDL_REGISTER_OP_AS(Op, Maker, name, number)
#define PDL_REGISTER_OP_AS(Op, Maker, name, number)                    \
  static const ::pdl::internal::RegisterAtStart pdl_register_##number( \
      [](::pdl::OpRegistry& registry) { registry.RegisterOp<Op, Maker>(name); })

#endif  // PDL_OP_REGISTER_OP_H_
