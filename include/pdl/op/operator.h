#ifndef PDL_OP_OPERATOR_H_
#define PDL_OP_OPERATOR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "pdl/op/attribute_reader.h"
#include "pdl/op/device_context.h"
#include "pdl/op/op_def.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator_arguments.h"
#include "pdl/op/tensor.h"
#include "pdl/op/tile.h"
#include "pdl/runtime/scope.h"

namespace pdl {

class OpDesc;

/// Dtype and sizes of one operand; known when a Plan is bound.
struct OperandType {
  DType dtype = DType::kF32;
  Sizes sizes;
  int64_t num_elements() const {
    int64_t n = 1;
    for (int64_t size : sizes) n *= size;
    return n;
  }
};

/// The information that a kernel gets when its sizes are known.
class PDL_API PrepareContext {
 public:
  virtual ~PrepareContext() = default;
  virtual llvm::ArrayRef<OperandType> inputs() const = 0;
  virtual llvm::ArrayRef<OperandType> outputs() const = 0;
  virtual DeviceContext& device() const = 0;
  /// Evaluates a dim of an attribute.
  virtual llvm::Expected<int64_t> Evaluate(const Dim& dim) const = 0;
  /// Whether the operand is the same in every run (a weight, a constant).
  virtual bool is_constant(unsigned index) const;
  /// Returns the value of a constant operand, which may have to be computed.
  virtual llvm::Expected<Tensor> ConstantValue(unsigned index) const;
  /// Creates a packed form of a tensor.
  using PackFunction =
      llvm::function_ref<llvm::Expected<std::shared_ptr<const void>>(const Tensor&)>;
  /// Returns a packed form of the value of a constant operand. `pack` creates it once for each
  /// `layout`; the Network keeps it for this device and shares it between all bindings.
  virtual llvm::Expected<std::shared_ptr<const void>> Pack(unsigned index, llvm::StringRef layout,
                                                           PackFunction pack) const;
  /// kBF16 permits rounding f32 operands of products to bf16, with sums and results in f32; else
  /// kF32. See NetworkOptions::matmul_precision.
  virtual DType matmul_precision() const { return DType::kF32; }
};

/// The result of Prepare. All defaults are valid.
struct Preparation {
  /// Available to Run as `context.state<State>()`.
  std::shared_ptr<const CallState> state;
  /// The size of the scratch memory for Run, `context.workspace()`, which is aligned to 64 bytes.
  int64_t workspace_bytes = 0;
  /// Pairs (i, j): output i is the memory of input j and nothing is computed (reshape). Run is then
  /// not called.
  llvm::SmallVector<std::pair<unsigned, unsigned>, 1> aliases;
  /// Pairs (i, j): output i may overwrite input j if the input is not needed elsewhere. Requires
  /// equal element sizes and counts, and a Run that works element by element.
  llvm::SmallVector<std::pair<unsigned, unsigned>, 2> in_place;
  /// Constant operands that Run does not read, since it reads a packed form: they may have no
  /// memory then.
  llvm::SmallVector<unsigned, 1> packed;
  /// The number of rows of an operator with makes_rows() (see OperatorBase::RunRows).
  int64_t rows = 0;
  /// Whether RunPieces applies a RegisterEpilogue, whatever its activation is.
  bool has_register_epilogue = false;
  /// kBF16 if Run multiplies operands that are rounded to bf16, see
  /// PrepareContext::matmul_precision(). For profiles.
  DType matmul_precision = DType::kF32;
};

/// A tile of an output: `rows` runs of `columns` contiguous elements. The first run begins at
/// element `begin`, each further one `stride` elements after the previous one.
struct OutputPiece {
  int64_t begin = 0, rows = 1, columns = 0, stride = 0;
};

/// One call, ready to run on a device of any kind. Immutable: several threads may run one operator
/// at the same time.
class PDL_API OperatorBase {
 public:
  virtual ~OperatorBase() = default;

  /// Runs a single call outside a Network: checks the input Variables of `scope`, creates the
  /// output Variables' Tensors, and computes them. Errors: a missing input, an input that holds no
  /// Tensor, wrong types, no scope, or a context that CheckContext rejects.
  llvm::Error Run(Scope* scope, DeviceContext* context) const;
  /// An Error unless the operator can run on `context`: it must not be null, and must be of the
  /// class that the operator is compiled for, CPUContext or CUDAContext.
  llvm::Error CheckContext(const DeviceContext* context) const;

  const OpDef& def() const { return *arguments_.def; }
  const std::string& type() const { return def().name(); }
  const OperatorArguments& arguments() const { return arguments_; }
  AttributeReader attributes() const { return {def().signature, arguments_.attributes}; }
  DeviceKind device_kind() const { return device_kind_; }

  // --- Called by a Plan ---------------------------------------------------------------------
  /// Called once for each set of sizes, before any RunPrepared with these sizes.
  virtual llvm::Expected<Preparation> Prepare(const PrepareContext&) const { return Preparation(); }
  /// Returns the tile functions of an elementwise call with operands of these dtypes; null
  /// functions if there are none.
  virtual Tile GetTile(llvm::ArrayRef<DType> /*inputs*/, DType /*output*/) const { return {}; }
  /// Whether the call is a row producer: RunRows computes its only output row by row, so that
  /// subsequent elementwise calls can process rows while they are in the cache. Such a call must
  /// not need a workspace.
  virtual bool makes_rows() const { return false; }
  /// Writes rows [begin, end) of the output to `to`, as RunPrepared would. A row is a contiguous
  /// run of elements of the output; `Preparation::rows` is their number, and all have the same
  /// length. A row may depend on the same row of inputs that it may overwrite
  /// (`Preparation::in_place`), and on all elements of the other inputs. `state` is
  /// Preparation::state. Called by several threads at once.
  virtual void RunRows(const CallState* state, llvm::ArrayRef<const Tensor*> inputs, int64_t begin,
                       int64_t end, void* to) const;
  /// Whether the call is a tiled producer: RunPieces computes its only output tile by tile, so that
  /// subsequent elementwise calls can run as its epilogue while a tile is in the cache. CPU only.
  virtual bool makes_pieces() const { return false; }
  /// Writes the output to `to` as RunPrepared would, with `epilogue` applied to it, which is empty
  /// unless Preparation::has_register_epilogue. Calls `then`, if there is one, with each tile once
  /// it is computed, from the thread that computed it. The tiles partition the output. `then` may
  /// overwrite its tile. `state` and `workspace` are those that Prepare asked for.
  virtual void RunPieces(const CallState* state, void* workspace,
                         llvm::ArrayRef<const Tensor*> inputs, void* to, DeviceContext& context,
                         const RegisterEpilogue& epilogue,
                         llvm::function_ref<void(const OutputPiece&)> then) const;
  /// Computes the outputs, whose memory and sizes are set. `context` must be of device_kind() and
  /// provide the state and workspace from Prepare. On CUDA, work is only launched.
  virtual llvm::Error RunPrepared(llvm::ArrayRef<const Tensor*> inputs,
                                  llvm::MutableArrayRef<Tensor*> outputs,
                                  DeviceContext& context) const = 0;

 protected:
  /// Reads the attributes into members, and checks what their declarations cannot express: that a
  /// number is even, that one is less than another. Called once.
  ///
  /// The compiler calls it on an operator of its own for each call, before there is a context, and
  /// reports the Error in the source: that of AttributeReader::FailAtAttribute at its attribute;
  /// another one at the attribute that was read so far, if that is only one, or only one of those
  /// differs from its default; else at the call. So it depends on `attributes` and the dtypes in
  /// arguments() only, and is not called again for a call that has the same ones as the last. A
  /// DeviceError is not reported before the operator is created for a run. Calls with a Block
  /// attribute are not checked before that either.
  virtual llvm::Error InitializeAttributes(const AttributeReader& /*attributes*/) {
    return llvm::Error::success();
  }
  /// Whether `context` is of the class that RunPrepared requires.
  virtual bool Accepts(const DeviceContext& context) const;
  /// Stores the arguments, then calls InitializeAttributes. Called once, before anything else. An
  /// Error names the call.
  llvm::Error Initialize(const OperatorArguments& arguments, DeviceKind kind);
  /// The key of this call's random stream: the hash of its attribute `stream` if it has one that is
  /// not empty, else of its first output's name.
  uint64_t stream_key() const { return stream_key_; }

 private:
  template <typename Kernel>
  friend llvm::Expected<std::unique_ptr<OperatorBase>> CreateKernel(const OperatorArguments&);
  template <typename Kernel>
  friend AttributeCheck AttributeCheckOf();

  /// As Initialize, with CallErrors.
  llvm::Error ReadAttributes(const OperatorArguments& arguments, DeviceKind kind);

  OperatorArguments arguments_;
  DeviceKind device_kind_ = DeviceKind::kCPU;
  uint64_t stream_key_ = 0;
};

/// Base class of operators for one kind of device. Derive from it, read the attributes in
/// InitializeAttributes, and compute in Run.
template <typename Context>
class Operator : public OperatorBase {
 public:
  static constexpr DeviceKind kKind = Context::kKind;
  using OperatorBase::Run;

  /// Computes the outputs. Must not allocate, validate or throw; returns an Error only if the
  /// device fails.
  virtual llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs,
                          llvm::MutableArrayRef<Tensor*> outputs, Context& context) const = 0;

  llvm::Error RunPrepared(llvm::ArrayRef<const Tensor*> inputs,
                          llvm::MutableArrayRef<Tensor*> outputs,
                          DeviceContext& context) const final {
    return Run(inputs, outputs, static_cast<Context&>(context));
  }

 protected:
  bool Accepts(const DeviceContext& context) const override {
    // A plugin does not link to the library of CUDAContext.
    constexpr bool is_of_pdl =
        std::is_same_v<Context, CPUContext> || std::is_same_v<Context, CUDAContext>;
    if constexpr (is_of_pdl) {
      return context.is_native() && context.device().kind == kKind;
    } else {
      return dynamic_cast<const Context*>(&context) != nullptr;
    }
  }
};

template <typename Kernel>
llvm::Expected<std::unique_ptr<OperatorBase>> CreateKernel(const OperatorArguments& arguments) {
  auto kernel = std::make_unique<Kernel>();
  if (llvm::Error error = static_cast<OperatorBase&>(*kernel).Initialize(arguments, Kernel::kKind))
    return error;
  return std::unique_ptr<OperatorBase>(std::move(kernel));
}

template <typename Kernel>
AttributeCheck AttributeCheckOf() {
  // An override that is private cannot be compared, and is called.
  if constexpr (requires { &Kernel::InitializeAttributes; }) {
    using Inherited = llvm::Error (OperatorBase::*)(const AttributeReader&);
    if constexpr (std::is_same_v<decltype(&Kernel::InitializeAttributes), Inherited>)
      return nullptr;
  }
  return [](const OperatorArguments& arguments) {
    auto kernel = std::make_unique<Kernel>();
    return static_cast<OperatorBase&>(*kernel).ReadAttributes(arguments, Kernel::kKind);
  };
}

/// Creates the operator of a call after complete checks: its type is registered and has a kernel
/// for that kind of device, and its inputs, outputs and attributes match the OpProto. The Error is
/// the one that the compiler would report.
PDL_API llvm::Expected<std::unique_ptr<OperatorBase>> CreateOperator(const OpRegistry& registry,
                                                                     const OpDesc& desc,
                                                                     DeviceKind device);
/// As above, from arguments that have been checked already (by a Graph).
PDL_API llvm::Expected<std::unique_ptr<OperatorBase>> CreateOperator(
    const OperatorArguments& arguments, DeviceKind device);

}  // namespace pdl

#endif  // PDL_OP_OPERATOR_H_
