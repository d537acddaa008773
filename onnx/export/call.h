#ifndef PDL_ONNX_EXPORT_CALL_H_
#define PDL_ONNX_EXPORT_CALL_H_

#include <string>
#include <vector>

#include "llvm/ADT/SmallVector.h"
#include "onnx/export/exporter.h"

namespace pdl {

/// The names of a call's results in the ONNX graph.
struct ExportedNames {
  llvm::SmallVector<std::string, 1> names;
  ExportedNames(std::string name) { names.push_back(std::move(name)); }  // NOLINT: mostly one
  ExportedNames(std::vector<std::string> all) : names(all.begin(), all.end()) {}  // NOLINT
};

/// The export of one call: gives a rule access to the call, and adds nodes. Strings are names of
/// ONNX values; each method that adds a node returns the name of its result.
class ExportCall {
 public:
  ExportCall(const Op& op, Exporter& exporter)
      : op_(op), attributes_(op.attributes()), exporter_(exporter) {}

  const Op& op() const { return op_; }
  const AttributeReader& attributes() const { return attributes_; }
  Exporter& exporter() { return exporter_; }
  unsigned num_inputs() const { return static_cast<unsigned>(op_.operands().size()); }
  const Type& type(unsigned input) const { return op_.operands()[input]->type(); }
  const Type& result(unsigned index = 0) const { return op_.result(index)->type(); }
  DType dtype() const { return result().dtype; }
  /// The dim of an attribute `axis`, counted from the first one.
  int64_t Axis(llvm::StringRef name, unsigned rank) const;
  /// The axes of an attribute that is a list; all axes if it is empty.
  std::vector<int64_t> Axes(llvm::StringRef name, unsigned rank) const;
  /// The operator's name in ONNX, OpProperties::onnx_name.
  llvm::StringRef OnnxName() const { return op_.def().properties().onnx_name; }
  /// The position of an input by its name; nullopt if it is omitted.
  std::optional<unsigned> Find(llvm::StringRef name) const;

  /// An operand, cast to `dtype` if it has another one.
  std::string In(unsigned input) const { return exporter_.NameOf(op_.operands()[input]); }
  std::string In(unsigned input, DType dtype);
  /// Casts a result that was computed in `from` to the result's own dtype.
  std::string Out(std::string name, DType from, unsigned index = 0);

  std::string Node(llvm::StringRef type, llvm::ArrayRef<std::string> inputs,
                   llvm::ArrayRef<OnnxAttribute> attributes = {});
  std::vector<std::string> Nodes(llvm::StringRef type, llvm::ArrayRef<std::string> inputs,
                                 llvm::ArrayRef<OnnxAttribute> attributes, unsigned outputs);
  std::string Cast(const std::string& name, DType to);
  std::string Scalar(double value, DType dtype);
  /// An i64 scalar.
  std::string Integer(int64_t value) {
    return exporter_.AddConstant(pdl::Constant::Copy(DType::kI64, {}, &value));
  }
  /// Zeros of sizes that are an i64 vector.
  std::string Zeros(DType dtype, const std::string& sizes);
  std::string Ints(llvm::ArrayRef<int64_t> values) { return exporter_.AddInts(values); }
  std::string Constant(const pdl::Constant& value) { return exporter_.AddConstant(value); }
  llvm::Expected<std::string> Size(const Dim& dim) { return exporter_.SizeOf(dim); }
  llvm::Expected<std::string> Sizes(llvm::ArrayRef<Dim> dims) { return exporter_.SizesOf(dims); }
  /// A size as a scalar of any dtype.
  llvm::Expected<std::string> Number(const Dim& dim, DType dtype);
  /// `name` reshaped to the dims `to`; its current dims are `from`.
  llvm::Expected<std::string> Reshape(const std::string& name, llvm::ArrayRef<Dim> from,
                                      llvm::ArrayRef<Dim> to);
  /// The elements of `x` where `condition` is true, else those of `y`; both have `dtype`.
  std::string Where(const std::string& condition, const std::string& x, const std::string& y,
                    DType dtype);
  std::string Transpose(const std::string& name, llvm::ArrayRef<int64_t> perm);
  std::string Unsqueeze(const std::string& name, llvm::ArrayRef<int64_t> axes);
  std::string Squeeze(const std::string& name, llvm::ArrayRef<int64_t> axes);
  std::string Reduce(llvm::StringRef type, const std::string& name, llvm::ArrayRef<int64_t> axes,
                     bool keep);
  /// The dims as numbers; an Error if one is a symbol.
  llvm::Expected<std::vector<int64_t>> Fixed(llvm::ArrayRef<Dim> dims, llvm::StringRef what) const;
  /// Rejects the call with the feature that ONNX lacks.
  llvm::Error Reject(const llvm::Twine& reason) const;

 private:
  const Op& op_;
  AttributeReader attributes_;
  Exporter& exporter_;
};

/// Exports the calls of an operator.
struct ExportRule {
  llvm::StringRef op;
  llvm::Expected<ExportedNames> (*rule)(ExportCall& call);
};

/// The rules of the families, each in the file of its name.
llvm::ArrayRef<ExportRule> ElementwiseExportRules();
llvm::ArrayRef<ExportRule> ActivationExportRules();
llvm::ArrayRef<ExportRule> IntegerExportRules();
llvm::ArrayRef<ExportRule> ReductionExportRules();
llvm::ArrayRef<ExportRule> ShapeExportRules();
llvm::ArrayRef<ExportRule> ConstantExportRules();
llvm::ArrayRef<ExportRule> IndexExportRules();
llvm::ArrayRef<ExportRule> ProductExportRules();
llvm::ArrayRef<ExportRule> WindowExportRules();
llvm::ArrayRef<ExportRule> PoolExportRules();
llvm::ArrayRef<ExportRule> NormalizationExportRules();
llvm::ArrayRef<ExportRule> LossExportRules();
llvm::ArrayRef<ExportRule> LoopExportRules();

/// The rule for operators that map to one ONNX operator by `onnx_name`.
const ExportRule& SameNameExportRule();

/// The rule of an operator: that of its family, or the one for its `onnx_name`; null if ONNX has no
/// counterpart.
const ExportRule* FindExportRule(const OpDef& def);

/// Maps a dtype to one that ONNX Runtime computes in on a CPU. If they differ, results are cast
/// back.
DType ComputeDType(DType dtype);
/// The dtype in which ONNX Runtime pads, repeats and gathers elements: f32 for bf16.
DType RepeatedDType(DType dtype);
/// ComputeDType, but f32 for f16: for sums of squares, which are soon too large for f16, and for
/// scattering with a reduction, which ONNX Runtime does not do in f16.
DType WideDType(DType dtype);

}  // namespace pdl

#endif  // PDL_ONNX_EXPORT_CALL_H_
