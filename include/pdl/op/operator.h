#ifndef PDL_OP_OPERATOR_H_
#define PDL_OP_OPERATOR_H_

#include <cstdint>
#include <memory>
#include <string>
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
#include "pdl/op/tensor.h"
#include "pdl/op/tile.h"
#include "pdl/runtime/scope.h"

namespace pdl {

class Graph;
class OpDesc;

/// One call, as its operator is made from it. What it refers to needs to live only until the
/// operator is made.
struct OperatorArguments {
  const OpDef* def = nullptr;
  /// In the order of the signature, complete.
  std::vector<AttributeValue> attributes;
  /// Names of the variables read and written.
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  /// "model.pdl:3:5", for messages; may be empty.
  std::string location;
  /// dtypes of inputs and outputs where they are known (in a Plan they are); else empty.
  std::vector<DType> input_dtypes;
  std::vector<DType> output_dtypes;
  /// The Block that an attribute names, as a network of its own; null where none does.
  std::shared_ptr<const Graph> body;
  /// Of the Plan: whether the body is run for training, and may have fused groups.
  bool training = false;
  bool fuse = true;
};

/// dtype and sizes of one operand, known while a Plan is bound.
struct OperandType {
  DType dtype = DType::kF32;
  Sizes sizes;
  int64_t num_elements() const {
    int64_t n = 1;
    for (int64_t size : sizes) n *= size;
    return n;
  }
};

/// What a kernel learns when its sizes become known.
class PDL_API PrepareContext {
 public:
  virtual ~PrepareContext() = default;
  virtual llvm::ArrayRef<OperandType> inputs() const = 0;
  virtual llvm::ArrayRef<OperandType> outputs() const = 0;
  virtual DeviceContext& device() const = 0;
  /// The value of a dim from an attribute.
  virtual llvm::Expected<int64_t> Evaluate(const Dim& dim) const = 0;
  /// The operand's tensor where it is the same in every run (a weight, a constant), else null.
  virtual const Tensor* constant_input(unsigned index) const = 0;
  /// A form of constant input `index` made by `pack` once for each `layout` and kept by the Network
  /// for this device: all bindings share it. `pack` gives the bytes.
  virtual llvm::Expected<std::shared_ptr<const void>> Pack(
      unsigned index, llvm::StringRef layout,
      llvm::function_ref<llvm::Expected<std::shared_ptr<const void>>()> pack) const = 0;
};

/// What a kernel answers. Every field has a sensible default.
struct Preparation {
  /// Handed to Run through `context.state<State>()`.
  std::shared_ptr<const CallState> state;
  /// Scratch memory for Run: `context.workspace()`, aligned to 64 bytes.
  int64_t workspace_bytes = 0;
  /// Output i is input j's memory, nothing to be computed (reshape). Run is then not called.
  llvm::SmallVector<std::pair<unsigned, unsigned>, 1> aliases;
  /// Output i may be written over input j, where nobody else needs that (same element size and
  /// count; Run works element by element).
  llvm::SmallVector<std::pair<unsigned, unsigned>, 2> in_place;
  /// Of an operator that makes rows (see OperatorBase::RunRows): how many there are.
  int64_t rows = 0;
};

/// A part of an output: `rows` runs of `columns` elements, the first of which begins at element
/// `begin`, and each `stride` elements behind the one before.
struct OutputPiece {
  int64_t begin = 0, rows = 1, columns = 0, stride = 0;
};

/// One call, ready to run, device unknown. Immutable: many threads run one operator at once.
class PDL_API OperatorBase {
 public:
  virtual ~OperatorBase() = default;

  /// Runs the call by itself: fetches the input Variables of `scope`, checks them, makes the output
  /// Variables' Tensors, computes. For single calls; a Network goes through its Plan instead.
  /// Errors: a missing input, one that holds no Tensor, wrong types, a context of another device.
  llvm::Error Run(Scope* scope, DeviceContext* context) const;

  const OpDef& def() const { return *arguments_.def; }
  const std::string& type() const { return def().name(); }
  const OperatorArguments& arguments() const { return arguments_; }
  AttributeReader attributes() const { return {def().signature, arguments_.attributes}; }
  DeviceKind device_kind() const { return device_kind_; }

  // --- What a Plan calls --------------------------------------------------------------------
  /// Called once for each set of sizes, before any RunPrepared with them.
  virtual llvm::Expected<Preparation> Prepare(const PrepareContext&) const { return Preparation(); }
  /// The tile functions of an elementwise call with operands of these dtypes; nullptr functions
  /// where it has none.
  virtual Tile GetTile(llvm::ArrayRef<DType> /*inputs*/, DType /*output*/) const { return {}; }
  /// Whether RunRows makes the one output of these calls, so that elementwise calls behind it can
  /// go over some rows while they are in the cache. The call needs no workspace then.
  virtual bool makes_rows() const { return false; }
  /// Writes rows [begin, end) of the output to `to`, as RunPrepared would. Rows are runs of the
  /// output's elements, of equal length; `Preparation::rows` says how many. A row depends on the
  /// same row of inputs that it may be written over (`Preparation::in_place`), and on all of the
  /// others. `state` is what Prepare gave. Called by many threads at once.
  virtual void RunRows(const CallState* state, llvm::ArrayRef<const Tensor*> inputs, int64_t begin,
                       int64_t end, void* to) const;
  /// Whether RunPieces computes the one output of these calls, so that elementwise calls behind it
  /// can go over each piece while it is in the cache. CPU only.
  virtual bool makes_pieces() const { return false; }
  /// Writes the output to `to` as RunPrepared would, and calls `then` with each piece when it is
  /// computed, from the thread that did so; the pieces make up the output, and each comes once.
  /// `then` may write over its piece. `state` and `workspace` are what Prepare asked for.
  virtual void RunPieces(const CallState* state, void* workspace,
                         llvm::ArrayRef<const Tensor*> inputs, void* to, DeviceContext& context,
                         llvm::function_ref<void(const OutputPiece&)> then) const;
  /// Computes outputs whose memory and sizes are set. `context` must be of device_kind() and carry
  /// what Prepare gave. On CUDA it only launches.
  virtual llvm::Error RunPrepared(llvm::ArrayRef<const Tensor*> inputs,
                                  llvm::MutableArrayRef<Tensor*> outputs,
                                  DeviceContext& context) const = 0;

 protected:
  /// Reads the attributes once; what it stores is all that an operator holds.
  virtual llvm::Error InitializeAttributes(const AttributeReader&) {
    return llvm::Error::success();
  }
  /// Takes the call, then reads its attributes. Called once, before anything else.
  llvm::Error Initialize(const OperatorArguments& arguments, DeviceKind kind);
  /// Key of this call's random stream: the hash of its first output's name.
  uint64_t stream_key() const { return stream_key_; }

 private:
  template <typename Kernel>
  friend llvm::Expected<std::unique_ptr<OperatorBase>> CreateKernel(const OperatorArguments&);

  OperatorArguments arguments_;
  DeviceKind device_kind_ = DeviceKind::kCPU;
  uint64_t stream_key_ = 0;
};

/// The middle layer: an operator for one kind of device. Derive, read the attributes in
/// InitializeAttributes, compute in Run.
template <typename Context>
class Operator : public OperatorBase {
 public:
  static constexpr DeviceKind kKind = Context::kKind;
  using OperatorBase::Run;

  /// The contract of architecture.md: allocates nothing, validates nothing, throws nothing; fails
  /// only where the device does.
  virtual llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs,
                          llvm::MutableArrayRef<Tensor*> outputs, Context& context) const = 0;

  llvm::Error RunPrepared(llvm::ArrayRef<const Tensor*> inputs,
                          llvm::MutableArrayRef<Tensor*> outputs,
                          DeviceContext& context) const final {
    return Run(inputs, outputs, static_cast<Context&>(context));
  }
};

template <typename Kernel>
llvm::Expected<std::unique_ptr<OperatorBase>> CreateKernel(const OperatorArguments& arguments) {
  auto kernel = std::make_unique<Kernel>();
  if (llvm::Error error = static_cast<OperatorBase&>(*kernel).Initialize(arguments, Kernel::kKind))
    return error;
  return std::unique_ptr<OperatorBase>(std::move(kernel));
}

/// The operator of a call, checked in full: its type is known, it has a kernel for that kind of
/// device, its inputs, outputs and attributes fit what the OpProto declares. The Error is what the
/// compiler would say.
PDL_API llvm::Expected<std::unique_ptr<OperatorBase>> CreateOperator(const OpRegistry& registry,
                                                                     const OpDesc& desc,
                                                                     DeviceKind device);
/// The same from parts that were checked before (by a Graph).
PDL_API llvm::Expected<std::unique_ptr<OperatorBase>> CreateOperator(
    const OperatorArguments& arguments, DeviceKind device);

}  // namespace pdl

#endif  // PDL_OP_OPERATOR_H_
