#ifndef PDL_OP_OP_REGISTRY_H_
#define PDL_OP_OP_REGISTRY_H_

#include <memory>
#include <shared_mutex>
#include <vector>

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "pdl/op/op_def.h"
#include "pdl/op/op_proto_maker.h"

namespace pdl {

class CPUContext;

/// The KernelCreator of an operator class; defined in "pdl/operator.h".
template <typename Kernel>
llvm::Expected<std::unique_ptr<OperatorBase>> CreateKernel(const OperatorArguments& arguments);

/// All operator types that a program knows. Records are added, never changed or removed, so a
/// pointer from Find stays good; safe to use from many threads.
class PDL_API OpRegistry {
 public:
  OpRegistry() = default;
  OpRegistry(const OpRegistry&) = delete;
  OpRegistry& operator=(const OpRegistry&) = delete;

  /// Registers an operator declared by `Maker` whose CPU kernel is `Op<CPUContext>`.
  template <template <typename> class Op, typename Maker>
  void RegisterOp(llvm::StringRef name) {
    OpDef def = Maker().Build(name);
    def.kernels[static_cast<size_t>(DeviceKind::kCPU)] = &CreateKernel<Op<CPUContext>>;
    Add(std::move(def));
  }
  /// Registers an operator that passes alone make, on the CPU: a form of a call that a Plan runs in
  /// its place. No text, file or list names it.
  template <template <typename> class Op, typename Maker>
  void RegisterInternalOp(llvm::StringRef name) {
    OpDef def = Maker().Build(name);
    def.kernels[static_cast<size_t>(DeviceKind::kCPU)] = &CreateKernel<Op<CPUContext>>;
    AddInternal(std::move(def));
  }
  /// Operators that are added from here on are listed under this heading.
  void BeginFamily(std::string heading);
  /// Adds a kernel for another device to an operator that is registered already.
  void AddKernel(llvm::StringRef name, DeviceKind device, KernelCreator creator);
  /// A second operator of the same name is an internal error.
  void Add(OpDef def);
  void AddInternal(OpDef def);

  /// Null where there is no such operator.
  const OpDef* Find(llvm::StringRef name) const;
  /// The operator with that OpProperties::onnx_name; of several the one that was added first. Null
  /// where there is none.
  const OpDef* FindByOnnxName(llvm::StringRef name) const;
  /// The same as Find of those that passes make.
  const OpDef* FindInternal(llvm::StringRef name) const;
  /// All operators, by name.
  std::vector<const OpDef*> All() const;

 private:
  mutable std::shared_mutex mutex_;
  llvm::StringMap<std::unique_ptr<OpDef>> defs_;
  llvm::StringMap<std::unique_ptr<OpDef>> internal_;
  llvm::StringMap<const OpDef*> by_onnx_name_;
  std::string family_;
};

/// The operators built into libpdl, and those that plugins and REGISTER_OP added.
PDL_API OpRegistry& GlobalRegistry();

}  // namespace pdl

#endif  // PDL_OP_OP_REGISTRY_H_
