// Sizes in an export: expressions over symbols become chains of nodes over shapes.
#include "ir/dim_polynomial.h"
#include "llvm/ADT/STLExtras.h"
#include "onnx/export/exporter.h"
#include "pdl/op/error.h"

namespace pdl {

void Exporter::LearnSizes(const Type& type, const std::string& name) {
  for (unsigned axis = 0; axis < type.rank(); ++axis) {
    const Dim& dim = type.dims[axis];
    if (dim.is_constant() || dim.is_ragged()) continue;
    const SizeSource source{name, axis};
    if (!dim.symbol().empty()) {
      known_.sources.try_emplace(dim.symbol(), source);
    } else {
      known_.composed.emplace_back(dim, source);
    }
  }
}

std::string Exporter::Arithmetic(llvm::StringRef type, const std::string& a, const std::string& b) {
  return AddNode(type, {a, b}, {}, 1).front();
}

/// The size that a symbol stands for, as i64[1].
llvm::Expected<std::string> Exporter::Symbol(llvm::StringRef symbol) {
  const auto read = [&](const SizeSource& source) {
    return AddNode("Shape", {source.value},
                   {{"start", int64_t{source.axis}}, {"end", int64_t{source.axis} + 1}}, 1)
        .front();
  };
  if (const auto found = known_.sources.find(symbol); found != known_.sources.end())
    return read(found->second);
  // A known size such as 8*H + 1 is a linear function of H, and can be solved for H.
  for (const auto& [dim, source] : known_.composed) {
    std::optional<std::string> only;
    bool is_alone = true;
    dim.ForEachSymbol([&](llvm::StringRef name) {
      is_alone &= !only || *only == name;
      only = name.str();
    });
    if (!is_alone || !only || *only != symbol) continue;
    const auto at = [&](int64_t value) {
      return dim.Evaluate([&](llvm::StringRef) -> std::optional<int64_t> { return value; });
    };
    llvm::Expected<int64_t> zero = at(0), one = at(1), two = at(2);
    if (!zero || !one || !two) {
      llvm::consumeError(zero.takeError());
      llvm::consumeError(one.takeError());
      llvm::consumeError(two.takeError());
      continue;
    }
    const int64_t slope = *one - *zero;
    if (slope == 0 || *two - *one != slope || !(dim == Dim(slope) * Dim::Symbol(symbol) + *zero))
      continue;
    std::string size = read(source);
    if (*zero != 0) size = Arithmetic("Sub", size, AddInts({*zero}));
    if (slope != 1) size = Arithmetic("Div", size, AddInts({slope}));
    return size;
  }
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 "no value before it has the size " + symbol);
}

llvm::Expected<std::string> Exporter::SizeOf(const Dim& dim) {
  if (dim.is_constant()) return AddInts({dim.constant()});
  const std::string key = dim.ToString();
  if (const auto found = known_.sizes.find(key); found != known_.sizes.end()) return found->second;
  // A value may have exactly this size.
  for (const auto& [known, source] : known_.composed) {
    if (!(known == dim)) continue;
    return known_.sizes[key] =
               AddNode("Shape", {source.value},
                       {{"start", int64_t{source.axis}}, {"end", int64_t{source.axis} + 1}}, 1)
                   .front();
  }
  const auto atom_of = [&](const DimAtom& atom) -> llvm::Expected<std::string> {
    if (atom.kind == DimAtom::Kind::kSymbol) return Symbol(atom.symbol);
    llvm::Expected<std::string> a = SizeOf(atom.a);
    if (!a) return a.takeError();
    llvm::Expected<std::string> b = SizeOf(atom.b);
    if (!b) return b.takeError();
    switch (atom.kind) {
      case DimAtom::Kind::kMod:
        return Arithmetic("Mod", *a, *b);  // has the sign of b, as here
      case DimAtom::Kind::kMin:
        return Arithmetic("Min", *a, *b);
      case DimAtom::Kind::kMax:
        return Arithmetic("Max", *a, *b);
      default:
        // Div rounds towards 0.
        if (atom.a.ProvablyAtLeast(0) && atom.b.ProvablyAtLeast(0))
          return Arithmetic("Div", *a, *b);
        return Arithmetic("Div", Arithmetic("Sub", *a, Arithmetic("Mod", *a, *b)), *b);
    }
  };
  std::string sum;
  for (const DimTerm& term : dim.polynomial()->terms) {
    std::string product;
    for (const auto& [atom, power] : term.factors) {
      llvm::Expected<std::string> value = atom_of(*atom);
      if (!value) return value.takeError();
      for (unsigned i = 0; i < power; ++i)
        product = product.empty() ? *value : Arithmetic("Mul", product, *value);
    }
    if (product.empty()) {
      product = AddInts({term.coefficient});
    } else if (term.coefficient != 1) {
      product = Arithmetic("Mul", product, AddInts({term.coefficient}));
    }
    sum = sum.empty() ? product : Arithmetic("Add", sum, product);
  }
  return known_.sizes[key] = sum;
}

llvm::Expected<std::string> Exporter::SizesOf(llvm::ArrayRef<Dim> dims) {
  const auto is_known = [](const Dim& dim) { return dim.is_constant(); };
  if (llvm::all_of(dims, is_known)) {
    std::vector<int64_t> sizes;
    for (const Dim& dim : dims) sizes.push_back(dim.constant());
    return AddInts(sizes);
  }
  std::vector<std::string> parts;
  for (const Dim& dim : dims) {
    llvm::Expected<std::string> size = SizeOf(dim);
    if (!size) return size.takeError();
    parts.push_back(*size);
  }
  if (parts.size() == 1) return parts.front();
  return AddNode("Concat", parts, {{"axis", int64_t{0}}}, 1).front();
}

}  // namespace pdl
