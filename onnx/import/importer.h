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

/// A call of a function that is being expanded: what attributes within it may refer to.
struct OnnxFunctionCall {
  const onnx::NodeProto& node;
  /// What the function has for attributes that the call leaves out.
  const std::vector<onnx::AttributeProto>& defaults;
  /// Around it; what attributes of `node` may refer to.
  const OnnxFunctionCall* outer = nullptr;
};

/// The attribute itself, or what it refers to; null where no call gives that.
const onnx::AttributeProto* ResolveAttribute(const onnx::AttributeProto& attribute,
                                             const OnnxFunctionCall* call);

/// The names that nodes of a graph, a subgraph or a function can read.
struct OnnxScope {
  const OnnxScope* parent = nullptr;
  llvm::StringMap<Value*> values;
  /// Tensors that have not been read yet.
  llvm::StringMap<const onnx::TensorProto*> initializers;
  /// Values that are lists of tensors.
  llvm::StringMap<std::vector<Value*>> sequences;
  /// Inputs of a function that its call leaves out.
  llvm::StringSet<> missing;
  /// Null outside of functions.
  const OnnxFunctionCall* call = nullptr;
  /// Versions of operator sets, by domain.
  const llvm::StringMap<int64_t>* opsets = nullptr;
  /// Stands before the names of nodes: the calls that led here, cut where they become too long.
  std::string path;
  /// The name of that node, with the way to it.
  std::string PathTo(const onnx::NodeProto& node) const;
};

/// Makes a graph of a model, node by node.
class Importer {
 public:
  Importer(const OnnxModel& model, const ImportOptions& options);
  llvm::Expected<ImportedModel> Import();

  Graph& graph() { return graph_; }
  KnownValues& known() { return known_; }
  const OnnxModel& model() const { return model_; }

  /// The value of that name: a tensor of the model becomes one when it is first asked for. Null
  /// where there is none; an Error where a tensor is broken.
  llvm::Expected<Value*> Find(OnnxScope& scope, llvm::StringRef name);
  /// Null where that name is no list of tensors.
  const std::vector<Value*>* FindSequence(const OnnxScope& scope, llvm::StringRef name) const;
  /// Whether the name is that of an input of a function that its call leaves out.
  bool IsMissing(const OnnxScope& scope, llvm::StringRef name) const;
  /// Constants and parameters; null for all others.
  const Constant* FindConstant(const Value* value) const;
  /// A constant of the text where it is small, else a parameter.
  llvm::Expected<Value*> AddConstant(Constant constant, llvm::StringRef name);
  /// The same of a tensor of the model, which becomes one parameter however often it is asked for.
  llvm::Expected<Value*> AddTensor(const onnx::TensorProto& tensor, llvm::StringRef name);
  /// A model makes at most so many calls, constants, elements of lists and copies of subgraphs when
  /// its functions and loops are expanded, and so many more for each node of its graph.
  static constexpr int64_t kMaxCalls = 500'000;
  static constexpr int64_t kCallsOfANode = 16;
  /// Counts those; an Error where they are too many.
  llvm::Error Spend(int64_t count);
  /// Counts the bytes of a constant that is computed while importing.
  llvm::Error SpendBytes(const Constant& constant);
  /// Imports the nodes of a subgraph whose inputs have these values; its outputs.
  llvm::Expected<std::vector<Value*>> ImportSubgraph(const onnx::GraphProto& graph,
                                                     const OnnxScope& outer,
                                                     llvm::ArrayRef<Value*> inputs);
  /// What the text is to call a value; the first wish counts.
  void SuggestName(const Value* value, llvm::StringRef name);
  /// A name for a value that the graph does not have yet.
  std::string NewTemporary() { return "t" + std::to_string(++temporaries_); }
  /// The names of those inputs of the model that a value is computed from.
  std::vector<std::string> InputsOf(Value* value) const;
  LocationId LocationOf(llvm::StringRef node);

  // --- Bodies of loops ----------------------------------------------------------------------
  /// Where calls go: the network itself, or the body that is open.
  BlockId block() const { return body_ == nullptr ? BlockId{} : body_->block; }
  /// What calls of the open body read in place of a value: numbers are written again, all else from
  /// outside is given to the body. The value itself where no body is open.
  Value* Inside(Value* value);
  struct MadeBody {
    BlockId block;
    std::vector<Value*> captured;
  };
  /// Makes a body that takes values of these types: `make` is given them, under `names` as far as
  /// there are any, and makes the calls; it returns what the body gives, or nothing after a
  /// mistake.
  MadeBody MakeBody(llvm::ArrayRef<Type> types, llvm::ArrayRef<std::string> names,
                    llvm::function_ref<std::vector<Value*>(llvm::ArrayRef<Value*>)> make);

 private:
  struct OpenBody {
    BlockId block;
    OpenBody* outer = nullptr;
    llvm::DenseMap<const Value*, Value*> inside;
    std::vector<Value*> captured;
  };
  /// Whether a constant stands in the text; one that the model names does so only where it is a
  /// number or has integers.
  static bool IsLiteral(const Constant& constant, bool is_named);
  /// Gives the open body a value that has each size that it names and cannot see.
  void CaptureSizes();
  void LearnSizes();
  llvm::Error CheckOperators();
  /// How many nodes functions make when they are expanded, before any is.
  llvm::Error CheckExpansion();
  void CountUnknown(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes,
                    const llvm::StringMap<int64_t>& opsets);
  const onnx::FunctionProto* FindFunction(const onnx::NodeProto& node) const;
  llvm::Error AddInputs();
  llvm::Expected<Type> TypeOfInput(const onnx::ValueInfoProto& info);
  /// The size of a dim that the model says no number for.
  Dim SizeOf(const std::string& name);
  llvm::Error AddInitializers(const onnx::GraphProto& graph, OnnxScope& scope);
  llvm::Error ImportNodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes,
                          OnnxScope& scope);
  llvm::Error ImportNode(const onnx::NodeProto& node, OnnxScope& scope);
  llvm::Error ImportFunction(const onnx::FunctionProto& function, const onnx::NodeProto& node,
                             OnnxScope& scope);
  /// A constant of the text. Texts have no numbers of the dtypes that are only stored: those are
  /// cast.
  llvm::Expected<Op*> AddLiteral(const Constant& constant);
  llvm::Error AddOutputs();
  /// Equal numbers that the model has under several names become one, which has none of them.
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
  /// Those that became parameters.
  llvm::DenseMap<const onnx::TensorProto*, Value*> parameters_;
  llvm::DenseMap<const Value*, Constant> weights_;
  int64_t tensor_bytes_ = 0, made_bytes_ = 0;
  llvm::DenseMap<const Value*, std::string> suggested_;
  OpenBody* body_ = nullptr;
  llvm::DenseMap<const Value*, uint32_t> homes_;  // blocks of what bodies are given
  llvm::DenseMap<const Value*, Value*> outside_;  // of what bodies capture
  std::vector<std::pair<std::string, Value*>> inputs_, outputs_;
  llvm::StringMap<uint32_t> files_;       // of locations, by names of nodes
  llvm::StringMap<std::string> symbols_;  // by the model's names
  llvm::StringSet<> known_sizes_;         // of options_.fixed_sizes
  /// The first value of the network, in its order, that has a dim of that size; of the first
  /// `num_searched_` calls.
  llvm::StringMap<std::pair<size_t, Value*>> first_with_size_;
  size_t num_searched_ = 0;
  unsigned temporaries_ = 0;
  int64_t spent_ = 0;
  int depth_ = 0;
};

}  // namespace pdl

#endif  // PDL_ONNX_IMPORT_IMPORTER_H_
