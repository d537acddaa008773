#ifndef PDL_ONNX_IMPORT_IMPORTER_H_
#define PDL_ONNX_IMPORT_IMPORTER_H_

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "onnx/import/import.h"
#include "onnx/import/static_values.h"
#include "onnx/model/model.h"

namespace pdl {

/// A call of a function that is being expanded, which attributes inside it may refer to.
struct OnnxFunctionCall {
  const onnx::NodeProto& node;
  /// The function's default values of attributes that the call omits.
  const std::vector<onnx::AttributeProto>& defaults;
  /// The surrounding call, which attributes of `node` may refer to.
  const OnnxFunctionCall* outer = nullptr;
};

/// Follows the references of an attribute; null if no call sets the attribute that it refers to.
const onnx::AttributeProto* ResolveAttribute(const onnx::AttributeProto& attribute,
                                             const OnnxFunctionCall* call);

/// The names that are visible to the nodes of a graph, a subgraph or a function.
struct OnnxScope {
  const OnnxScope* parent = nullptr;
  llvm::StringMap<Value*> values;
  /// Tensors that were not used yet.
  llvm::StringMap<const onnx::TensorProto*> initializers;
  /// Those of them that are the values of a sparse tensor.
  llvm::StringMap<const onnx::SparseTensorProto*> sparse;
  /// Values that are lists of tensors.
  llvm::StringMap<std::vector<Value*>> sequences;
  /// Inputs of a function that its call omits.
  llvm::StringSet<> missing;
  /// Null outside functions.
  const OnnxFunctionCall* call = nullptr;
  /// Versions of operator sets, by domain.
  const llvm::StringMap<int64_t>* opsets = nullptr;
  /// The prefix for names of nodes: the calls that led to this scope, shortened if it is too long.
  std::string path;
  /// The name of a node with its path.
  std::string PathTo(const onnx::NodeProto& node) const;
};

/// Converts a model to a graph, node by node.
class Importer {
 public:
  Importer(const OnnxModel& model, const ImportOptions& options);
  llvm::Expected<ImportedModel> Import();

  Graph& graph() { return graph_; }
  KnownValues& known() { return known_; }
  const OnnxModel& model() const { return model_; }

  /// Finds a value by its name; a tensor of the model becomes a value when it is first used. Null
  /// if there is none; an Error if a tensor is malformed.
  llvm::Expected<Value*> Find(OnnxScope& scope, llvm::StringRef name);
  /// Null if there is no list of tensors of that name.
  const std::vector<Value*>* FindSequence(const OnnxScope& scope, llvm::StringRef name) const;
  /// Whether the name is an input of a function that its call omits.
  bool IsMissing(const OnnxScope& scope, llvm::StringRef name) const;
  /// The value of a constant or parameter; null for all others.
  const Constant* FindConstant(const Value* value) const;
  /// Adds a literal if the constant is small, else a parameter.
  llvm::Expected<Value*> AddConstant(Constant constant, llvm::StringRef name);
  /// The same for a tensor of the model, which becomes one parameter even if it is used several
  /// times.
  llvm::Expected<Value*> AddTensor(const onnx::TensorProto& tensor, llvm::StringRef name);
  llvm::Expected<Value*> AddSparse(const onnx::SparseTensorProto& tensor, llvm::StringRef name);
  /// The most calls, constants, elements of lists and copies of subgraphs that functions and loops
  /// may expand to, plus kCallsOfANode for each node of the model's graph.
  static constexpr int64_t kMaxCalls = 500'000;
  static constexpr int64_t kCallsOfANode = 16;
  /// Adds to that number; returns an Error if it is too large.
  llvm::Error Spend(int64_t count);
  /// Counts the bytes of a constant that is computed at import.
  llvm::Error SpendBytes(int64_t bytes);
  /// Imports the nodes of a subgraph whose inputs have these values; returns its outputs.
  llvm::Expected<std::vector<Value*>> ImportSubgraph(const onnx::GraphProto& graph,
                                                     const OnnxScope& outer,
                                                     llvm::ArrayRef<Value*> inputs);
  /// Suggests a name for a value in the source; later suggestions are ignored.
  void SuggestName(const Value* value, llvm::StringRef name);
  /// A name for a value that is not used in the graph yet.
  std::string NewTemporary() { return "t" + std::to_string(++temporaries_); }
  /// The names of the model's inputs that a value depends on.
  std::vector<std::string> InputsOf(Value* value) const;
  LocationId LocationOf(llvm::StringRef node);

  // --- Bodies of loops ----------------------------------------------------------------------
  /// The block that calls are added to: the network itself, or the open body.
  BlockId block() const { return body_ == nullptr ? BlockId{} : body_->block; }
  /// The value that calls in the open body use for an outer value: literals are copied, all others
  /// become inputs of the body. Returns the value itself if no body is open.
  Value* Inside(Value* value);
  struct MadeBody {
    BlockId block;
    std::vector<Value*> captured;
  };
  /// Adds a body with inputs of these types, named by `names` as far as given: `make` receives the
  /// inputs, adds the calls, and returns the outputs of the body, or nothing after an error.
  MadeBody MakeBody(llvm::ArrayRef<Type> types, llvm::ArrayRef<std::string> names,
                    llvm::function_ref<std::vector<Value*>(llvm::ArrayRef<Value*>)> make);

  /// The size that a value declares: a number, or that of an input; nullopt for any other name.
  std::optional<Dim> DeclaredSize(const onnx::TensorShapeProto::Dimension& dim);

 private:
  struct OpenBody {
    BlockId block;
    OpenBody* outer = nullptr;
    llvm::DenseMap<const Value*, Value*> inside;
    std::vector<Value*> captured;
  };
  /// Whether a constant becomes a literal in the source; one that has a name in the model only if
  /// it is a scalar or has integers.
  static bool IsLiteral(const Constant& constant, bool is_named);
  /// Whether a value that was computed at import becomes a literal.
  static bool IsFoldable(const Constant& constant);
  /// Adds inputs to the open body so that it can refer to all sizes that its types use.
  void CaptureSizes();
  void LearnSizes();
  llvm::Error CheckOperators();
  /// Checks the number of nodes that functions expand to, before any is expanded.
  llvm::Error CheckExpansion();
  void CountUnknown(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes,
                    const llvm::StringMap<int64_t>& opsets);
  const onnx::FunctionProto* FindFunction(const onnx::NodeProto& node) const;
  llvm::Error AddInputs();
  llvm::Expected<Type> TypeOfInput(const onnx::ValueInfoProto& info);
  /// The size of a dim without a number in the model.
  Dim SizeOf(const std::string& name);
  llvm::Error AddInitializers(const onnx::GraphProto& graph, OnnxScope& scope);
  llvm::Error ImportNodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes,
                          OnnxScope& scope);
  llvm::Error ImportNode(const onnx::NodeProto& node, OnnxScope& scope);
  llvm::Error ImportFunction(const onnx::FunctionProto& function, const onnx::NodeProto& node,
                             OnnxScope& scope);
  /// Adds a literal. There are no literals of dtypes that can only be stored: those are cast.
  llvm::Expected<Op*> AddLiteral(const Constant& constant);
  llvm::Error AddOutputs();
  /// Scalars with equal values but several names in the model are shared, without any of these
  /// names.
  void ForgetSharedNames();

  const OnnxModel& model_;
  const ImportOptions& options_;
  Graph graph_;
  KnownValues known_;
  OnnxScope scope_;
  llvm::StringMap<int64_t> opsets_;
  std::map<std::pair<std::string, std::string>, const onnx::FunctionProto*> functions_;
  std::map<std::string, int> unknown_;
  struct FunctionInfo {
    llvm::StringMap<int64_t> opsets;
    std::vector<onnx::AttributeProto> defaults;
  };
  llvm::DenseMap<const onnx::FunctionProto*, std::unique_ptr<FunctionInfo>> function_infos_;
  /// The tensors that became parameters.
  llvm::DenseMap<const onnx::TensorProto*, Value*> parameters_;
  llvm::DenseMap<const Value*, Constant> weights_;
  int64_t tensor_bytes_ = 0, made_bytes_ = 0;
  llvm::DenseMap<const Value*, std::string> suggested_;
  OpenBody* body_ = nullptr;
  llvm::DenseMap<const Value*, uint32_t> homes_;  // blocks of inputs of bodies
  llvm::DenseMap<const Value*, Value*> outside_;  // of captured values
  std::vector<std::pair<std::string, Value*>> inputs_, outputs_;
  llvm::StringMap<uint32_t> files_;       // files of locations, by names of nodes
  llvm::StringMap<std::string> symbols_;  // by the names in the model
  llvm::StringSet<> known_sizes_;         // names in options_.fixed_sizes
  /// For each symbol, the first value of the network that has a dim of that size, among the first
  /// `num_searched_` calls.
  llvm::StringMap<std::pair<size_t, Value*>> first_with_size_;
  size_t num_searched_ = 0;
  unsigned temporaries_ = 0;
  int64_t spent_ = 0;
  int depth_ = 0;
};

}  // namespace pdl

#endif  // PDL_ONNX_IMPORT_IMPORTER_H_
