#ifndef PDL_IR_PROTO_CONVERT_H_
#define PDL_IR_PROTO_CONVERT_H_

#include <cstddef>

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/op/attribute.h"
#include "pdl/op/dim.h"
#include "pdl/op/type.h"
#include "proto/pdl.pb.h"

namespace pdl {

/// The maximum size of a stored network in bytes. Parsing takes about ten times as much memory, and
/// up to sixty times for malicious files.
inline constexpr size_t kMaxNetworkBytes = size_t{256} << 20;

/// The maximum nesting of calls in a stored dim, and its maximum cost.
inline constexpr unsigned kMaxDimDepth = 400;
inline constexpr size_t kMaxDimCost = 8192;
/// Returns an upper bound of the number of terms that building `desc` creates, with products
/// expanded, or more than kMaxDimCost if it is too large. The cost of a canonical dim is less than
/// its size in bytes.
size_t DimCost(const DimDesc& desc);

// Conversion of the parts of a Graph to messages. An Error says that a dim is too large to be
// stored.
llvm::Error DimToProto(const Dim& dim, DimDesc* out);
llvm::Error TypeToProto(const Type& type, TypeDesc* out);
llvm::Error AttributeToProto(const AttributeValue& value, Attribute* out);
inline DataType DTypeToProto(DType dtype) { return static_cast<DataType>(dtype); }

/// Reads messages of untrusted input: sizes, counts, enum values and depths are checked, and dims
/// are rebuilt. Every Error is a UserError that describes the error but not its position.
class ProtoReader {
 public:
  /// `dim_budget` is the maximum total cost of all dims; the length of the file suffices for any
  /// valid file.
  explicit ProtoReader(size_t dim_budget) : dim_budget_(dim_budget) {}

  /// Adds a known symbol.
  void AddSymbol(llvm::StringRef name);
  /// Subsequent dims may use known symbols only.
  void RequireKnownSymbols() { require_known_symbols_ = true; }
  bool IsKnownSymbol(llvm::StringRef name) const { return symbols_.contains(name); }
  /// Attributes may refer to blocks below this index.
  void set_num_blocks(size_t count) { num_blocks_ = count; }

  /// Reads a size, which must not be a ragged dim.
  llvm::Expected<Dim> ReadDim(const DimDesc& desc);
  /// Reads a type; no dim may be negative, and ragged dims must be in valid positions.
  llvm::Expected<Type> ReadType(const TypeDesc& desc);
  llvm::Expected<AttributeValue> ReadAttribute(const Attribute& attribute);
  static llvm::Expected<DType> ReadDType(int value);
  llvm::Expected<Constant> ReadTensor(const TensorValue& tensor);

 private:
  llvm::Expected<Dim> ReadDim(const DimDesc& desc, unsigned depth);
  llvm::Expected<Dim> ReadRaggedDim(const DimDesc& desc);
  llvm::Expected<Dim> ReadCall(const DimDesc::Call& call, unsigned depth);
  llvm::Expected<Shape> ReadShape(const google::protobuf::RepeatedPtrField<DimDesc>& dims);

  llvm::StringMap<Dim> symbols_;
  bool require_known_symbols_ = false;
  size_t dim_budget_;
  size_t num_blocks_ = 0;
  int64_t empty_rows_ = 0;  // of all tensors without elements
};

}  // namespace pdl

#endif  // PDL_IR_PROTO_CONVERT_H_
