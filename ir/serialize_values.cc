// Conversion of dims, types and attributes to messages.
#include "ir/dim_polynomial.h"
#include "ir/proto_convert.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "pdl/op/error.h"

namespace pdl {
namespace {

/// The maximum size of a written dim. Atoms share their operands in memory but not in a message.
constexpr size_t kMaxNodes = 2 * kMaxDimCost;

class DimWriter {
 public:
  llvm::Error Write(const Dim& dim, DimDesc* out) {
    if (!dim.is_valid())
      return MakeUserError(Code::kDimOverflow, "a dim overflows 64 bits or divides by zero");
    Visit(dim, out);
    bool fits = nodes_ <= kMaxNodes && (!out->has_call() || DimCost(*out) <= kMaxDimCost);
    if (fits) return llvm::Error::success();
    return MakeUserError(Code::kDimOverflow, "the expression of a dim is too large to be stored");
  }

 private:
  void Visit(const Dim& dim, DimDesc* out) {
    if (++nodes_ > kMaxNodes) return;
    if (dim.is_constant()) return out->set_constant(dim.constant());
    const auto& terms = dim.polynomial()->terms;
    if (terms.size() == 1) return VisitTerm(terms[0], out);
    DimDesc::Call* sum = AddCall(DimDesc::Call::SUM, out);
    for (const DimTerm& term : terms) VisitTerm(term, sum->add_operands());
  }

  void VisitTerm(const DimTerm& term, DimDesc* out) {
    if (++nodes_ > kMaxNodes) return;
    if (term.factors.empty()) return out->set_constant(term.coefficient);
    bool is_atom = term.coefficient == 1 && term.factors.size() == 1 && term.factors[0].second == 1;
    if (is_atom) return VisitAtom(*term.factors[0].first, out);
    DimDesc::Call* product = AddCall(DimDesc::Call::PRODUCT, out);
    if (term.coefficient != 1) product->add_operands()->set_constant(term.coefficient);
    for (const auto& [atom, power] : term.factors) {
      for (unsigned i = 0; i < power && nodes_ <= kMaxNodes; ++i)
        VisitAtom(*atom, product->add_operands());
    }
  }

  void VisitAtom(const DimAtom& atom, DimDesc* out) {
    if (++nodes_ > kMaxNodes) return;
    if (atom.kind == DimAtom::Kind::kSymbol) {
      llvm::StringRef symbol = atom.symbol;
      out->set_ragged(symbol.consume_front("~"));
      return out->set_symbol(symbol.str());
    }
    DimDesc::Call* call = AddCall(FunctionOf(atom.kind), out);
    Visit(atom.a, call->add_operands());
    Visit(atom.b, call->add_operands());
  }

  static DimDesc::Call* AddCall(DimDesc::Call::Function function, DimDesc* out) {
    out->mutable_call()->set_function(function);
    return out->mutable_call();
  }

  static DimDesc::Call::Function FunctionOf(DimAtom::Kind kind) {
    switch (kind) {
      case DimAtom::Kind::kFloorDiv:
        return DimDesc::Call::FLOOR_DIV;
      case DimAtom::Kind::kMod:
        return DimDesc::Call::MOD;
      case DimAtom::Kind::kMin:
        return DimDesc::Call::MIN;
      case DimAtom::Kind::kMax:
        return DimDesc::Call::MAX;
      case DimAtom::Kind::kSymbol:
        break;
    }
    return DimDesc::Call::FUNCTION_UNSPECIFIED;
  }

  size_t nodes_ = 0;
};

llvm::Error ShapeToProto(llvm::ArrayRef<Dim> shape,
                         google::protobuf::RepeatedPtrField<DimDesc>* out) {
  for (const Dim& dim : shape)
    if (llvm::Error error = DimToProto(dim, out->Add())) return error;
  return llvm::Error::success();
}

void TensorToProto(const Constant& constant, TensorValue* out) {
  out->set_dtype(DTypeToProto(constant.dtype()));
  for (int64_t size : constant.sizes()) out->add_sizes(size);
  out->set_data(constant.data(), static_cast<size_t>(constant.num_bytes()));
}

/// Sets the field of `out` for the value's type.
struct AttributeWriter {
  Attribute* out;

  using Error = llvm::Error;
  static Error Done() { return llvm::Error::success(); }
  static Error NotUtf8() {
    return MakeUserError(Code::kBadNetwork, "a string that is not UTF-8 cannot be stored");
  }

  Error operator()(std::monostate) { return Done(); }
  Error operator()(int64_t value) { return out->set_int_(value), Done(); }
  Error operator()(double value) { return out->set_float_(value), Done(); }
  Error operator()(const std::string& value) {
    if (!llvm::json::isUTF8(value)) return NotUtf8();
    return out->set_string(value), Done();
  }
  Error operator()(bool value) { return out->set_bool_(value), Done(); }
  Error operator()(DType value) { return out->set_dtype(DTypeToProto(value)), Done(); }
  Error operator()(const Shape& value) {
    return ShapeToProto(value, out->mutable_shape()->mutable_dims());
  }
  Error operator()(const Constant& value) {
    return TensorToProto(value, out->mutable_tensor()), Done();
  }
  Error operator()(BlockId value) { return out->set_block(value.index), Done(); }
  Error operator()(const std::vector<int64_t>& values) {
    return out->mutable_ints()->mutable_values()->Add(values.begin(), values.end()), Done();
  }
  Error operator()(const std::vector<double>& values) {
    return out->mutable_floats()->mutable_values()->Add(values.begin(), values.end()), Done();
  }
  Error operator()(const std::vector<std::string>& values) {
    if (!llvm::all_of(values, [](const std::string& v) { return llvm::json::isUTF8(v); }))
      return NotUtf8();
    return out->mutable_strings()->mutable_values()->Add(values.begin(), values.end()), Done();
  }
  Error operator()(const std::vector<bool>& values) {
    return out->mutable_bools()->mutable_values()->Add(values.begin(), values.end()), Done();
  }
  Error operator()(const std::vector<DType>& values) {
    auto* list = out->mutable_dtypes();
    for (DType value : values) list->add_values(DTypeToProto(value));
    return Done();
  }
  Error operator()(const std::vector<Shape>& values) {
    auto* list = out->mutable_shapes();
    for (const Shape& value : values)
      if (Error error = ShapeToProto(value, list->add_values()->mutable_dims())) return error;
    return Done();
  }
  Error operator()(const std::vector<Constant>& values) {
    auto* list = out->mutable_tensors();
    for (const Constant& value : values) TensorToProto(value, list->add_values());
    return Done();
  }
};

}  // namespace

llvm::Error DimToProto(const Dim& dim, DimDesc* out) { return DimWriter().Write(dim, out); }

llvm::Error TypeToProto(const Type& type, TypeDesc* out) {
  out->set_dtype(DTypeToProto(type.dtype));
  out->set_storage(static_cast<StorageKind>(type.storage));
  if (llvm::Error error = ShapeToProto(type.dims, out->mutable_dims())) return error;
  if (!type.index_bound) return llvm::Error::success();
  return DimToProto(*type.index_bound, out->mutable_index_bound());
}

llvm::Error AttributeToProto(const AttributeValue& value, Attribute* out) {
  return std::visit(AttributeWriter{out}, value);
}

}  // namespace pdl
