#include "tools/pdl/support/tensor_archive.h"

#include <cstring>

namespace pdl {
namespace {

bool IsSafetensors(llvm::StringRef path) { return path.ends_with(".safetensors"); }

}  // namespace

bool IsArchive(llvm::StringRef path) { return path.ends_with(".npz") || IsSafetensors(path); }

llvm::Expected<std::vector<NamedTensor>> ReadArchive(llvm::StringRef path) {
  if (!IsSafetensors(path)) return ReadNpz(path);
  llvm::Expected<SafetensorsFile> file = SafetensorsFile::Open(path);
  if (!file) return file.takeError();
  std::vector<NamedTensor> arrays;
  for (const SafetensorsFile::Entry& entry : file->entries()) {
    llvm::Expected<Tensor> tensor = Tensor::Allocate(entry.dtype, entry.sizes);
    if (!tensor) return tensor.takeError();
    const Constant mapped = file->Read(entry);
    if (tensor->num_bytes() > 0)
      std::memcpy(tensor->raw(), mapped.data(), static_cast<size_t>(tensor->num_bytes()));
    arrays.emplace_back(entry.name, std::move(*tensor));
  }
  return arrays;
}

llvm::Error WriteArchive(llvm::StringRef path, llvm::ArrayRef<NamedTensor> arrays) {
  return IsSafetensors(path) ? WriteSafetensors(path, arrays) : WriteNpz(path, arrays);
}

}  // namespace pdl
