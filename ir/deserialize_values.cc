// Dims, types and attributes from messages in untrusted input.
#include <algorithm>

#include "ir/proto_convert.h"
#include "pdl/op/error.h"

namespace pdl {
namespace {

/// The maximum number of dims of a tensor and of a shape attribute.
constexpr int kMaxRank = 64;
/// The maximum number of rows of all tensors that have no elements: as many as the items of lists
/// that a source may have.
constexpr int64_t kMaxEmptyRows = 5'000'000;

template <typename... Args>
llvm::Error Broken(const char* format, Args&&... args) {
  return MakeUserError(Code::kBadNetwork, format, std::forward<Args>(args)...);
}

/// Adds or multiplies in a balanced tree, so that a long sum is not built term by term.
Dim Reduce(llvm::SmallVector<Dim, 4> dims, DimDesc::Call::Function function) {
  while (dims.size() > 1) {
    size_t half = 0;
    for (size_t i = 0; i + 1 < dims.size(); i += 2)
      dims[half++] = function == DimDesc::Call::SUM ? dims[i] + dims[i + 1] : dims[i] * dims[i + 1];
    if (dims.size() % 2 != 0) dims[half++] = dims.back();
    dims.truncate(half);
  }
  return dims[0];
}

template <typename Values, typename Read>
auto ReadList(const Values& values, Read read) -> llvm::Expected<AttributeValue> {
  using Element = std::decay_t<decltype(*read(*values.begin()))>;
  std::vector<Element> result;
  for (const auto& value : values) {
    auto element = read(value);
    if (!element) return element.takeError();
    result.push_back(std::move(*element));
  }
  return AttributeValue(std::move(result));
}

struct Extent {
  size_t terms;
  size_t cost;
};

Extent ExtentOf(const DimDesc& desc, unsigned depth) {
  constexpr size_t kMaxTerms = 1024;
  constexpr Extent kTooLarge{kMaxTerms, kMaxDimCost + 1};
  if (!desc.has_call()) return {1, 1};
  if (depth >= kMaxDimDepth) return kTooLarge;
  Extent all{desc.call().function() == DimDesc::Call::PRODUCT ? 1u : 0u, 0};
  for (const DimDesc& operand : desc.call().operands()) {
    Extent extent = ExtentOf(operand, depth + 1);
    all.cost += extent.cost;
    if (desc.call().function() == DimDesc::Call::SUM) all.terms += extent.terms;
    if (desc.call().function() == DimDesc::Call::PRODUCT) all.terms *= extent.terms;
    if (all.terms > kMaxTerms || all.cost > kMaxDimCost) return kTooLarge;
  }
  // Other functions are atoms: a single term.
  all.terms = std::max<size_t>(all.terms, 1);
  return {all.terms, all.cost + all.terms};
}

}  // namespace

size_t DimCost(const DimDesc& desc) { return ExtentOf(desc, 0).cost; }

void ProtoReader::AddSymbol(llvm::StringRef name) {
  if (!symbols_.contains(name)) symbols_.try_emplace(name, Dim::Symbol(name));
}

llvm::Expected<Dim> ProtoReader::ReadDim(const DimDesc& desc) {
  if (desc.has_call()) {
    size_t cost = DimCost(desc);
    if (cost > kMaxDimCost || cost > dim_budget_)
      return Broken("the expression of a size is too large");
    dim_budget_ -= cost;
  }
  return ReadDim(desc, 0);
}

llvm::Expected<Dim> ProtoReader::ReadDim(const DimDesc& desc, unsigned depth) {
  if (desc.ragged()) return Broken("a ragged dim where a size is required");
  switch (desc.value_case()) {
    case DimDesc::kConstant:
      return Dim(desc.constant());
    case DimDesc::kSymbol: {
      if (desc.symbol().empty()) return Broken("a size is a symbol with an empty name");
      if (desc.symbol()[0] == '~') return Broken("a size is a symbol with an invalid name");
      if (auto known = symbols_.find(desc.symbol()); known != symbols_.end()) return known->second;
      if (require_known_symbols_)
        return Broken("no input introduces the symbol '{0}'", desc.symbol());
      AddSymbol(desc.symbol());
      return symbols_.find(desc.symbol())->second;
    }
    case DimDesc::kCall:
      if (depth >= kMaxDimDepth) return Broken("a size is nested too deeply");
      return ReadCall(desc.call(), depth + 1);
    case DimDesc::VALUE_NOT_SET:
      break;
  }
  return Broken("a size has no value");
}

llvm::Expected<Dim> ProtoReader::ReadCall(const DimDesc::Call& call, unsigned depth) {
  llvm::SmallVector<Dim, 4> operands;
  for (const DimDesc& operand : call.operands()) {
    llvm::Expected<Dim> dim = ReadDim(operand, depth);
    if (!dim) return dim;
    operands.push_back(std::move(*dim));
  }
  bool is_variadic =
      call.function() == DimDesc::Call::SUM || call.function() == DimDesc::Call::PRODUCT;
  if (is_variadic ? operands.empty() : operands.size() != 2)
    return Broken("a size has a function of {0} operands", operands.size());
  Dim result;
  switch (call.function()) {
    case DimDesc::Call::SUM:
    case DimDesc::Call::PRODUCT:
      result = Reduce(std::move(operands), call.function());
      break;
    case DimDesc::Call::FLOOR_DIV:
      result = Dim::FloorDiv(operands[0], operands[1]);
      break;
    case DimDesc::Call::MOD:
      result = Dim::Mod(operands[0], operands[1]);
      break;
    case DimDesc::Call::MIN:
      result = Dim::Min(operands[0], operands[1]);
      break;
    case DimDesc::Call::MAX:
      result = Dim::Max(operands[0], operands[1]);
      break;
    default:
      return Broken("a size has an unknown function ({0})", static_cast<int>(call.function()));
  }
  if (!result.is_valid()) return Broken("a size overflows 64 bits or divides by zero");
  return result;
}

llvm::Expected<Dim> ProtoReader::ReadRaggedDim(const DimDesc& desc) {
  if (desc.value_case() != DimDesc::kSymbol || desc.symbol().empty())
    return Broken("a ragged dim is not a symbol");
  const std::string name = "~" + desc.symbol();
  if (auto known = symbols_.find(name); known != symbols_.end()) return known->second;
  if (require_known_symbols_) return Broken("no input introduces the ragged dim '{0}'", name);
  AddSymbol(name);
  return symbols_.find(name)->second;
}

llvm::Expected<Shape> ProtoReader::ReadShape(
    const google::protobuf::RepeatedPtrField<DimDesc>& dims) {
  if (dims.size() > kMaxRank) return Broken("a shape has {0} dims", dims.size());
  Shape shape;
  for (const DimDesc& desc : dims) {
    // Calls that create tensors also accept ragged dims.
    llvm::Expected<Dim> dim = desc.ragged() ? ReadRaggedDim(desc) : ReadDim(desc);
    if (!dim) return dim.takeError();
    shape.push_back(std::move(*dim));
  }
  return shape;
}

llvm::Expected<DType> ProtoReader::ReadDType(int value) {
  if (value < 1 || value >= kNumDTypes) return Broken("there is no dtype {0}", value);
  return static_cast<DType>(value);
}

llvm::Expected<Type> ProtoReader::ReadType(const TypeDesc& desc) {
  llvm::Expected<DType> dtype = ReadDType(desc.dtype());
  if (!dtype) return dtype.takeError();
  if (desc.dims_size() > kMaxRank) return Broken("a shape has {0} dims", desc.dims_size());
  Type type(*dtype, {});
  for (const DimDesc& dim_desc : desc.dims()) {
    llvm::Expected<Dim> dim = dim_desc.ragged() ? ReadRaggedDim(dim_desc) : ReadDim(dim_desc);
    if (!dim) return dim.takeError();
    type.dims.push_back(std::move(*dim));
  }
  for (const Dim& dim : type.dims)
    if (dim.is_constant() ? dim.constant() < 0 : dim.ProvablyAtMost(-1))
      return Broken("a size is negative: {0}", dim.ToString());
  if (desc.storage() == SPARSE) {
    type.storage = Storage::kSparse;
  } else if (desc.storage() != DENSE) {
    return Broken("there is no storage {0}", static_cast<int>(desc.storage()));
  }
  if (const std::string fault = type.Fault(); !fault.empty()) return Broken("{0}", fault);
  if (desc.has_index_bound()) {
    llvm::Expected<Dim> bound = ReadDim(desc.index_bound());
    if (!bound) return bound.takeError();
    if (!IsInteger(*dtype)) return Broken("an index bound on {0}", DTypeName(*dtype));
    if (bound->ProvablyAtMost(-1)) return Broken("a negative index bound");
    type.index_bound = std::move(*bound);
  }
  return type;
}

llvm::Expected<Constant> ProtoReader::ReadTensor(const TensorValue& tensor) {
  llvm::Expected<DType> dtype = ReadDType(tensor.dtype());
  if (!dtype) return dtype.takeError();
  if (tensor.sizes_size() > kMaxRank) return Broken("a tensor has {0} dims", tensor.sizes_size());
  // The product of the nonzero sizes must also fit: strides are computed from it.
  int64_t bytes = DTypeSize(*dtype), rows = 1;
  bool is_empty = false, overflow = false;
  for (int64_t size : tensor.sizes()) {
    if (size < 0) return Broken("a tensor has the size {0}", size);
    is_empty |= size == 0;
    if (size != 0) overflow |= __builtin_mul_overflow(bytes, size, &bytes);
    if (!is_empty && !overflow) rows *= size;
  }
  if (overflow) return Broken("the sizes of a tensor overflow");
  // Otherwise a short file would become a long source, in which each row is a list.
  if (is_empty && (rows > kMaxEmptyRows || (empty_rows_ += rows) > kMaxEmptyRows))
    return Broken("tensors without elements have more than {0} rows", kMaxEmptyRows);
  if (is_empty) bytes = 0;
  if (tensor.data().size() != static_cast<size_t>(bytes))
    return Broken("a tensor has {0} bytes where its sizes need {1}", tensor.data().size(), bytes);
  if (*dtype == DType::kBool && std::any_of(tensor.data().begin(), tensor.data().end(),
                                            [](char byte) { return byte != 0 && byte != 1; }))
    return Broken("a bool is neither 0 nor 1");
  return Constant::Copy(*dtype, {tensor.sizes().data(), static_cast<size_t>(tensor.sizes_size())},
                        tensor.data().data());
}

llvm::Expected<AttributeValue> ProtoReader::ReadAttribute(const Attribute& attribute) {
  switch (attribute.value_case()) {
    case Attribute::kInt:
      return AttributeValue(int64_t{attribute.int_()});
    case Attribute::kFloat:
      return AttributeValue(attribute.float_());
    case Attribute::kString:
      return AttributeValue(attribute.string());
    case Attribute::kBool:
      return AttributeValue(attribute.bool_());
    case Attribute::kDtype: {
      llvm::Expected<DType> dtype = ReadDType(attribute.dtype());
      if (!dtype) return dtype.takeError();
      return AttributeValue(*dtype);
    }
    case Attribute::kShape: {
      llvm::Expected<Shape> shape = ReadShape(attribute.shape().dims());
      if (!shape) return shape.takeError();
      return AttributeValue(std::move(*shape));
    }
    case Attribute::kTensor: {
      llvm::Expected<Constant> tensor = ReadTensor(attribute.tensor());
      if (!tensor) return tensor.takeError();
      return AttributeValue(std::move(*tensor));
    }
    case Attribute::kBlock:
      if (attribute.block() == 0 || attribute.block() >= num_blocks_)
        return Broken("there is no block {0} to call", attribute.block());
      return AttributeValue(BlockId{attribute.block()});
    case Attribute::kInts: {
      const auto& values = attribute.ints().values();
      return AttributeValue(std::vector<int64_t>(values.begin(), values.end()));
    }
    case Attribute::kFloats: {
      const auto& values = attribute.floats().values();
      return AttributeValue(std::vector<double>(values.begin(), values.end()));
    }
    case Attribute::kStrings: {
      const auto& values = attribute.strings().values();
      return AttributeValue(std::vector<std::string>(values.begin(), values.end()));
    }
    case Attribute::kBools: {
      const auto& values = attribute.bools().values();
      return AttributeValue(std::vector<bool>(values.begin(), values.end()));
    }
    case Attribute::kDtypes:
      return ReadList(attribute.dtypes().values(), [](int value) { return ReadDType(value); });
    case Attribute::kShapes:
      return ReadList(attribute.shapes().values(),
                      [&](const Dims& value) { return ReadShape(value.dims()); });
    case Attribute::kTensors:
      return ReadList(attribute.tensors().values(),
                      [this](const TensorValue& value) { return ReadTensor(value); });
    case Attribute::kSource:
      return Broken("source, which only calls of layers have");
    case Attribute::VALUE_NOT_SET:
      break;
  }
  return AttributeValue();
}

}  // namespace pdl
