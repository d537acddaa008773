#ifndef PDL_COMPILER_GRAPH_H_
#define PDL_COMPILER_GRAPH_H_

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/Error.h"
#include "pdl/op/attribute.h"
#include "pdl/op/inference.h"
#include "pdl/op/location.h"
#include "pdl/op/op_def.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/type.h"

namespace pdl {

class Graph;
class Op;
class Value;
bool IsKnownToPlan(const Value* value);

/// Reference to a tensor in a safetensors file, the value of a parameter or state.
struct WeightRef {
  std::string file;    // relative to the network's file
  std::string tensor;  // name inside
  /// SHA-256 of the tensor's bytes, in hex; empty if it is not computed yet.
  std::string sha256;
  /// The tensor's dtype may be another floating-point dtype than that of the variable, to which it
  /// is converted.
  bool cast = false;
  /// The tensor is a matrix that is transposed.
  bool transpose = false;
};

/// Properties of a parameter or state besides its type.
struct VariableInfo {
  /// The block that computes the initial value: no inputs, one output.
  std::optional<BlockId> initializer;
  /// The tensor that is the initial value.
  std::optional<WeightRef> weight;
  /// A state's only: the parameter or state whose value it gets when it is created. Both have the
  /// same dims, and the same dtype or two floating-point ones. Empty: none.
  std::string copy_of;
  double weight_decay = 0;
  /// Factor of the sign of each element, which is added to its gradient.
  double l1 = 0;
  double gradient_clipping = 0;
  double lr_scale = 1;
  bool trainable = true;

  /// Makes a tensor of a file the initial value, instead of any other.
  void LoadFrom(WeightRef ref) {
    weight = std::move(ref);
    initializer.reset();
    copy_of.clear();
  }
};

enum class ValueKind : uint8_t { kResult = 0, kInput = 1, kParameter = 2, kState = 3 };

/// A value of the network: an input, a parameter, a state, or a result of an Op. Single assignment.
class PDL_API Value {
 public:
  friend bool IsKnownToPlan(const Value* value);

  ValueKind kind() const { return kind_; }
  const std::string& name() const { return name_; }
  const Type& type() const { return type_; }
  /// The Op that computes it; null unless kind() is kResult.
  Op* producer() const { return producer_; }
  unsigned result_index() const { return result_index_; }
  LocationId location() const { return location_; }
  /// The `##` documentation comment in the source.
  const std::string& comment() const { return comment_; }
  /// Parameters and states only.
  const VariableInfo& variable() const { return *variable_; }
  VariableInfo& variable() { return *variable_; }

  struct Use {
    Op* op;
    unsigned operand;
  };
  llvm::ArrayRef<Use> uses() const { return uses_; }

 private:
  friend class Graph;
  friend class Op;
  std::string name_;
  Type type_;
  Op* producer_ = nullptr;
  unsigned result_index_ = 0;
  ValueKind kind_ = ValueKind::kResult;
  bool known_to_plan_ = false;
  LocationId location_ = kUnknownLocation;
  uint32_t number_ = 0;
  std::string comment_;
  std::unique_ptr<VariableInfo> variable_;
  llvm::SmallVector<Use, 1> uses_;
};

/// Whether a Plan knows the value before anything runs: it is computed only from constants, sizes
/// of inputs and `training()`, by calls that are neither random nor have side effects.
inline bool IsKnownToPlan(const Value* value) { return value->known_to_plan_; }

/// One call of an operator.
class PDL_API Op {
 public:
  const OpDef& def() const { return *def_; }
  const std::string& type() const { return def_->name(); }
  llvm::ArrayRef<Value*> operands() const { return operands_; }
  llvm::ArrayRef<Value*> results() const { return results_; }
  Value* result(unsigned index = 0) const { return results_[index]; }
  /// All attributes in declaration order, with defaults filled in.
  llvm::ArrayRef<AttributeValue> attribute_values() const { return attributes_; }
  AttributeReader attributes() const { return {def_->signature, attributes_}; }
  LocationId location() const { return location_; }
  /// The path of layer instances that the call was expanded from: "encoder.0"; empty at the top
  /// level.
  const std::string& layer_path() const { return layer_path_; }
  /// If not 0, training recomputes the call in the backward pass, together with all calls of the
  /// same number, instead of keeping the values that are passed between them.
  uint32_t recompute() const { return recompute_; }
  /// Relations that must hold once sizes are known.
  llvm::ArrayRef<DimCheck> checks() const { return checks_; }
  BlockId block() const { return block_; }

 private:
  friend class Graph;
  const OpDef* def_ = nullptr;
  llvm::SmallVector<Value*, 2> operands_;
  llvm::SmallVector<unsigned, 2> use_slots_;  // where each operand's use list has this use
  llvm::SmallVector<Value*, 1> results_;
  std::vector<AttributeValue> attributes_;
  std::vector<DimCheck> checks_;
  std::string layer_path_;
  LocationId location_ = kUnknownLocation;
  BlockId block_;
  uint32_t recompute_ = 0;
};

/// A sequence of calls in which definitions precede uses. Block 0 is the network; other blocks are
/// referenced by attributes (`scan`) or compute an initial value.
struct Block {
  std::vector<Value*> inputs;
  std::vector<Op*> ops;
  std::vector<Value*> outputs;
};

/// An output of a run, and its name.
struct GraphOutput {
  std::string name;
  Value* value = nullptr;
  std::string comment;
};

/// A state update: after a run, `state` holds `value`.
struct GraphUpdate {
  Value* state = nullptr;
  Value* value = nullptr;
};

/// A constraint on symbols that the caller must satisfy: `where T % 4 == 0, N in 1..=256`.
struct GraphConstraint {
  DimCheck check;
  LocationId location = kUnknownLocation;
};

/// A `minimize` statement. Runs do not compute `loss` because of it.
struct GraphTraining {
  /// A floating-point scalar.
  Value* loss = nullptr;
  std::vector<Value*> parameters;
  /// Active in each n-th step, counted from 1.
  uint32_t every = 1;
  /// The call of the optimizer, in the language: `adam(lr=0.001)`.
  std::string optimizer;
  LocationId location = kUnknownLocation;
  /// The new values of the parameters and optimizer states that a step changes. Empty unless the
  /// source was compiled for training (CompileRequest::training_step); not serialized.
  std::vector<GraphUpdate> updates = {};
};

/// Properties of a new call besides its operands and attributes.
struct CallOptions {
  LocationId location = kUnknownLocation;
  BlockId block;
  std::string layer_path;
  uint32_t recompute = 0;
};

/// The compiler's intermediate representation of a network: calls and values in single-assignment
/// form. Every call in it has been checked, and its types have been inferred. Names of values are
/// unique. Owns its Values and Ops, whose addresses are stable. Must not be used by other threads
/// while it is modified.
class PDL_API Graph {
 public:
  Graph();
  /// May run out of memory: the std::deque of blocks that is moved from gets new memory.
  Graph(Graph&&);  // NOLINT(performance-noexcept-move-constructor)
  Graph& operator=(Graph&&) noexcept;
  ~Graph();
  /// Returns a deep copy that shares only the bytes of constants.
  Graph Clone() const;
  /// Returns a block as a separate network, with the blocks that it references. Its inputs are
  /// those of the block; its outputs are named "0", "1" and so on.
  Graph ExtractBlock(BlockId block) const;

  // Names must be new to the graph (see NewName); a duplicate is an internal error.
  Value* AddInput(llvm::StringRef name, Type type, LocationId location = kUnknownLocation);
  Value* AddParameter(llvm::StringRef name, Type type, VariableInfo info,
                      LocationId location = kUnknownLocation);
  Value* AddState(llvm::StringRef name, Type type, VariableInfo info,
                  LocationId location = kUnknownLocation);
  /// Checks the operands and attributes against `def`, infers the result types, and appends the
  /// call. `result_names` has one name for each result. An Error is a CallError and leaves the
  /// graph unchanged.
  llvm::Expected<Op*> AddOp(const OpDef& def, llvm::ArrayRef<Value*> operands,
                            llvm::ArrayRef<NamedAttribute> attributes,
                            llvm::ArrayRef<std::string> result_names, CallOptions options = {});
  /// As above, with attributes that are complete and in declaration order already.
  llvm::Expected<Op*> AddOpWithValues(const OpDef& def, llvm::ArrayRef<Value*> operands,
                                      std::vector<AttributeValue> attributes,
                                      llvm::ArrayRef<std::string> result_names,
                                      CallOptions options = {});
  BlockId AddBlock();
  /// Adds an input to a block; it gets its value whenever the block is called.
  Value* AddBlockInput(BlockId block, llvm::StringRef name, Type type,
                       LocationId location = kUnknownLocation);
  /// Returns the types of the inputs that a block needs to be the body of such a call
  /// (OpDef::body). Sizes that exist only in the block get fresh names.
  llvm::Expected<std::vector<Type>> BodyTypes(const OpDef& def, llvm::ArrayRef<Value*> operands,
                                              llvm::ArrayRef<AttributeValue> attributes);
  void AddOutput(llvm::StringRef name, Value* value, std::string comment = "");
  void AddUpdate(Value* state, Value* value);
  void AddTraining(GraphTraining training) { trainings_.push_back(std::move(training)); }
  void AddConstraint(GraphConstraint constraint) { constraints_.push_back(std::move(constraint)); }
  void SetComment(Value* value, std::string comment) { value->comment_ = std::move(comment); }
  /// Returns `base`, or the first of `base_2`, `base_3`, … that is neither in use nor reserved.
  std::string NewName(llvm::StringRef base);
  /// Prevents NewName from returning this name.
  void ReserveName(llvm::StringRef name) { reserved_names_.insert(name); }
  LocationId AddLocation(Location location);
  /// Returns the number of the file with that name. `text` is its contents, for messages; null if
  /// they are not known, as in a network that was compiled before.
  uint32_t AddFile(llvm::StringRef name, std::shared_ptr<const std::string> text = nullptr);

  // --- Queries ------------------------------------------------------------------------------
  llvm::ArrayRef<Value*> inputs() const { return blocks_[0].inputs; }
  llvm::ArrayRef<Value*> parameters() const { return parameters_; }
  llvm::ArrayRef<Value*> states() const { return states_; }
  llvm::ArrayRef<GraphOutput> outputs() const { return outputs_; }
  /// The output of that name; null if there is none.
  const GraphOutput* FindOutput(llvm::StringRef name) const;
  llvm::ArrayRef<GraphUpdate> updates() const { return updates_; }
  llvm::ArrayRef<GraphTraining> trainings() const { return trainings_; }
  llvm::ArrayRef<GraphConstraint> constraints() const { return constraints_; }
  /// Returns the symbols that inputs introduce, in order of appearance.
  std::vector<std::string> Symbols() const;
  /// Whether the size is data-dependent: known only after the call that defines it has run.
  bool IsDataSymbol(llvm::StringRef symbol) const {
    return !data_symbols_.empty() && data_symbols_.contains(symbol);
  }
  /// Calls `visit` with each call of block 0 that defines a data-dependent size on which `op`
  /// depends through its types, attributes, checks, or a block that it references.
  void ForEachDefiner(const Op& op, llvm::function_ref<void(Op*)> visit) const;
  const Block& block(BlockId id = {}) const { return blocks_[id.index]; }
  size_t num_blocks() const { return blocks_.size(); }
  /// The calls of block 0.
  llvm::ArrayRef<Op*> ops() const { return blocks_[0].ops; }
  Value* FindValue(llvm::StringRef name) const;
  llvm::ArrayRef<Location> locations() const { return locations_; }
  llvm::ArrayRef<std::string> files() const { return files_; }
  /// The contents of a file; null if they are not known.
  std::shared_ptr<const std::string> TextOf(llvm::StringRef file) const {
    return texts_.lookup(file);
  }
  /// Returns "model.pdl:3:5", or an empty string for an unknown location.
  std::string LocationToString(LocationId location) const;
  /// Returns the expansion path of a location, for messages: the layer calls that led to it,
  /// outermost first, then the location itself: "model.pdl:8:5 > layers/fc.pdl:17:28". Long paths
  /// are abbreviated in the middle.
  std::string PathToString(LocationId location) const;
  /// A number in [0, num_values()) that is unique in this graph.
  uint32_t number(const Value* value) const { return value->number_; }
  uint32_t num_values() const { return static_cast<uint32_t>(values_.size()); }

  // --- Rewriting (passes) -------------------------------------------------------------------
  /// Replaces every use of `from` by calls, outputs, updates and training with `to`.
  void ReplaceAllUses(Value* from, Value* to);
  /// As above for many pairs (from, to) at once; no `to` may also be a `from`.
  void ReplaceAllUses(llvm::ArrayRef<std::pair<Value*, Value*>> replacements);
  /// Exchanges the names of two values.
  void SwapNames(Value* a, Value* b);
  /// Removes the calls of `block` for which `dead` returns true. Their results must be unused or
  /// used by other removed calls only.
  void EraseOps(BlockId block, llvm::function_ref<bool(const Op&)> dead);
  /// Removes the calls of block 0 for which `before` returns true. They must not read results of
  /// the remaining calls. Those of their results that remaining calls read become inputs, with the
  /// same names.
  void CutOff(llvm::function_ref<bool(const Op&)> before);
  void SetBlockOutputs(BlockId block, std::vector<Value*> outputs);
  /// Removes unused inputs of a block, or reorders its inputs.
  void SetBlockInputs(BlockId block, std::vector<Value*> inputs);
  /// Reorders the calls of a block. Definitions must precede uses.
  void SetBlockOps(BlockId block, std::vector<Op*> ops);
  /// Removes all outputs and updates, but not the calls that compute them.
  void ClearOutputs();
  /// Turns a parameter into a state whose initial value is the parameter's value.
  void MakeState(Value* parameter);
  /// Removes all `minimize` statements, but not the calls that compute their losses.
  void ClearTrainings() { trainings_.clear(); }
  /// Replaces `op` in place by another call with the same results. The inferred result types must
  /// equal the previous ones; a difference is an internal error.
  void RewriteOp(Op* op, const OpDef& def, llvm::ArrayRef<Value*> operands,
                 std::vector<AttributeValue> attributes);
  /// Adds `checks` before those of `op`. They come from a call that was rewritten to `op` and say
  /// so (DimCheck::asked_by). Rewriting `op` keeps them.
  void AddChecks(Op* op, llvm::ArrayRef<DimCheck> checks);

 private:
  Value* NewValue(llvm::StringRef name, Type type, ValueKind kind, LocationId location);
  /// IsKnownToPlan of the results of a call, without regard to the sizes of the results.
  bool IsCallKnownToPlan(const OpDef& def, llvm::ArrayRef<Value*> operands,
                         llvm::ArrayRef<AttributeValue> attributes) const;
  bool DependsOnData(const Dim& dim) const;
  /// Runs the checks that the operator itself makes (OpDef::check_attributes), in the absence of a
  /// device, unless its last call had the same attributes and dtypes and was accepted.
  llvm::Error CheckByOperator(const InferenceContext& context, llvm::ArrayRef<Value*> operands,
                              llvm::ArrayRef<std::string> result_names);
  /// Returns `base`, or the first of `base_2`, … that is not the name of a size.
  std::string NewSymbol(llvm::StringRef base);
  /// Returns the symbol that a call defines (OpProperties::defines_size), or "". An Error if the
  /// call is in a block and defines a symbol or creates a fresh one.
  llvm::Expected<std::string> SymbolToDefine(const InferenceContext& context,
                                             const CallOptions& options) const;
  void ForgetDefiners(const llvm::DenseSet<Op*>& erased);
  static void Use(Op* op, llvm::ArrayRef<Value*> operands);
  /// Adds a copy of a value of another graph, without uses, producer and entry in names_.
  Value* CopyValue(const Value& value);
  /// Adds a copy of an op of another graph at the end of `block`. `operand` and `result` map values
  /// of that graph to their copies; `result` is called after `operand`.
  Op* CopyOp(const Op& op, BlockId block, llvm::function_ref<Value*(const Value*)> operand,
             llvm::function_ref<Value*(const Value*)> result);
  static void Unuse(Op* op);
  Value* AddVariable(llvm::StringRef name, Type type, ValueKind kind, VariableInfo info,
                     LocationId location);

  Value* NewValue();
  Op* NewOp();

  /// Memory of objects, which it destroys. Unlike its base, also when another one is assigned.
  template <class T>
  class Memory : public llvm::SpecificBumpPtrAllocator<T> {
   public:
    Memory() = default;
    Memory(Memory&&) noexcept = default;
    Memory& operator=(Memory&& other) noexcept {
      if (this == &other) return *this;
      this->DestroyAll();
      llvm::SpecificBumpPtrAllocator<T>::operator=(std::move(other));
      return *this;
    }
  };
  Memory<Value> value_memory_;
  Memory<Op> op_memory_;
  std::vector<Value*> values_;  // by number
  std::deque<Block> blocks_;
  std::vector<Value*> parameters_;
  std::vector<Value*> states_;
  std::vector<GraphOutput> outputs_;
  std::vector<GraphUpdate> updates_;
  llvm::DenseMap<const Value*, size_t> update_of_;  // index into updates_, by state
  std::vector<GraphTraining> trainings_;
  std::vector<GraphConstraint> constraints_;
  std::vector<Location> locations_;
  std::vector<std::string> files_;
  llvm::StringMap<std::shared_ptr<const std::string>> texts_;  // of files_, where known
  llvm::StringMap<Value*> names_;
  llvm::StringMap<unsigned> next_suffix_;
  llvm::StringSet<> reserved_names_;
  llvm::StringMap<unsigned> symbols_;  // names of sizes, and the next suffix to try for each
  /// Data-dependent sizes and the calls that define them; null for a size that is local to a block.
  llvm::StringMap<Op*> data_symbols_;
  struct AcceptedCall {
    std::vector<AttributeValue> attributes;
    std::vector<DType> input_dtypes, output_dtypes;
  };
  /// The last call of each operator that the operator's own checks accepted.
  llvm::DenseMap<const OpDef*, AcceptedCall> accepted_;
};

}  // namespace pdl

#endif  // PDL_COMPILER_GRAPH_H_
