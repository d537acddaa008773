#include "frontend/elaborate/datum.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "frontend/elaborate/function.h"
#include "ir/emit_text.h"
#include "ir/round_to_odd.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/op/half.h"

namespace pdl {
namespace {

/// The length of a value in a message.
constexpr size_t kMaxShown = 40;

}  // namespace

std::optional<Dim> Datum::dim() const {
  if (const auto* v = get<int64_t>()) return Dim(*v);
  if (const auto* v = get<Dim>()) return *v;
  return std::nullopt;
}

std::optional<double> Datum::number() const {
  if (const auto* v = get<int64_t>()) return static_cast<double>(*v);
  if (const auto* v = get<Real>()) return v->value;
  return std::nullopt;
}

DatumList::DatumList(std::vector<Datum> items_in, std::shared_ptr<uint64_t> live)
    : items(std::move(items_in)), live_(std::move(live)) {
  if (live_ != nullptr) *live_ += items.size();
  for (const Datum& item : items) {
    if (__builtin_add_overflow(extent, item.extent(), &extent)) extent = UINT64_MAX;
    depth = std::max(depth, item.depth() + 1);
    if (const auto* list = item.get<Datum::List>()) {
      const DatumList& inner = **list;
      all_literal &= inner.all_literal;
      any_tensor |= inner.any_tensor;
      any_poison |= inner.any_poison;
      any_real |= inner.any_real;
      any_bool |= inner.any_bool;
      any_leaf |= inner.any_leaf;
      continue;
    }
    all_literal &= item.is_literal();
    any_tensor |= item.tensor() != nullptr;
    any_poison |= item.is_poison();
    any_real |= item.is<Datum::Real>();
    any_bool |= item.is<bool>();
    any_leaf = true;
  }
}

DatumList::~DatumList() {
  if (live_ != nullptr) *live_ -= items.size();
}

Datum::Datum(std::vector<Datum> items)
    : value(std::make_shared<const DatumList>(std::move(items))) {}

unsigned Datum::depth() const {
  if (const auto* items = get<List>()) return (*items)->depth;
  if (const auto* function = get<FunctionValue>()) return *function ? (*function)->depth : 0;
  const auto* record = get<Record>();
  return record != nullptr && (*record)->init != nullptr ? (*record)->init->depth : 0;
}

bool Datum::is_literal() const {
  if (const auto* items = get<List>()) return (*items)->all_literal;
  return is<int64_t>() || is<Real>() || is<bool>();
}

bool Datum::holds_tensor() const {
  const auto* items = get<List>();
  return items != nullptr ? (*items)->any_tensor : tensor() != nullptr;
}

bool Datum::holds_poison() const {
  const auto* items = get<List>();
  return items != nullptr ? (*items)->any_poison : is_poison();
}

std::string Datum::Phrase() const {
  if (const auto* v = get<int64_t>()) return "the int " + std::to_string(*v);
  if (const auto* v = get<Real>()) return "the float " + FloatToString(v->value);
  if (const auto* v = get<bool>()) return *v ? "true" : "false";
  if (const auto* v = get<llvm::StringRef>())
    return "the string \"" + Shorten(v->str(), kMaxShown) + "\"";
  if (const auto* v = get<DType>()) return "the dtype " + DTypeName(*v).str();
  if (const auto* v = get<Dim>()) return "the size " + Shorten(v->ToString(), kMaxShown);
  if (is<None>()) return "none";
  if (is<FunctionValue>()) return "a function";
  if (is<Record>()) return "a record";
  if (tensor() != nullptr) return "a tensor";
  return "a list";
}

namespace {

// Pairs of lists that were compared already: lists may share lists at every depth.
using ComparedLists = llvm::DenseSet<std::pair<const DatumList*, const DatumList*>>;

bool IsSame(const Datum& a, const Datum& b, ComparedLists& compared) {
  if (a.value.index() != b.value.index()) return false;
  return std::visit(
      [&](const auto& left) -> bool {
        using T = std::decay_t<decltype(left)>;
        const T& right = std::get<T>(b.value);
        if constexpr (std::is_same_v<T, Datum::Poison> || std::is_same_v<T, Datum::None>) {
          return true;
        } else if constexpr (std::is_same_v<T, Datum::Real>) {
          return left.value == right.value || (std::isnan(left.value) && std::isnan(right.value));
        } else if constexpr (std::is_same_v<T, Datum::List>) {
          if (left == right || !compared.insert({left.get(), right.get()}).second) return true;
          return left->extent == right->extent && left->items.size() == right->items.size() &&
                 llvm::all_of(llvm::zip(left->items, right->items), [&](const auto& pair) {
                   return IsSame(std::get<0>(pair), std::get<1>(pair), compared);
                 });
        } else {
          return left == right;
        }
      },
      a.value);
}

}  // namespace

bool IsSame(const Datum& a, const Datum& b) {
  ComparedLists compared;
  return IsSame(a, b, compared);
}

Datum FromAttribute(const AttributeValue& value) {
  return std::visit(
      [](const auto& v) -> Datum {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return Datum::NoneValue();
        } else if constexpr (std::is_same_v<T, double>) {
          return Datum(Datum::Real{v});
        } else if constexpr (std::is_same_v<T, std::string>) {
          return Datum(llvm::StringRef(v));
        } else if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, bool> ||
                             std::is_same_v<T, DType>) {
          return Datum(v);
        } else if constexpr (std::is_same_v<T, std::vector<bool>>) {
          std::vector<Datum> items;
          items.reserve(v.size());
          for (bool item : v) items.push_back(Datum(item));
          return Datum(std::move(items));
        } else if constexpr (std::is_same_v<T, Constant> || std::is_same_v<T, BlockId> ||
                             std::is_same_v<T, std::vector<Constant>>) {
          return Datum();
        } else {  // a list, or a shape, which is a list of dims
          std::vector<Datum> items;
          items.reserve(v.size());
          for (const auto& item : v) {
            if constexpr (std::is_same_v<T, Shape>) {
              items.push_back(Datum(item));
            } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
              items.push_back(Datum(llvm::StringRef(item)));
            } else {
              items.push_back(FromAttribute(AttributeValue(item)));
            }
          }
          return Datum(std::move(items));
        }
      },
      value);
}

namespace {

template <typename T, typename F>
std::vector<T> Collect(const std::vector<Datum>& items, F get) {
  std::vector<T> list;
  list.reserve(items.size());
  for (const Datum& item : items) list.push_back(get(item));
  return list;
}

// "a list of ints", "an int".
std::string TypePhrase(const AttributeDecl& decl) {
  const std::string name = AttributeKindName(decl.kind).str();
  if (decl.is_list) return "a list of " + name + "s";
  return (decl.kind == AttributeKind::kInt ? "an " : "a ") + name;
}

llvm::Expected<AttributeValue> ToList(const std::vector<Datum>& items, const AttributeDecl& decl) {
  if (items.empty()) {
    switch (decl.kind) {
      case AttributeKind::kFloat:
        return std::vector<double>();
      case AttributeKind::kString:
        return std::vector<std::string>();
      case AttributeKind::kBool:
        return std::vector<bool>();
      case AttributeKind::kDType:
        return std::vector<DType>();
      default:
        return std::vector<int64_t>();
    }
  }
  auto all = [&](auto test) { return llvm::all_of(items, test); };
  if (all([](const Datum& d) { return d.is<int64_t>(); })) {
    return Collect<int64_t>(items, [](const Datum& d) { return *d.get<int64_t>(); });
  }
  if (all([](const Datum& d) { return d.dim().has_value(); })) {
    const std::vector<Dim> dims = Collect<Dim>(items, [](const Datum& d) { return *d.dim(); });
    return Shape(dims.begin(), dims.end());
  }
  if (all([](const Datum& d) { return d.number().has_value(); })) {
    return Collect<double>(items, [](const Datum& d) { return *d.number(); });
  }
  if (all([](const Datum& d) { return d.is<llvm::StringRef>(); })) {
    return Collect<std::string>(items,
                                [](const Datum& d) { return d.get<llvm::StringRef>()->str(); });
  }
  if (all([](const Datum& d) { return d.is<bool>(); })) {
    return Collect<bool>(items, [](const Datum& d) { return *d.get<bool>(); });
  }
  if (all([](const Datum& d) { return d.is<DType>(); })) {
    return Collect<DType>(items, [](const Datum& d) { return *d.get<DType>(); });
  }
  // The remaining kinds are in no list of attributes.
  const Datum& first = items.front();
  const size_t kind = first.value.index();
  const bool is_only = all([&](const Datum& d) { return d.value.index() == kind; });
  if (!is_only) return DatumError("has items of different kinds");
  return DatumError("must be {0}, got a list of {1}", TypePhrase(decl),
                    first.list() != nullptr            ? "lists"
                    : first.is<Datum::FunctionValue>() ? "functions"
                    : first.is<Datum::Record>()        ? "records"
                                                       : first.Phrase());
}

}  // namespace

llvm::Expected<AttributeValue> ToAttribute(const Datum& datum, const AttributeDecl& decl,
                                           std::optional<DType> dtype) {
  if (datum.holds_tensor()) return DatumError("must be known at compile time, got a tensor");
  if (datum.is<Datum::None>()) return AttributeValue();
  if (decl.kind == AttributeKind::kTensor && !decl.is_list) {
    if (!datum.is_literal())
      return DatumError("must be a number or a list of numbers, got {0}", datum.Phrase());
    llvm::Expected<Constant> constant = ToConstant(datum, dtype ? *dtype : NaturalDType(datum));
    if (!constant) return DatumError("cannot hold this: {0}", llvm::toString(constant.takeError()));
    return AttributeValue(std::move(*constant));
  }
  if (const auto* items = datum.list()) {
    if (decl.kind == AttributeKind::kShape && decl.is_list) {
      std::vector<Shape> shapes;
      for (const Datum& item : *items) {
        llvm::Expected<AttributeValue> one = item.list() == nullptr
                                                 ? llvm::Expected<AttributeValue>(AttributeValue())
                                                 : ToList(*item.list(), decl);
        if (!one) return one.takeError();
        Shape shape;
        if (auto* dims = std::get_if<Shape>(&*one)) {
          shape = *dims;
        } else if (auto* ints = std::get_if<std::vector<int64_t>>(&*one)) {
          shape.append(ints->begin(), ints->end());
        } else {
          return DatumError("must be a list of shapes");
        }
        shapes.push_back(std::move(shape));
      }
      return AttributeValue(std::move(shapes));
    }
    return ToList(*items, decl);
  }
  // A single value is accepted as a list of one.
  const bool is_item = (decl.kind == AttributeKind::kInt && datum.is<int64_t>()) ||
                       (decl.kind == AttributeKind::kFloat && datum.number()) ||
                       (decl.kind == AttributeKind::kString && datum.is<llvm::StringRef>()) ||
                       (decl.kind == AttributeKind::kBool && datum.is<bool>());
  if (decl.is_list && is_item) return ToList({datum}, decl);
  if (const auto* v = datum.get<int64_t>()) return AttributeValue(*v);
  if (const auto* v = datum.get<Datum::Real>()) return AttributeValue(v->value);
  if (const auto* v = datum.get<bool>()) return AttributeValue(*v);
  if (const auto* v = datum.get<llvm::StringRef>()) return AttributeValue(v->str());
  if (const auto* v = datum.get<DType>()) return AttributeValue(*v);
  if (const auto* v = datum.get<Dim>()) {
    if (decl.kind == AttributeKind::kShape) return AttributeValue(Shape{*v});
    return DatumError("must be known at compile time, got the size {0}", v->ToString());
  }
  return DatumError("must be known at compile time");
}

DType NaturalDType(const Datum& literal) {
  if (const auto* list = literal.get<Datum::List>()) {
    if ((*list)->any_real || !(*list)->any_leaf) return DType::kF32;
    return (*list)->any_bool ? DType::kBool : DType::kI64;
  }
  return literal.is<Datum::Real>() ? DType::kF32 : literal.is<bool>() ? DType::kBool : DType::kI64;
}

namespace {

// Writes the leaves of a literal consecutively as elements of a dtype.
class ConstantWriter {
 public:
  ConstantWriter(DType dtype, size_t count) : dtype_(dtype) {
    bytes_.reserve(count * static_cast<size_t>(DTypeSize(dtype)));
  }

  llvm::Error Write(const Datum& leaf) {
    switch (dtype_) {
      case DType::kBool:
        if (const auto* v = leaf.get<bool>()) return Put(*v);
        return DatumError("{0} is not a bool", leaf.Phrase());
      case DType::kF16:
        return WriteHalf<float16>(leaf, 65520.0);
      case DType::kBF16:
        return WriteHalf<bfloat16>(leaf, 0x1.ffp127);
      case DType::kF32:
        return WriteFloat(leaf);
      case DType::kF64:
        if (std::optional<double> v = leaf.number()) return Put(*v);
        return DatumError("{0} is not an f64", leaf.Phrase());
      case DType::kI8:
        return WriteInteger<int8_t>(leaf);
      case DType::kI16:
        return WriteInteger<int16_t>(leaf);
      case DType::kI32:
        return WriteInteger<int32_t>(leaf);
      case DType::kI64:
        return WriteInteger<int64_t>(leaf);
      case DType::kU8:
        return WriteInteger<uint8_t>(leaf);
      case DType::kU16:
        return WriteInteger<uint16_t>(leaf);
      case DType::kU32:
        return WriteInteger<uint32_t>(leaf);
      case DType::kU64:
        return WriteInteger<uint64_t>(leaf);
    }
    return llvm::Error::success();
  }

  const char* bytes() const { return bytes_.data(); }

 private:
  template <typename T>
  llvm::Error Put(T value) {
    const char* begin = reinterpret_cast<const char*>(&value);
    bytes_.insert(bytes_.end(), begin, begin + sizeof value);
    return llvm::Error::success();
  }

  /// Numbers of at least `limit` round to infinity, so they do not fit.
  template <typename T>
  llvm::Error WriteHalf(const Datum& leaf, double limit) {
    const std::optional<double> value = leaf.number();
    if (!value) return DatumError("{0} is not of dtype {1}", leaf.Phrase(), DTypeName(dtype_));
    if (std::isfinite(*value) && std::fabs(*value) >= limit) return NoFit(leaf);
    return Put(T(RoundToOdd(*value)));
  }

  llvm::Error WriteFloat(const Datum& leaf) {
    std::optional<double> value = leaf.number();
    if (!value) return DatumError("{0} is not of dtype {1}", leaf.Phrase(), DTypeName(dtype_));
    // A literal is rounded once, not by way of f64.
    const auto* real = leaf.get<Datum::Real>();
    const auto* integer = leaf.get<int64_t>();
    const float rounded = real != nullptr && real->literal != nullptr ? real->literal->float32_value
                          : integer != nullptr                        ? static_cast<float>(*integer)
                                                                      : static_cast<float>(*value);
    if (std::isfinite(*value) && !std::isfinite(rounded)) return NoFit(leaf);
    return Put(rounded);
  }

  llvm::Error NoFit(const Datum& leaf) const {
    if (const auto* integer = leaf.get<int64_t>())
      return DatumError("{0} does not fit in {1}", *integer, DTypeName(dtype_));
    return DatumError("{0} does not fit in {1}", FloatToString(*leaf.number()), DTypeName(dtype_));
  }

  template <typename T>
  llvm::Error WriteInteger(const Datum& leaf) {
    const auto* v = leaf.get<int64_t>();
    if (v == nullptr)
      return DatumError("{0} is not of dtype {1}", leaf.Phrase(), DTypeName(dtype_));
    const bool fits =
        std::is_same_v<T, uint64_t>
            ? *v >= 0
            : *v >= static_cast<int64_t>(std::numeric_limits<T>::min()) &&
                  (sizeof(T) == 8 || *v <= static_cast<int64_t>(std::numeric_limits<T>::max()));
    if (!fits) return DatumError("{0} does not fit in {1}", *v, DTypeName(dtype_));
    return Put(static_cast<T>(*v));
  }

  DType dtype_;
  std::vector<char> bytes_;
};

llvm::Error WriteLeaves(const Datum& datum, llvm::ArrayRef<int64_t> sizes, ConstantWriter* writer) {
  const auto* items = datum.list();
  if (sizes.empty() != (items == nullptr))
    return DatumError("lists are mixed with values that are not lists");
  if (items != nullptr && static_cast<int64_t>(items->size()) != sizes.front())
    return DatumError("its rows differ in length");
  if (items == nullptr) return writer->Write(datum);
  for (const Datum& item : *items) {
    if (llvm::Error error = WriteLeaves(item, sizes.drop_front(), writer)) return error;
  }
  return llvm::Error::success();
}

}  // namespace

llvm::Expected<Constant> ToConstant(const Datum& literal, DType dtype) {
  llvm::SmallVector<int64_t, 4> sizes;
  size_t count = 1;
  for (const Datum* level = &literal; level->list() != nullptr; level = &level->list()->front()) {
    sizes.push_back(static_cast<int64_t>(level->list()->size()));
    count *= level->list()->size();
    if (level->list()->empty()) break;
  }
  ConstantWriter writer(dtype, std::min<size_t>(count, 1 << 20));
  if (llvm::Error error = WriteLeaves(literal, sizes, &writer)) return error;
  return Constant::Copy(dtype, sizes, writer.bytes());
}

}  // namespace pdl
