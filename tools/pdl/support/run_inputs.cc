#include "tools/pdl/support/run_inputs.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "pdl/op/error.h"
#include "pdl/op/literal.h"
#include "pdl/runtime/io.h"
#include "runtime/random_value.h"
#include "tools/pdl/support/packed_input.h"
#include "tools/pdl/support/tensor_archive.h"

namespace pdl {
namespace {

std::vector<llvm::StringRef> InputNames(const Graph& graph) {
  std::vector<llvm::StringRef> names;
  for (const Value* input : graph.inputs()) names.push_back(input->name());
  return names;
}

const Value* FindInput(const Graph& graph, llvm::StringRef name) {
  for (const Value* input : graph.inputs())
    if (input->name() == name) return input;
  return nullptr;
}

/// The input that an array of an archive belongs to: the one of its name, or the ragged or sparse
/// one that it is a part of.
const Value* InputOfArray(const Graph& graph, llvm::StringRef array) {
  if (const Value* input = FindInput(graph, array)) return input;
  const Value* input = FindInput(graph, array.rsplit('.').first);
  if (input == nullptr || input->type().is_plain()) return nullptr;
  const bool is_part = llvm::any_of(
      PartsOf(input->name(), input->type()),
      [&](const PartType& part) { return PartName(input->name(), part.part) == array; });
  return is_part ? input : nullptr;
}

/// Whether the scope has a part of the input.
bool IsFed(const Value& input, const Scope& scope) {
  return llvm::any_of(PartsOf(input.name(), input.type()), [&](const PartType& part) {
    return scope.Find(PartName(input.name(), part.part)) != nullptr;
  });
}

llvm::Error NoSuchInput(const Graph& graph, llvm::StringRef name) {
  const Value* value = graph.FindValue(name);
  if (value != nullptr &&
      (value->kind() == ValueKind::kParameter || value->kind() == ValueKind::kState)) {
    return MakeUserError(Code::kSurplusInput,
                         "'{0}' is a {1}, not an input: load it with --weights", name,
                         value->kind() == ValueKind::kState ? "state" : "parameter");
  }
  const std::vector<llvm::StringRef> names = InputNames(graph);
  std::string help = DidYouMean(name, names);
  if (help.empty()) {
    help = names.empty() ? "; it has no inputs" : "; it has ";
    help += llvm::join(names, ", ");
  }
  return MakeUserError(Code::kSurplusInput, "the network has no input '{0}'{1}", name, help);
}

/// Puts the subject of an error in front of its message; keeps its code.
llvm::Error About(llvm::StringRef what, llvm::Error error) {
  return llvm::handleErrors(std::move(error), [&](const UserError& e) {
    return MakeUserError(e.code(), "{0}: {1}", what, e.text());
  });
}

}  // namespace

llvm::Error RunInputs::Add(llvm::StringRef argument) {
  if (!argument.contains('=') && IsArchive(argument)) {
    archives_.push_back(argument.str());
    return llvm::Error::success();
  }
  auto assignment = ParseAssignment(argument);
  if (!assignment) {
    llvm::consumeError(assignment.takeError());
    return MakeUsageError("expected NAME=VALUE or FILE.npz, got '{0}'", argument);
  }
  const auto [name, value] = *assignment;
  if (!value.ends_with(".npy") && !IsArchive(value) && value != "random" &&
      !LooksLikeLiteral(value)) {
    return MakeUsageError(
        "the value of '{0}' is a .npy, .npz or .safetensors file, a number, a list such as [1, 2], "
        "or the word random; got '{1}'",
        name, value);
  }
  if (!values_.emplace(name, value).second) return MakeUsageError("'{0}' is given twice", name);
  return llvm::Error::success();
}

/// The error for a size of --size whose name is none of the symbols of the network.
static llvm::Error NoSuchSymbol(const Graph& graph, llvm::ArrayRef<std::string> symbols,
                                llvm::StringRef name) {
  for (const Value* input : graph.inputs()) {
    const bool is_ragged = llvm::any_of(input->type().dims, [&](const Dim& dim) {
      return dim.is_ragged() && dim.symbol().drop_front() == name;
    });
    if (is_ragged) {
      return MakeUserError(
          Code::kUnknownName,
          "'{0}' is a ragged dim of the input '{1}', {2}: each row of its value has its own size",
          name, input->name(), input->type().ToString());
    }
  }
  const std::vector<llvm::StringRef> names(symbols.begin(), symbols.end());
  return MakeUserError(Code::kUnknownName, "the network has no symbol '{0}'{1}", name,
                       DidYouMean(name, names));
}

llvm::Error RunInputs::Feed(const Graph& graph, const CommonOptions& options, Scope* scope) {
  sizes_.clear();
  lengths_.clear();
  without_rows_.clear();
  columns_.clear();
  // Reports all errors at once.
  llvm::Error errors = llvm::Error::success();
  const std::vector<std::string> symbols = graph.Symbols();
  for (const auto& size : options.sizes) {
    if (llvm::is_contained(symbols, size.first())) continue;
    errors = llvm::joinErrors(std::move(errors), NoSuchSymbol(graph, symbols, size.first()));
  }
  std::vector<const Value*> random;
  for (const auto& [name, text] : values_) {
    const Value* input = FindInput(graph, name);
    if (input == nullptr) {
      errors = llvm::joinErrors(std::move(errors), NoSuchInput(graph, name));
    } else if (text == "random") {
      random.push_back(input);
    } else if (llvm::Error error = FeedOne(*input, text, scope)) {
      errors = llvm::joinErrors(std::move(errors), About("input '" + name + "'", std::move(error)));
    }
  }
  errors = llvm::joinErrors(std::move(errors), FeedArchives(graph, scope));
  errors = llvm::joinErrors(std::move(errors), FeedWithoutRows(options, scope));
  errors = llvm::joinErrors(std::move(errors), CheckColumns());
  if (samples_others_ && !errors)
    for (const Value* input : graph.inputs())
      if (values_.count(input->name()) == 0 && !IsFed(*input, *scope)) random.push_back(input);
  for (const Value* input : random)
    errors = llvm::joinErrors(std::move(errors), FeedRandom(*input, options, scope));
  for (const auto& size : options.sizes) {
    const int64_t fed = sizes_.try_emplace(size.first(), size.second).first->second;
    if (fed == size.second) continue;
    errors = llvm::joinErrors(
        std::move(errors),
        MakeUserError(Code::kSymbolConflict, "--size gives {0}={1}, but in the inputs it is {2}",
                      size.first(), size.second, fed));
  }
  return errors;
}

llvm::Error RunInputs::FeedPacked(const Value& input, llvm::StringRef text, Scope* scope) {
  const Type& type = input.type();
  if (text.ends_with(".npy")) {
    return MakeUserError(Code::kInputType,
                         "a value of {0} consists of several arrays: give a .npz file",
                         type.ToString());
  }
  if (IsArchive(text)) {
    llvm::Expected<PackedValue> value = ReadPacked(input.name(), type, text);
    if (!value) return value.takeError();
    return PutPacked(input, *value, text, scope);
  }
  llvm::Expected<PackedValue> value = ParsePackedLiteral(text, type);
  if (!value) return value.takeError();
  if (!type.is_sparse() && value->values.size(0) == 0) {
    without_rows_.emplace_back(&input, std::move(*value));
    return llvm::Error::success();
  }
  return PutPacked(input, *value, "the literal", scope);
}

llvm::Error RunInputs::FeedWithoutRows(const CommonOptions& options, Scope* scope) {
  llvm::Error errors = llvm::Error::success();
  for (auto& [input, value] : without_rows_) {
    Sizes sizes = {0};
    bool knows_all = true;
    const Shape packed = PackedDims(input->type().dims);
    for (const Dim& dim : llvm::drop_begin(packed)) {
      llvm::Expected<int64_t> size =
          dim.Evaluate([&](llvm::StringRef symbol) { return SizeOf(symbol, options); });
      sizes.push_back(size ? *size : 0);
      knows_all &= static_cast<bool>(size);
      llvm::consumeError(size.takeError());
    }
    llvm::Expected<Tensor> nothing = Tensor::Allocate(value.values.dtype(), sizes);
    if (nothing) value.values = std::move(*nothing);
    errors = llvm::joinErrors(
        std::move(errors),
        nothing ? PutPacked(*input, value, "the literal", scope, knows_all) : nothing.takeError());
  }
  return errors;
}

llvm::Error RunInputs::PutPacked(const Value& input, const PackedValue& value,
                                 llvm::StringRef source, Scope* scope, bool knows_sizes) {
  const Type& type = input.type();
  if (type.is_sparse() && type.dtype == DType::kBool) {
    // All elements are ones, whatever their dtype in the file.
  } else if (value.values.dtype() != type.dtype) {
    return MakeUserError(Code::kInputType,
                         "declared {0}, and {1} holds {2}: save it as {3}; nothing is converted "
                         "silently",
                         type.ToString(), source, value.values.TypeString(), DTypeName(type.dtype));
  }
  value.Put(scope, input.name());
  RecordPacked(input, value, *scope, knows_sizes);
  if (type.is_sparse()) columns_.emplace_back(&input, value.type.dims.back());
  return llvm::Error::success();
}

void RunInputs::RecordPacked(const Value& input, const PackedValue& value, const Scope& scope,
                             bool knows_sizes) {
  const Type& type = input.type();
  const unsigned levels = type.ragged_levels();
  // The run reports parts that do not fit.
  if (!type.is_sparse() && value.values.rank() != type.rank() - levels) return;
  llvm::Expected<PackedValue> checked = PackedValue::Find(scope, input.name(), type);
  if (!checked) return llvm::consumeError(checked.takeError());
  for (unsigned level = 0; level < levels; ++level)
    lengths_.try_emplace(type.dims[level + 1].ToString(), value.offsets[level]);
  const Type sized = checked->SizedType();
  const unsigned num_dims = type.is_sparse() || !knows_sizes ? 1 : type.rank();
  for (unsigned axis = 0; axis < num_dims; ++axis)
    if (sized.dims[axis].is_constant()) Record(type.dims[axis], sized.dims[axis].constant());
}

void RunInputs::Record(const Dim& dim, int64_t size) {
  llvm::Expected<std::optional<std::pair<std::string, int64_t>>> solved = dim.Solve(size);
  // The run reports sizes that do not fit, because it knows all of them.
  if (!solved) {
    llvm::consumeError(solved.takeError());
  } else if (*solved) {
    sizes_[(*solved)->first] = (*solved)->second;
  }
}

std::optional<int64_t> RunInputs::SizeOf(llvm::StringRef symbol,
                                         const CommonOptions& options) const {
  for (const llvm::StringMap<int64_t>* sizes : {&sizes_, &options.sizes})
    if (const auto found = sizes->find(symbol); found != sizes->end()) return found->second;
  return std::nullopt;
}

llvm::Error RunInputs::CheckColumns() {
  for (const auto& [input, columns] : columns_) {
    const Dim& declared = input->type().dims.back();
    if (!columns.is_constant() || declared.is_constant()) continue;
    llvm::Expected<int64_t> size =
        declared.Evaluate([&](llvm::StringRef symbol) -> std::optional<int64_t> {
          const auto found = sizes_.find(symbol);
          return found == sizes_.end() ? std::nullopt : std::optional(found->second);
        });
    if (!size) {
      llvm::consumeError(size.takeError());
      Record(declared, columns.constant());
    } else if (*size != columns.constant()) {
      return MakeUserError(Code::kSymbolConflict,
                           "input '{0}' has {1} columns, but {2} is {3} in the other inputs",
                           input->name(), columns.constant(), declared.ToString(), *size);
    }
  }
  return llvm::Error::success();
}

llvm::Error RunInputs::FeedOne(const Value& input, llvm::StringRef text, Scope* scope) {
  if (!input.type().is_plain()) return FeedPacked(input, text, scope);
  if (text.ends_with(".npy")) {
    llvm::Expected<Tensor> tensor = ReadNpy(text);
    if (!tensor) return tensor.takeError();
    return Put(input, std::move(*tensor), text, scope);
  }
  if (IsArchive(text)) {
    llvm::Expected<std::vector<NamedTensor>> members = ReadArchive(text);
    if (!members) return members.takeError();
    std::vector<llvm::StringRef> names;
    for (NamedTensor& member : *members) {
      if (member.first == input.name()) return Put(input, std::move(member.second), text, scope);
      names.push_back(member.first);
    }
    return MakeUserError(Code::kMissingInput, "{0} has no array '{1}'; it has {2}", text,
                         input.name(), names.empty() ? "none" : llvm::join(names, ", "));
  }
  llvm::Expected<Tensor> tensor = ParseLiteral(text, input.type().dtype);
  if (!tensor) return tensor.takeError();
  return Put(input, std::move(*tensor), "the literal", scope);
}

llvm::Error RunInputs::FeedArchives(const Graph& graph, Scope* scope) {
  llvm::Error errors = llvm::Error::success();
  for (const std::string& archive : archives_) {
    llvm::Expected<std::vector<NamedTensor>> members = ReadArchive(archive);
    if (!members) {
      errors = llvm::joinErrors(std::move(errors), members.takeError());
      continue;
    }
    bool is_used = false;
    std::vector<llvm::StringRef> names;
    llvm::SetVector<const Value*> packed;
    for (NamedTensor& member : *members) {
      names.push_back(member.first);
      const Value* input = InputOfArray(graph, member.first);
      if (input == nullptr) continue;
      is_used = true;
      // A value given for this input takes precedence over the archive.
      if (values_.count(input->name()) != 0) continue;
      if (!input->type().is_plain()) {
        packed.insert(input);
        continue;
      }
      errors = llvm::joinErrors(std::move(errors),
                                About("input '" + input->name() + "'",
                                      Put(*input, Tensor(member.second), archive, scope)));
    }
    for (const Value* input : packed) {
      llvm::Expected<PackedValue> value =
          PackedFromArrays(input->name(), input->type(), *members, archive);
      errors = llvm::joinErrors(
          std::move(errors),
          About("input '" + input->name() + "'",
                value ? PutPacked(*input, *value, archive, scope) : value.takeError()));
    }
    if (!is_used) {
      errors =
          llvm::joinErrors(std::move(errors),
                           MakeUserError(Code::kSurplusInput,
                                         "no array in {0} has the name of an input: it has "
                                         "{1}, the network {2}",
                                         archive, names.empty() ? "none" : llvm::join(names, ", "),
                                         llvm::join(InputNames(graph), ", ")));
    }
  }
  return errors;
}

llvm::Error RunInputs::Put(const Value& input, Tensor tensor, llvm::StringRef source,
                           Scope* scope) {
  const Type& type = input.type();
  if (tensor.dtype() != type.dtype) {
    return MakeUserError(Code::kInputType,
                         "declared {0}, and {1} holds {2}: save it as {3}; nothing is converted "
                         "silently",
                         type.ToString(), source, tensor.TypeString(), DTypeName(type.dtype));
  }
  if (tensor.rank() == type.rank())
    for (unsigned axis = 0; axis < type.rank(); ++axis) Record(type.dims[axis], tensor.size(axis));
  scope->Create(input.name())->Set(std::move(tensor));
  return llvm::Error::success();
}

llvm::Error RunInputs::FeedRandom(const Value& input, const CommonOptions& options, Scope* scope) {
  const Type& type = input.type();
  std::string unknown;
  auto size = [&](llvm::StringRef symbol) -> std::optional<int64_t> {
    const std::optional<int64_t> known = SizeOf(symbol, options);
    if (!known) unknown = symbol.str();
    return known;
  };
  auto lengths = [&](llvm::StringRef dim) -> const Tensor* {
    const auto found = lengths_.find(dim);
    return found == lengths_.end() ? nullptr : &found->second;
  };
  llvm::Expected<PackedValue> value = DrawValue(input.name(), type, options.seed, size, lengths);
  if (!value && !unknown.empty()) {
    llvm::consumeError(value.takeError());
    return MakeUserError(Code::kMissingInput,
                         "input '{0}' is random {1}, but the size {2} is not known: give "
                         "--size {2}=32",
                         input.name(), type.ToString(), unknown);
  }
  if (!value) return value.takeError();
  if (!type.is_plain()) return PutPacked(input, *value, "random", scope);
  return Put(input, std::move(value->values), "random", scope);
}

}  // namespace pdl
