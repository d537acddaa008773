#include "runtime/io/npz.h"

#include "llvm/ADT/StringSet.h"
#include "runtime/io/npy.h"
#include "runtime/io/zip.h"

namespace pdl {

llvm::Expected<std::vector<NamedTensor>> ReadNpz(llvm::StringRef path) {
  return ReadNpz(path, [](llvm::StringRef) { return true; }, nullptr);
}

llvm::Expected<std::vector<NamedTensor>> ReadNpz(
    llvm::StringRef path, llvm::function_ref<bool(llvm::StringRef)> is_requested,
    std::vector<std::string>* names) {
  llvm::Expected<SharedBytes> file = ReadWholeFile(path, FileAccess::kPrivateWrite);
  if (!file) return file.takeError();
  llvm::Expected<std::vector<ZipMember>> members = ReadZipDirectory(path, *file);
  if (!members) return members.takeError();
  std::vector<NamedTensor> tensors;
  for (const ZipMember& member : *members) {
    llvm::StringRef name = member.name;
    if (!name.consume_back(".npy"))
      return CannotRead(path, "member '{0}' is not a .npy file", member.name);
    if (names) names->push_back(name.str());
    if (!is_requested(name)) continue;
    llvm::Expected<SharedBytes> bytes = UnpackZipMember(path, *file, member);
    if (!bytes) return bytes.takeError();
    if (HoldsText(bytes->bytes)) continue;
    llvm::Expected<Tensor> tensor = ParseNpy((path + "/" + member.name).str(), *bytes);
    if (!tensor) return tensor.takeError();
    tensors.emplace_back(name.str(), std::move(*tensor));
  }
  return tensors;
}

llvm::Error WriteNpz(llvm::StringRef path, llvm::ArrayRef<NamedTensor> tensors) {
  llvm::Expected<AtomicFile> file = AtomicFile::Create(path);
  if (!file) return file.takeError();
  ZipWriter writer(*file);
  llvm::StringSet<> names;
  for (const auto& [name, tensor] : tensors) {
    if (!names.insert(name).second)
      return CannotWrite(path, "two tensors have the name '{0}'", name);
    if (name.size() > UINT16_MAX - 4)
      return CannotWrite(path, "the name of a tensor has {0} bytes", name.size());
    llvm::Expected<std::string> header = NpyHeader(path, tensor);
    if (!header) return header.takeError();
    llvm::StringRef data(static_cast<const char*>(tensor.raw()),
                         static_cast<size_t>(tensor.num_bytes()));
    if (llvm::Error error = writer.Add(name + ".npy", {*header, data})) return error;
  }
  if (llvm::Error error = writer.Finish()) return error;
  return file->Commit();
}

}  // namespace pdl
