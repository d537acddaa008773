#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"
#include "pdl/runtime/io.h"
#include "runtime/io/file.h"
#include "runtime/io/json_outline.h"
#include "runtime/io/npy.h"
#include "runtime/memory.h"

namespace pdl {
namespace {

constexpr size_t kLengthSize = 8;
constexpr uint64_t kMaxHeader = 100'000'000;
constexpr llvm::StringLiteral kMetadata("__metadata__");

/// The name of a dtype in the format, which is in upper case: "BF16".
std::string StoredName(DType dtype) { return DTypeName(dtype).upper(); }

std::optional<DType> DTypeFromStoredName(llvm::StringRef name) {
  std::optional<DType> dtype = DTypeFromName(name.lower());
  return dtype && StoredName(*dtype) == name ? dtype : std::nullopt;
}

class HeaderReader {
 public:
  HeaderReader(llvm::StringRef path, llvm::StringRef header, llvm::StringRef data)
      : path_(path), header_(header), data_(data) {}

  llvm::Expected<std::vector<SafetensorsFile::Entry>> Read() {
    const JsonOutline outline = OutlineJson(header_);
    if (outline.depth > 3) return CannotRead(path_, "its header is nested too deeply");
    llvm::Expected<llvm::json::Value> json = llvm::json::parse(header_);
    if (!json)
      return CannotRead(path_, "its header is not JSON: {0}", llvm::toString(json.takeError()));
    const llvm::json::Object* object = json->getAsObject();
    if (object == nullptr) return CannotRead(path_, "its header is not a JSON object");

    size_t pairs = object->size();
    std::vector<SafetensorsFile::Entry> entries;
    for (const auto& [key_of_json, value] : *object) {
      const llvm::StringRef key = key_of_json;
      const llvm::json::Object* fields = value.getAsObject();
      if (fields == nullptr)
        return CannotRead(path_, "the header's '{0}' is not a JSON object", key);
      pairs += fields->size();
      if (key == kMetadata) {
        for (const auto& [name, text] : *fields) {
          std::optional<llvm::StringRef> value = text.getAsString();
          if (!value)
            return CannotRead(path_, "the metadata '{0}' is not a string", llvm::StringRef(name));
          metadata_.emplace_back(llvm::StringRef(name).str(), value->str());
        }
        llvm::sort(metadata_);
        continue;
      }
      llvm::Expected<SafetensorsFile::Entry> entry = ReadEntry(key, *fields);
      if (!entry) return entry.takeError();
      entries.push_back(std::move(*entry));
    }
    if (pairs != outline.pairs) return CannotRead(path_, "its header has a name twice");
    llvm::sort(entries, [](const auto& a, const auto& b) {
      return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
    });
    if (llvm::Error error = CheckWhole(entries)) return error;
    return entries;
  }
  std::vector<NamedText> TakeMetadata() { return std::move(metadata_); }

 private:
  llvm::Expected<SafetensorsFile::Entry> ReadEntry(llvm::StringRef name,
                                                   const llvm::json::Object& fields) {
    auto broken = [&](const llvm::Twine& what) {
      return CannotRead(path_, "tensor '{0}' {1}", name, what.str());
    };
    std::optional<llvm::StringRef> dtype_name = fields.getString("dtype");
    const llvm::json::Array* shape = fields.getArray("shape");
    const llvm::json::Array* offsets = fields.getArray("data_offsets");
    if (!dtype_name || !shape || !offsets || offsets->size() != 2)
      return broken("lacks its dtype, shape or data_offsets");
    std::optional<DType> dtype = DTypeFromStoredName(*dtype_name);
    if (!dtype) return broken("has the dtype " + *dtype_name + ", which is not supported");
    if (shape->size() > kMaxFileRank)
      return broken("has more than " + llvm::Twine(kMaxFileRank) + " dims");

    SafetensorsFile::Entry entry{name.str(), *dtype, {}, 0, 0};
    for (const llvm::json::Value& size : *shape) {
      std::optional<int64_t> value = size.getAsInteger();
      if (!value || *value < 0) return broken("has an invalid size");
      entry.sizes.push_back(*value);
    }
    std::optional<int64_t> begin = (*offsets)[0].getAsInteger(), end = (*offsets)[1].getAsInteger();
    if (!begin || !end || *begin < 0 || *end < *begin) return broken("has invalid offsets");
    if (static_cast<uint64_t>(*end) > data_.size()) {
      return broken("ends at byte " + llvm::Twine(*end) + ", but the file has " +
                    llvm::Twine(data_.size()) + " after the header");
    }
    entry.begin = *begin;
    entry.end = *end;
    std::string type = TensorTypeToString(*dtype, entry.sizes);
    llvm::Expected<int64_t> bytes = CheckedNumBytes(*dtype, entry.sizes);
    if (!bytes) {
      llvm::consumeError(bytes.takeError());
      return broken("is " + type + ", which is too large");
    }
    if (*bytes != *end - *begin) {
      return broken("is " + type + ", " + llvm::Twine(*bytes) + " bytes, but has " +
                    llvm::Twine(*end - *begin));
    }
    if (*dtype == DType::kBool && FindBadBool(data_.slice(*begin, *end)) >= 0)
      return broken("has a bool that is neither 0 nor 1");
    return entry;
  }

  /// Checks that the tensors are contiguous and fill the file.
  llvm::Error CheckWhole(llvm::ArrayRef<SafetensorsFile::Entry> entries) {
    int64_t at = 0;
    llvm::StringRef before;
    for (const SafetensorsFile::Entry& entry : entries) {
      if (entry.begin < at)
        return CannotRead(path_, "tensors '{0}' and '{1}' overlap", before, entry.name);
      if (entry.begin > at)
        return CannotRead(path_, "there are {0} unused bytes before '{1}'", entry.begin - at,
                          entry.name);
      at = entry.end;
      before = entry.name;
    }
    if (static_cast<uint64_t>(at) != data_.size())
      return CannotRead(path_, "there are {0} unused bytes after its last tensor",
                        data_.size() - at);
    return llvm::Error::success();
  }

  llvm::StringRef path_;
  llvm::StringRef header_;
  llvm::StringRef data_;
  std::vector<NamedText> metadata_;
};

/// The length of the header, then the header.
std::string HeaderBytes(llvm::ArrayRef<const NamedTensor*> tensors,
                        llvm::ArrayRef<NamedText> metadata) {
  std::string text(kLengthSize, '\0');
  llvm::raw_string_ostream os(text);
  llvm::json::OStream json(os);
  json.object([&] {
    if (!metadata.empty()) {
      json.attributeObject(kMetadata, [&] {
        for (const auto& [name, text] : metadata) json.attribute(name, text);
      });
    }
    int64_t at = 0;
    for (const NamedTensor* named : tensors) {
      const auto& [name, tensor] = *named;
      json.attributeObject(name, [&, &tensor = tensor] {
        json.attribute("dtype", StoredName(tensor.dtype()));
        json.attributeArray("shape", [&] {
          for (int64_t size : tensor.sizes()) json.value(size);
        });
        json.attributeArray("data_offsets", [&] {
          json.value(at);
          json.value(at += tensor.num_bytes());
        });
      });
    }
  });
  os.flush();
  text.resize(llvm::alignTo(text.size(), 8), ' ');
  llvm::support::endian::write64le(text.data(), text.size() - kLengthSize);
  return text;
}

}  // namespace

llvm::Expected<SafetensorsFile> SafetensorsFile::Open(llvm::StringRef path) {
  llvm::Expected<SharedBytes> file = ReadWholeFile(path);
  if (!file) return file.takeError();
  llvm::StringRef bytes = file->bytes;
  if (bytes.size() < kLengthSize)
    return CannotRead(path, "it is not a .safetensors file: it has {0} bytes", bytes.size());
  uint64_t length = llvm::support::endian::read64le(bytes.data());
  if (length > kMaxHeader) {
    // Files of weights that others read.
    static constexpr std::pair<llvm::StringLiteral, const char*> kOthers[] = {
        {"PK\x03\x04", "a ZIP archive, such as .npz or .pt"},
        {"\x93NUMPY", "a .npy file"},
        {"GGUF", "a GGUF file"},
        {"\x89HDF", "an HDF5 file"},
    };
    for (const auto& [begin, what] : kOthers)
      if (bytes.starts_with(begin))
        return CannotRead(path, "weights are in .safetensors files, and it is {0}", what);
    return CannotRead(
        path, "it is not a .safetensors file, or its header of {0} bytes is too large", length);
  }
  if (length > bytes.size() - kLengthSize) {
    return CannotRead(path, "it is truncated: its header has {0} bytes, but the file has {1}",
                      length, bytes.size());
  }
  llvm::StringRef data = bytes.drop_front(kLengthSize + length);
  HeaderReader reader(path, bytes.substr(kLengthSize, length), data);
  auto entries = reader.Read();
  if (!entries) return entries.takeError();
  SafetensorsFile result;
  result.metadata_ = reader.TakeMetadata();
  result.entries_ = std::move(*entries);
  for (const auto& [i, entry] : llvm::enumerate(result.entries_)) result.by_name_[entry.name] = i;
  result.data_ = std::shared_ptr<const char>(file->owner, data.data());
  return result;
}

const SafetensorsFile::Entry* SafetensorsFile::Find(llvm::StringRef name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &entries_[found->second];
}

llvm::StringRef SafetensorsFile::FindMetadata(llvm::StringRef name) const {
  auto found = llvm::find_if(metadata_, [&](const NamedText& text) { return text.first == name; });
  return found == metadata_.end() ? llvm::StringRef() : llvm::StringRef(found->second);
}

Constant SafetensorsFile::Read(const Entry& entry) const {
  const char* begin = data_.get() + entry.begin;
  if (reinterpret_cast<uintptr_t>(begin) % DTypeSize(entry.dtype) != 0)
    return Constant::Copy(entry.dtype, entry.sizes, begin);
  return Constant(entry.dtype, entry.sizes, std::shared_ptr<const void>(data_, begin));
}

llvm::Error WriteSafetensors(llvm::StringRef path, llvm::ArrayRef<NamedTensor> tensors,
                             llvm::ArrayRef<NamedText> metadata) {
  std::vector<const NamedTensor*> sorted;
  llvm::StringSet<> names;
  for (const NamedTensor& named : tensors) {
    const std::string& name = named.first;
    assert(named.second.device().kind == DeviceKind::kCPU &&
           "only the CPU's memory can be written");
    if (name == kMetadata || !llvm::json::isUTF8(name))
      return CannotWrite(path, "a tensor cannot have the name '{0}'", llvm::json::fixUTF8(name));
    if (!names.insert(name).second)
      return CannotWrite(path, "two tensors have the name '{0}'", name);
    sorted.push_back(&named);
  }
  // Wide elements come first, so that all are aligned.
  llvm::sort(sorted, [](const NamedTensor* a, const NamedTensor* b) {
    int64_t a_size = DTypeSize(a->second.dtype()), b_size = DTypeSize(b->second.dtype());
    return a_size != b_size ? a_size > b_size : a->first < b->first;
  });
  std::string header = HeaderBytes(sorted, metadata);
  if (header.size() > kMaxHeader) return CannotWrite(path, "its header would be too large");

  llvm::Expected<AtomicFile> file = AtomicFile::Create(path);
  if (!file) return file.takeError();
  if (llvm::Error error = file->Write(header)) return error;
  for (const NamedTensor* named : sorted) {
    const Tensor& tensor = named->second;
    if (llvm::Error error = file->Write(tensor.raw(), tensor.num_bytes())) return error;
  }
  return file->Commit();
}

}  // namespace pdl
