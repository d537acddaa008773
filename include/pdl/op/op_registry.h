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

/// The KernelCreator of an operator class; defined in "pdl/op/operator.h".
template <typename Kernel>
llvm::Expected<std::unique_ptr<OperatorBase>> CreateKernel(const OperatorArguments& arguments);
/// The OpDef::check_attributes of an operator class: null if it does not override
/// InitializeAttributes. Defined in "pdl/op/operator.h".
template <typename Kernel>
AttributeCheck AttributeCheckOf();

/// A set of operator types. Definitions are added but never changed or removed, so pointers from
/// Find stay valid. Thread-safe.
///
/// An operator that cannot be added (its declaration is inconsistent, or its name is taken) ends
/// the program, with a message that names it; unless the registry collects the Errors.
class PDL_API OpRegistry {
 public:
  OpRegistry() = default;
  /// A registry that leaves out operators that cannot be added and joins their UserErrors to
  /// `*errors`, which must outlive it.
  explicit OpRegistry(llvm::Error* errors) : errors_(errors) {}
  OpRegistry(const OpRegistry&) = delete;
  OpRegistry& operator=(const OpRegistry&) = delete;

  /// Registers an operator declared by `Maker` whose CPU kernel is `Op<CPUContext>`.
  template <template <typename> class Op, typename Maker>
  void RegisterOp(llvm::StringRef name) {
    llvm::Expected<OpDef> def = Maker().Build(name);
    if (def) {
      def->kernels[static_cast<size_t>(DeviceKind::kCPU)] = &CreateKernel<Op<CPUContext>>;
      def->check_attributes = AttributeCheckOf<Op<CPUContext>>();
    }
    Add(std::move(def));
  }
  /// Registers an internal operator with a CPU kernel: another form of a call, which only passes
  /// create. It is not visible in the language, in files or in lists.
  template <template <typename> class Op, typename Maker>
  void RegisterInternalOp(llvm::StringRef name) {
    llvm::Expected<OpDef> def = Maker().Build(name);
    if (def) def->kernels[static_cast<size_t>(DeviceKind::kCPU)] = &CreateKernel<Op<CPUContext>>;
    AddInternal(std::move(def));
  }
  /// Sets the heading under which subsequently added operators are listed.
  void BeginFamily(std::string heading);
  /// Adds a kernel for another device to an operator that must be registered.
  void AddKernel(llvm::StringRef name, DeviceKind device, KernelCreator creator);
  void Add(llvm::Expected<OpDef> def);
  void AddInternal(llvm::Expected<OpDef> def);

  /// Returns null if there is no such operator.
  const OpDef* Find(llvm::StringRef name) const;
  /// Returns the operator with that OpProperties::onnx_name, the first one added if there are
  /// several, or null.
  const OpDef* FindByOnnxName(llvm::StringRef name) const;
  /// As Find, among the internal operators.
  const OpDef* FindInternal(llvm::StringRef name) const;
  /// Returns all operators, sorted by name.
  std::vector<const OpDef*> All() const;

 private:
  /// Adds to `defs`; returns null if the operator cannot be added.
  const OpDef* AddTo(llvm::StringMap<std::unique_ptr<OpDef>>& defs, llvm::Expected<OpDef> def);
  void Reject(llvm::Error error);

  llvm::Error* errors_ = nullptr;
  mutable std::shared_mutex mutex_;
  llvm::StringMap<std::unique_ptr<OpDef>> defs_;
  llvm::StringMap<std::unique_ptr<OpDef>> internal_;
  llvm::StringMap<const OpDef*> by_onnx_name_;
  std::string family_;
};

/// The operators of libpdl and those added by plugins and REGISTER_OP.
PDL_API OpRegistry& GlobalRegistry();

namespace internal {

using OpRegistrar = void (*)(OpRegistry&);

/// Registers operators of a program in the GlobalRegistry, when the program starts. In a library
/// that LoadPlugin opens it only counts: such a library was not compiled as a plugin.
PDL_API void RegisterAtProgramStart(OpRegistrar registrar);

/// While it exists, RegisterAtProgramStart counts the calls of this thread.
class CountRegistrations {
 public:
  CountRegistrations();
  ~CountRegistrations();
  CountRegistrations(const CountRegistrations&) = delete;
  CountRegistrations& operator=(const CountRegistrations&) = delete;
  int count() const;
};

}  // namespace internal

}  // namespace pdl

#endif  // PDL_OP_OP_REGISTRY_H_
