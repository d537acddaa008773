// The state of an export: names, initializers, and the tensors that sizes can be read from.
#ifndef PDL_ONNX_EXPORT_EXPORTER_H_
#define PDL_ONNX_EXPORT_EXPORTER_H_

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"
#include "onnx/export/branches.h"
#include "onnx/export/export.h"

namespace pdl {

/// An attribute of a node.
struct OnnxAttribute {
  std::string name;
  std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
               const onnx::GraphProto*, Constant>
      value;
};

class Exporter {
 public:
  Exporter(const Graph& graph, const OnnxExportOptions& options)
      : graph_(graph), options_(options) {}

  /// Fills the model's graph.
  llvm::Error Run(onnx::GraphProto* to);

  // --- For the calls ------------------------------------------------------------------------
  const Graph& graph() const { return graph_; }
  /// The name of a value in the ONNX model.
  const std::string& NameOf(const Value* value) const { return names_.at(value); }
  void SetName(const Value* value, std::string name) { names_[value] = std::move(name); }
  /// Whether a call or an output uses it.
  bool IsUsed(const Value* value) const;
  /// Adds a node whose outputs have fresh names.
  std::vector<std::string> AddNode(llvm::StringRef type, llvm::ArrayRef<std::string> inputs,
                                   llvm::ArrayRef<OnnxAttribute> attributes, unsigned outputs);
  /// Adds an initializer; small ones with equal values are shared.
  std::string AddConstant(const Constant& value, llvm::StringRef name = "");
  std::string AddInts(llvm::ArrayRef<int64_t> values);
  /// The name of a size as an i64[1].
  llvm::Expected<std::string> SizeOf(const Dim& dim);
  /// The name of sizes as an i64 vector.
  llvm::Expected<std::string> SizesOf(llvm::ArrayRef<Dim> dims);
  /// From now on, symbols in the type are read from the sizes of that value.
  void LearnSizes(const Type& type, const std::string& name);
  /// Runs `add`, whose nodes go into `graph`: a body or a branch. Sizes that they read are known
  /// only there.
  void AddTo(onnx::GraphProto* graph, llvm::function_ref<void()> add);
  /// Exports the calls of a block, whose inputs already have names, into the body of a loop.
  llvm::Error ExportBlock(const Block& block, onnx::GraphProto* to);

  static void SetType(const Type& type, llvm::StringRef name, onnx::ValueInfoProto* info);

 private:
  struct SizeSource {
    std::string value;
    unsigned axis;
  };
  /// Sizes that are available in a graph or a body; reset at its end.
  struct Known {
    llvm::StringMap<std::string> sizes;  // by Dim::ToString()
    llvm::StringMap<SizeSource> sources;
    std::vector<std::pair<Dim, SizeSource>> composed;
  };

  llvm::Error AddInputs();
  llvm::Error AddVariables();
  void RejectOpenState(const Value* state);
  llvm::Error AddOutputs();
  /// Exports calls of which the `if`s are in the table.
  void ExportOps(llvm::ArrayRef<const Op*> ops, const BranchTable& table);
  /// Exports an `if` and its sides.
  void ExportIf(const Branches& branches, const BranchTable& table);
  onnx::GraphProto ExportSide(const Branches& branches, unsigned side, const BranchTable& table);
  void ExportOp(const Op& op);
  void Reject(const Op& op, std::string reason);
  llvm::Error Rejected();
  std::string FreshName();
  std::string NodeName(const std::string& value) const;
  void ChooseNames();
  std::string Arithmetic(llvm::StringRef type, const std::string& a, const std::string& b);
  llvm::Expected<std::string> Symbol(llvm::StringRef symbol);

  const Graph& graph_;
  const OnnxExportOptions& options_;
  onnx::GraphProto* main_ = nullptr;
  onnx::GraphProto* target_ = nullptr;
  llvm::DenseMap<const Value*, std::string> names_;
  llvm::DenseSet<const Value*> outputs_;
  llvm::StringSet<> output_names_;
  std::map<std::string, std::string> constants_;
  Known known_;
  /// For the exported call: the prefix of its names, and its location.
  std::string stem_, place_;
  unsigned next_ = 0;
  /// (operator, reason), and the locations.
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> rejected_;
};

}  // namespace pdl

#endif  // PDL_ONNX_EXPORT_EXPORTER_H_
