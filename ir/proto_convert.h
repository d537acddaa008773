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

/// The largest stored network. Parsing takes some ten times as much memory, a hostile file up to
/// sixty times.
inline constexpr size_t kMaxNetworkBytes = size_t{256} << 20;

/// The most nested calls in a stored dim, and the most work that one may be.
inline constexpr unsigned kMaxDimDepth = 400;
inline constexpr size_t kMaxDimCost = 8192;
/// An upper bound of the terms that building `desc` goes through, products multiplied out; more
/// than kMaxDimCost where it is too much. A canonical dim costs less than it has bytes.
size_t DimCost(const DimDesc& desc);

// What a Graph is made of, as messages. An Error says that a dim is too large an expression to be
// stored.
llvm::Error DimToProto(const Dim& dim, DimDesc* out);
llvm::Error TypeToProto(const Type& type, TypeDesc* out);
llvm::Error AttributeToProto(const AttributeValue& value, Attribute* out);
inline DataType DTypeToProto(DType dtype) { return static_cast<DataType>(dtype); }

/// Reads messages that nobody vouches for: sizes, counts, enum values and depths are checked, dims
/// are built again. Every Error is a UserError that says what is wrong with the value, not where it
/// stands.
class ProtoReader {
 public:
  /// `dim_budget`: what all dims together may cost; a file's own length is enough for honest ones.
  explicit ProtoReader(size_t dim_budget) : dim_budget_(dim_budget) {}

  /// Makes the symbol known.
  void AddSymbol(llvm::StringRef name);
  /// From now on dims may use known symbols only.
  void RequireKnownSymbols() { require_known_symbols_ = true; }
  bool IsKnownSymbol(llvm::StringRef name) const { return symbols_.contains(name); }
  /// Attributes may name blocks below this.
  void set_num_blocks(size_t count) { num_blocks_ = count; }

  /// A size; a ragged dim is none.
  llvm::Expected<Dim> ReadDim(const DimDesc& desc);
  /// No dim is negative, and ragged ones are in their place.
  llvm::Expected<Type> ReadType(const TypeDesc& desc);
  llvm::Expected<AttributeValue> ReadAttribute(const Attribute& attribute);
  static llvm::Expected<DType> ReadDType(int value);
  static llvm::Expected<Constant> ReadTensor(const TensorValue& tensor);

 private:
  llvm::Expected<Dim> ReadDim(const DimDesc& desc, unsigned depth);
  llvm::Expected<Dim> ReadRaggedDim(const DimDesc& desc);
  llvm::Expected<Dim> ReadCall(const DimDesc::Call& call, unsigned depth);
  llvm::Expected<Shape> ReadShape(const google::protobuf::RepeatedPtrField<DimDesc>& dims);

  llvm::StringMap<Dim> symbols_;
  bool require_known_symbols_ = false;
  size_t dim_budget_;
  size_t num_blocks_ = 0;
};

}  // namespace pdl

#endif  // PDL_IR_PROTO_CONVERT_H_
