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

/// Where a tensor of a parameter or state comes from: a safetensors file.
struct WeightRef {
  std::string file;    // relative to the network's file
  std::string tensor;  // name inside
  /// SHA-256 of the tensor's bytes, in hex; empty where not computed yet.
  std::string sha256;
};

/// What a parameter or a state has besides its type.
struct VariableInfo {
  /// Block that computes the first value (no inputs, one output); nullopt where it is loaded.
  std::optional<BlockId> initializer;
  std::optional<WeightRef> weight;
  double weight_decay = 0;
  double gradient_clipping = 0;
  double lr_scale = 1;
  bool trainable = true;
};

enum class ValueKind : uint8_t { kResult = 0, kInput = 1, kParameter = 2, kState = 3 };

/// One tensor of the network: fed, learned, kept, or computed by one Op. Assigned once.
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
  /// The `##` text that the file has for it.
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

/// Whether a Plan knows a value before anything runs: it is made of constants, of sizes that inputs
/// have and of `training()` alone, by calls that are neither random nor have an effect.
inline bool IsKnownToPlan(const Value* value) { return value->known_to_plan_; }

/// One call.
class PDL_API Op {
 public:
  const OpDef& def() const { return *def_; }
  const std::string& type() const { return def_->name(); }
  llvm::ArrayRef<Value*> operands() const { return operands_; }
  llvm::ArrayRef<Value*> results() const { return results_; }
  Value* result(unsigned index = 0) const { return results_[index]; }
  /// In the order of the signature's declarations, every default filled in.
  llvm::ArrayRef<AttributeValue> attribute_values() const { return attributes_; }
  AttributeReader attributes() const { return {def_->signature, attributes_}; }
  LocationId location() const { return location_; }
  /// The layers that it was expanded from: "encoder.0"; empty at the top.
  const std::string& layer_path() const { return layer_path_; }
  /// Not 0: training computes it again on the way back, with all calls of the same number, instead
  /// of keeping what they give to each other.
  uint32_t recompute() const { return recompute_; }
  /// Equations that must hold once sizes are known.
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

/// A sequence of calls, each after the values that it uses. Block 0 is the network; others are
/// named by attributes (`scan`) or compute a first value.
struct Block {
  std::vector<Value*> inputs;
  std::vector<Op*> ops;
  std::vector<Value*> outputs;
};

/// What a run returns, under its own name.
struct GraphOutput {
  std::string name;
  Value* value = nullptr;
  std::string comment;
};

/// After a run `state` holds `value`.
struct GraphUpdate {
  Value* state = nullptr;
  Value* value = nullptr;
};

/// A constraint on the symbols that a caller must keep: `where T % 4 == 0, N in 1..=256`.
struct GraphConstraint {
  DimCheck check;
  LocationId location = kUnknownLocation;
};

/// A `minimize` statement: what training does. Runs do not compute `loss` for it.
struct GraphTraining {
  /// A scalar of floats.
  Value* loss = nullptr;
  std::vector<Value*> parameters;
  /// Done on each n-th step, from 1.
  uint32_t every = 1;
  /// The call of a function of the language: `adam(lr=0.001)`.
  std::string optimizer;
  LocationId location = kUnknownLocation;
  /// What a step changes: parameters and states of optimizers, with their next values. Empty unless
  /// the text was compiled for training (CompileRequest::training_step); not serialized.
  std::vector<GraphUpdate> updates = {};
};

/// What a call is made of, besides its operands.
struct CallOptions {
  LocationId location = kUnknownLocation;
  BlockId block;
  std::string layer_path;
  uint32_t recompute = 0;
};

/// The network in memory while it is compiled: calls and values in single-assignment form. Every
/// call in it has been checked and has inferred types. Names of values are unique. Owns all its
/// Values and Ops, whose addresses stay. Not for use by two threads at once while it is changed.
class PDL_API Graph {
 public:
  Graph();
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;
  ~Graph();
  /// A copy that shares constants' bytes and nothing else.
  Graph Clone() const;
  /// A block as a network of its own, with the blocks that it names: its inputs are those of the
  /// block, its outputs are called "0", "1" and so on.
  Graph ExtractBlock(BlockId block) const;

  // --- Building -----------------------------------------------------------------------------
  // Names must be new to the graph (NewName makes them so); a clash is an internal error.
  Value* AddInput(llvm::StringRef name, Type type, LocationId location = kUnknownLocation);
  Value* AddParameter(llvm::StringRef name, Type type, VariableInfo info,
                      LocationId location = kUnknownLocation);
  Value* AddState(llvm::StringRef name, Type type, VariableInfo info,
                  LocationId location = kUnknownLocation);
  /// Checks the operands and attributes against `def`, infers, and appends the call. One result
  /// name for each output of the signature. An Error is a CallError, and the graph is unchanged.
  llvm::Expected<Op*> AddOp(const OpDef& def, llvm::ArrayRef<Value*> operands,
                            llvm::ArrayRef<NamedAttribute> attributes,
                            llvm::ArrayRef<std::string> result_names, CallOptions options = {});
  /// The same with attributes that are complete and in order already.
  llvm::Expected<Op*> AddOpWithValues(const OpDef& def, llvm::ArrayRef<Value*> operands,
                                      std::vector<AttributeValue> attributes,
                                      llvm::ArrayRef<std::string> result_names,
                                      CallOptions options = {});
  BlockId AddBlock();
  /// A value that the block is given whenever it is called.
  Value* AddBlockInput(BlockId block, llvm::StringRef name, Type type,
                       LocationId location = kUnknownLocation);
  /// The types of the inputs that a block needs to be the body of such a call (OpDef::body). Sizes
  /// that the block alone has get names of their own.
  llvm::Expected<std::vector<Type>> BodyTypes(const OpDef& def, llvm::ArrayRef<Value*> operands,
                                              llvm::ArrayRef<AttributeValue> attributes);
  void AddOutput(llvm::StringRef name, Value* value, std::string comment = "");
  void AddUpdate(Value* state, Value* value);
  void AddTraining(GraphTraining training) { trainings_.push_back(std::move(training)); }
  void AddConstraint(GraphConstraint constraint) { constraints_.push_back(std::move(constraint)); }
  void SetComment(Value* value, std::string comment) { value->comment_ = std::move(comment); }
  /// `base`, or `base_2`, `base_3`, … where that is taken or reserved.
  std::string NewName(llvm::StringRef base);
  /// Keeps NewName from giving this name.
  void ReserveName(llvm::StringRef name) { reserved_names_.insert(name); }
  LocationId AddLocation(Location location);
  uint32_t AddFile(llvm::StringRef name);

  // --- Looking ------------------------------------------------------------------------------
  llvm::ArrayRef<Value*> inputs() const { return blocks_[0].inputs; }
  llvm::ArrayRef<Value*> parameters() const { return parameters_; }
  llvm::ArrayRef<Value*> states() const { return states_; }
  llvm::ArrayRef<GraphOutput> outputs() const { return outputs_; }
  llvm::ArrayRef<GraphUpdate> updates() const { return updates_; }
  llvm::ArrayRef<GraphTraining> trainings() const { return trainings_; }
  llvm::ArrayRef<GraphConstraint> constraints() const { return constraints_; }
  /// The symbols that inputs introduce, in order of appearance.
  std::vector<std::string> Symbols() const;
  /// Whether only the data decide this size.
  bool IsDataSymbol(llvm::StringRef symbol) const { return data_symbols_.contains(symbol); }
  /// Calls `visit` with the calls, of the network itself, whose data decide sizes that `op` has in
  /// its types, its attributes, its checks, or in a block that it names.
  void ForEachDefiner(const Op& op, llvm::function_ref<void(Op*)> visit) const;
  const Block& block(BlockId id = {}) const { return blocks_[id.index]; }
  size_t num_blocks() const { return blocks_.size(); }
  /// The calls of the network itself.
  llvm::ArrayRef<Op*> ops() const { return blocks_[0].ops; }
  Value* FindValue(llvm::StringRef name) const;
  llvm::ArrayRef<Location> locations() const { return locations_; }
  llvm::ArrayRef<std::string> files() const { return files_; }
  /// "model.pdl:3:5", or empty for an unknown place.
  std::string LocationToString(LocationId location) const;
  /// The way to a place, for messages: the calls of layers that led there, outermost first, and the
  /// place itself: "model.pdl:8:5 > layers/fc.pdl:17:28". Of a long way both ends.
  std::string PathToString(LocationId location) const;
  /// A number below num_values() that no other value of this graph has.
  uint32_t number(const Value* value) const { return value->number_; }
  uint32_t num_values() const { return static_cast<uint32_t>(values_.size()); }

  // --- Rewriting (passes) -------------------------------------------------------------------
  /// Makes every use of `from`, by calls, outputs, updates and training, one of `to`.
  void ReplaceAllUses(Value* from, Value* to);
  /// The same for many (from, to) at once; no `to` is a `from`.
  void ReplaceAllUses(llvm::ArrayRef<std::pair<Value*, Value*>> replacements);
  /// Removes the calls of `block` for which `dead` is true; their results must be unused, or used
  /// by other dead calls only.
  void EraseOps(BlockId block, llvm::function_ref<bool(const Op&)> dead);
  /// Removes the calls of the network itself for which `before` is true; they read nothing that
  /// others compute. Results that others read become inputs, under their names.
  void CutOff(llvm::function_ref<bool(const Op&)> before);
  void SetBlockOutputs(BlockId block, std::vector<Value*> outputs);
  /// Leaves out inputs of a block that nothing uses, or orders them anew.
  void SetBlockInputs(BlockId block, std::vector<Value*> inputs);
  /// Orders the calls of a block anew; each must still stand after what it reads.
  void SetBlockOps(BlockId block, std::vector<Op*> ops);
  /// Removes all outputs and updates, not what computes them.
  void ClearOutputs();
  /// Makes a parameter a state: what it is now is its first value.
  void MakeState(Value* parameter);
  /// Removes all training statements, not what computes their losses.
  void ClearTrainings() { trainings_.clear(); }
  /// Makes `op` another call with the same results, at the same place: their types must come out
  /// equal to what they were (an internal error otherwise).
  void RewriteOp(Op* op, const OpDef& def, llvm::ArrayRef<Value*> operands,
                 std::vector<AttributeValue> attributes);
  /// Makes whoever runs `op` keep `checks` too, those first: they are of a call that became `op`
  /// and say so (DimCheck::asked_by). A rewrite of `op` keeps them.
  void AddChecks(Op* op, llvm::ArrayRef<DimCheck> checks);

 private:
  Value* NewValue(llvm::StringRef name, Type type, ValueKind kind, LocationId location);
  /// IsKnownToPlan of the results of a call, but for the sizes of its results.
  bool IsCallKnownToPlan(const OpDef& def, llvm::ArrayRef<Value*> operands,
                         llvm::ArrayRef<AttributeValue> attributes) const;
  bool DependsOnData(const Dim& dim) const;
  /// `base`, or `base_2`, … where a size has that name already.
  std::string NewSymbol(llvm::StringRef base);
  /// The symbol that a call defines (OpProperties::defines_size), or ""; an Error where it defines
  /// one, or makes a fresh one, in a block.
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

  std::deque<Value> values_;
  std::deque<Op> ops_;
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
  llvm::StringMap<Value*> names_;
  llvm::StringMap<unsigned> next_suffix_;
  llvm::StringSet<> reserved_names_;
  llvm::StringMap<unsigned> symbols_;  // names of sizes, and the next suffix to try for each
  /// Those that only the data decide, and the calls that say so; null: a size that a block has for
  /// itself.
  llvm::StringMap<Op*> data_symbols_;
};

}  // namespace pdl

#endif  // PDL_COMPILER_GRAPH_H_
