#include "runtime/io/csv.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <map>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/op/half.h"
#include "runtime/io/file.h"

namespace pdl {
namespace {

/// A column of the table: element `index` of each row of a tensor.
struct Column {
  std::string name;
  int64_t index = -1;  // -1: the tensor has one dim
  int tensor = -1;     // -1: not read
};

/// Removes and returns the next line, without its end.
llvm::StringRef TakeLine(llvm::StringRef* text) {
  const size_t end = text->find('\n');
  llvm::StringRef line = text->take_front(end);
  *text = text->drop_front(std::min(text->size(), line.size() + 1));
  line.consume_back("\r");
  return line;
}

/// Removes and returns a quoted field of a line; nullopt if the quote is not terminated.
std::optional<std::string> TakeQuoted(llvm::StringRef* line) {
  std::string field;
  *line = line->drop_front();
  for (;;) {
    const size_t quote = line->find('"');
    if (quote == llvm::StringRef::npos) return std::nullopt;
    field += line->take_front(quote);
    *line = line->drop_front(quote + 1);
    if (!line->consume_front("\"")) return field;
    field += '"';
  }
}

template <class T>
bool ParseNumber(llvm::StringRef text, void* to) {
  text.consume_front("+");
  T value;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), value);
  if (end != text.end()) return false;
  if (error == std::errc::result_out_of_range && std::is_floating_point_v<T>) {
    // from_chars does not report whether the number is too large or too small.
    double wide = 0;
    if (text.getAsDouble(wide, /*AllowInexact=*/true)) return false;
    // A number that is too small becomes 0; one that is too large is an error.
    if (std::abs(wide) > 1) return false;
    value = static_cast<T>(wide);
  } else if (error != std::errc()) {
    return false;
  }
  std::memcpy(to, &value, sizeof value);
  return true;
}

template <class Half>
bool ParseHalf(llvm::StringRef text, void* to) {
  float value;
  if (!ParseNumber<float>(text, &value)) return false;
  const Half half(value);
  if (std::isinf(static_cast<float>(half)) && !std::isinf(value)) return false;
  std::memcpy(to, &half, sizeof half);
  return true;
}

/// Whether the field is a number that only a wider dtype can represent.
bool IsBeyond(llvm::StringRef text, DType dtype) {
  double wide = 0;
  return IsFloat(dtype) && !text.getAsDouble(wide, /*AllowInexact=*/true);
}

bool ParseBool(llvm::StringRef text, void* to) {
  const bool is_true = text == "1" || text.equals_insensitive("true");
  if (!is_true && text != "0" && !text.equals_insensitive("false")) return false;
  std::memcpy(to, &is_true, sizeof is_true);
  return true;
}

bool ParseElement(llvm::StringRef text, DType dtype, void* to) {
  switch (dtype) {
      // clang-format off
    case DType::kF16: return ParseHalf<float16>(text, to);
    case DType::kBF16: return ParseHalf<bfloat16>(text, to);
    case DType::kF32: return ParseNumber<float>(text, to);
    case DType::kF64: return ParseNumber<double>(text, to);
    case DType::kI8: return ParseNumber<int8_t>(text, to);
    case DType::kI16: return ParseNumber<int16_t>(text, to);
    case DType::kI32: return ParseNumber<int32_t>(text, to);
    case DType::kI64: return ParseNumber<int64_t>(text, to);
    case DType::kU8: return ParseNumber<uint8_t>(text, to);
    case DType::kU16: return ParseNumber<uint16_t>(text, to);
    case DType::kU32: return ParseNumber<uint32_t>(text, to);
    case DType::kU64: return ParseNumber<uint64_t>(text, to);
    case DType::kBool: return ParseBool(text, to);
      // clang-format on
  }
  return false;
}

class CsvReader {
 public:
  CsvReader(llvm::StringRef path, llvm::StringRef text) : path_(path), text_(text) {
    text_.consume_front("\xef\xbb\xbf");
  }

  llvm::Error ReadHeader() {
    line_ = 1;
    llvm::StringRef line = TakeLine(&text_);
    if (line.trim().empty())
      return CannotRead(path_, "its first line must name the columns, such as: x[0],x[1],label");
    std::map<std::pair<std::string, int64_t>, size_t> seen;
    for (bool more = true; more;) {
      llvm::Expected<std::string> field = TakeField(&line, &more);
      if (!field) return field.takeError();
      Column column;
      llvm::StringRef name = *field;
      if (const size_t open = name.find('['); open != llvm::StringRef::npos) {
        llvm::StringRef index = name.drop_front(open + 1);
        if (!index.consume_back("]") || index.getAsInteger(10, column.index) || column.index < 0)
          return CannotRead(path_,
                            "column {0} has the name '{1}', expected a name such as x or x[0]",
                            columns_.size() + 1, name);
        name = name.take_front(open);
      }
      column.name = name.str();
      if (name.empty()) return CannotRead(path_, "column {0} has no name", columns_.size() + 1);
      if (!seen.try_emplace({column.name, column.index}, columns_.size()).second)
        return CannotRead(path_, "two columns have the name '{0}'", *field);
      columns_.push_back(std::move(column));
    }
    return CheckVectors();
  }

  llvm::Expected<std::vector<NamedTensor>> ReadRows(
      llvm::function_ref<std::optional<DType>(llvm::StringRef)> dtype_of) {
    int64_t rows = 0;
    for (llvm::StringRef rest = text_; !rest.empty();) rows += !TakeLine(&rest).trim().empty();
    // Each field takes at least one byte, including its separator. If a line has too few fields,
    // the rows are read to find it, but not stored.
    const auto columns = static_cast<int64_t>(columns_.size());
    const bool is_whole = rows <= (static_cast<int64_t>(text_.size()) + 1) / columns;
    std::vector<NamedTensor> tensors;
    std::vector<int64_t> widths;
    llvm::StringMap<int> tensor_of;
    for (Column& column : columns_) {
      const auto [entry, is_new] = tensor_of.try_emplace(column.name, -1);
      if (is_new && is_whole) {
        if (std::optional<DType> dtype = dtype_of(column.name)) {
          Sizes sizes = {rows};
          if (column.index >= 0) sizes.push_back(widths_[column.name]);
          llvm::Expected<Tensor> tensor = Tensor::Allocate(*dtype, sizes);
          if (!tensor) return tensor.takeError();
          entry->second = static_cast<int>(tensors.size());
          tensors.emplace_back(column.name, std::move(*tensor));
          widths.push_back(column.index >= 0 ? widths_[column.name] : 1);
        }
      }
      column.tensor = entry->second;
    }
    for (int64_t row = 0; !text_.empty();) {
      ++line_;
      llvm::StringRef line = TakeLine(&text_);
      if (line.trim().empty()) continue;
      if (lines_.empty() || line_ - lines_.back().second != row - lines_.back().first)
        lines_.emplace_back(row, line_);
      if (llvm::Error error = ReadRow(line, row++, tensors, widths)) return error;
    }
    return tensors;
  }

  const LinesOfRows& lines() const { return lines_; }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    llvm::StringSet<> seen;
    for (const Column& column : columns_)
      if (seen.insert(column.name).second) names.push_back(column.name);
    return names;
  }

 private:
  llvm::Expected<std::string> TakeField(llvm::StringRef* line, bool* more) {
    std::string field;
    if (line->starts_with("\"")) {
      std::optional<std::string> quoted = TakeQuoted(line);
      if (!quoted || !(line->empty() || line->starts_with(",")))
        return CannotRead(path_, "line {0} has an unterminated quote", line_);
      field = std::move(*quoted);
    } else {
      field = line->take_front(line->find(',')).trim().str();
      *line = line->drop_front(std::min(line->size(), line->find(',')));
    }
    *more = line->consume_front(",");
    return field;
  }

  /// All columns of a vector must exist, so that an index is less than the number of columns.
  llvm::Error CheckVectors() {
    llvm::StringMap<int64_t> largest;  // largest index of a vector
    llvm::StringSet<> alone;
    for (const Column& column : columns_) {
      if (column.index < 0) {
        alone.insert(column.name);
        continue;
      }
      int64_t& index = largest.try_emplace(column.name, 0).first->second;
      index = std::max(index, column.index);
      ++widths_[column.name];
    }
    for (const Column& column : columns_) {
      if (column.index < 0) continue;
      if (alone.contains(column.name)) return BothWays(column.name);
      // Columns are distinct, so their number is the largest index plus one if all exist.
      const int64_t last = largest.lookup(column.name);
      if (widths_.lookup(column.name) - 1 != last)
        return CannotRead(path_, "there is the column '{0}[{1}]', but not '{0}[{2}]'", column.name,
                          last, FirstMissing(column.name));
    }
    return llvm::Error::success();
  }
  /// The smallest index of a vector that has no column.
  int64_t FirstMissing(llvm::StringRef name) const {
    std::vector<bool> exists(widths_.lookup(name));
    for (const Column& column : columns_)
      if (column.name == name && static_cast<size_t>(column.index) < exists.size())
        exists[static_cast<size_t>(column.index)] = true;
    return llvm::find(exists, false) - exists.begin();
  }
  llvm::Error BothWays(llvm::StringRef name) {
    return CannotRead(path_, "'{0}' and '{0}[0]' cannot both be columns", name);
  }

  llvm::Error ReadRow(llvm::StringRef line, int64_t row, std::vector<NamedTensor>& tensors,
                      llvm::ArrayRef<int64_t> widths) {
    size_t count = 0;
    for (bool more = true; more; ++count) {
      // A field without quotes is not copied.
      std::string quoted;
      llvm::StringRef field;
      if (line.starts_with("\"")) {
        llvm::Expected<std::string> taken = TakeField(&line, &more);
        if (!taken) return taken.takeError();
        quoted = std::move(*taken);
        field = llvm::StringRef(quoted).trim();
      } else {
        const size_t comma = line.find(',');
        field = line.take_front(comma).trim();
        more = comma != llvm::StringRef::npos;
        line = more ? line.drop_front(comma + 1) : llvm::StringRef();
      }
      if (count >= columns_.size() || columns_[count].tensor < 0) continue;
      const Column& column = columns_[count];
      Tensor& tensor = tensors[static_cast<size_t>(column.tensor)].second;
      const int64_t element =
          row * widths[static_cast<size_t>(column.tensor)] + std::max<int64_t>(column.index, 0);
      char* to = static_cast<char*>(tensor.raw()) + element * DTypeSize(tensor.dtype());
      if (!ParseElement(field, tensor.dtype(), to)) {
        return CannotRead(path_, "line {0}, column '{1}{2}': expected {3}, got '{4}'{5}", line_,
                          column.name,
                          column.index < 0 ? "" : "[" + std::to_string(column.index) + "]",
                          DTypeName(tensor.dtype()), field.take_front(40),
                          IsBeyond(field, tensor.dtype()) ? ", which is too large for it" : "");
      }
    }
    if (count != columns_.size())
      return CannotRead(path_, "line {0} has {1} fields, but line 1 has {2}", line_, count,
                        columns_.size());
    return llvm::Error::success();
  }

  llvm::StringRef path_;
  llvm::StringRef text_;
  int64_t line_ = 0;
  LinesOfRows lines_;
  std::vector<Column> columns_;
  llvm::StringMap<int64_t> widths_;  // of vectors
};

}  // namespace

llvm::Expected<std::vector<NamedTensor>> ReadCsv(
    llvm::StringRef path, llvm::function_ref<std::optional<DType>(llvm::StringRef)> dtype_of,
    std::vector<std::string>* names, LinesOfRows* lines) {
  llvm::Expected<SharedBytes> file = ReadWholeFile(path);
  if (!file) return file.takeError();
  CsvReader reader(path, file->bytes);
  if (llvm::Error error = reader.ReadHeader()) return error;
  if (names != nullptr) *names = reader.Names();
  auto tensors = reader.ReadRows(dtype_of);
  if (lines != nullptr) *lines = reader.lines();
  return tensors;
}

}  // namespace pdl
