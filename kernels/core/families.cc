#include "kernels/core/families.h"

#include "pdl/op/op_registry.h"

namespace pdl {

#define PDL_DECLARE(family) void Register##family##Ops(OpRegistry& registry);
PDL_FAMILIES(PDL_DECLARE, PDL_DECLARE)
#undef PDL_DECLARE

OpRegistry& GlobalRegistry() {
  // Never destroyed: plugins and other threads may read it until the process ends.
  static OpRegistry& registry = *[] {
    auto* all = new OpRegistry();
#define PDL_REGISTER(family) Register##family##Ops(*all);
    PDL_FAMILIES(PDL_REGISTER, PDL_REGISTER)
#undef PDL_REGISTER
    all->BeginFamily("");
    return all;
  }();
  return registry;
}

}  // namespace pdl
