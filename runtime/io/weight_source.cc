#include "pdl/runtime/weight_source.h"

#include <set>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "pdl/train/trainer.h"
#include "runtime/io/file.h"
#include "runtime/io/weight_index.h"

namespace pdl {
namespace {

namespace path = llvm::sys::path;

std::string Join(llvm::StringRef folder, llvm::StringRef file) {
  llvm::SmallString<128> joined(folder);
  path::append(joined, file);
  return joined.str().str();
}

bool IsPattern(llvm::StringRef file) { return path::filename(file).contains('*'); }
bool IsIndex(llvm::StringRef file) { return path::extension(file) == ".json"; }

/// Files of other programs that a name suggests, and what to do about them.
llvm::Error OtherFormat(llvm::StringRef file) {
  const llvm::StringRef extension = path::extension(file);
  if (extension != ".pt" && extension != ".pth" && extension != ".bin" && extension != ".ckpt")
    return llvm::Error::success();
  return CannotRead(file,
                    "PyTorch's files are programs (pickles), which only the Python package reads: "
                    "pdl.load(..., weights=\"{0}\"); or save the weights as .safetensors",
                    path::filename(file));
}

/// The error of a file that cannot be read, with a hint if it was split.
llvm::Error WithIndexHint(llvm::Error error, llvm::StringRef file) {
  const std::string index = (file + ".index.json").str();
  return llvm::handleErrors(std::move(error), [&](std::unique_ptr<UserError> e) -> llvm::Error {
    if (e->code() != Code::kBadFile || llvm::sys::fs::exists(file) || !llvm::sys::fs::exists(index))
      return llvm::Error(std::move(e));
    return CannotRead(file, "it does not exist, but its parts have an index: \"{0}\"",
                      path::filename(index));
  });
}

}  // namespace

llvm::Error WeightSource::AddFile(llvm::StringRef file,
                                  const llvm::StringMap<std::string>* listed) {
  llvm::Expected<std::string> resolved = ResolveInFolder(folder_, file);
  if (resolved) return AddTensors(file, *resolved, listed);
  return WithIndexHint(resolved.takeError(), Join(folder_ == "." ? "" : folder_, file));
}

llvm::Error WeightSource::AddTensors(llvm::StringRef file, llvm::StringRef path,
                                     const llvm::StringMap<std::string>* listed) {
  if (llvm::Error error = OtherFormat(path)) return error;
  llvm::Expected<SafetensorsFile> opened = SafetensorsFile::Open(path);
  if (!opened) return WithIndexHint(opened.takeError(), path);
  auto held = std::make_shared<const SafetensorsFile>(std::move(*opened));
  listing_.is_checkpoint |= IsCheckpoint(*held) || !held->FindMetadata(kTrainingMetadata).empty();
  for (const SafetensorsFile::Entry& entry : held->entries()) {
    if (listed != nullptr) {
      const auto found = listed->find(entry.name);
      if (found == listed->end() || found->second != path::filename(file)) continue;
    }
    listing_.entries.push_back({entry.name, file.str(), entry.dtype, entry.sizes});
  }
  files_[file] = std::move(held);
  return llvm::Error::success();
}

llvm::Error WeightSource::AddIndex(llvm::StringRef path) {
  llvm::Expected<std::string> resolved = ResolveInFolder(folder_, path);
  if (!resolved) return resolved.takeError();
  llvm::Expected<SharedBytes> bytes = ReadWholeFile(*resolved);
  if (!bytes) return bytes.takeError();
  llvm::Expected<llvm::StringMap<std::string>> index = ReadWeightIndex(*resolved, bytes->bytes);
  if (!index) return index.takeError();
  std::set<llvm::StringRef> files;
  for (const auto& entry : *index) files.insert(entry.second);
  const std::string inside = Join(folder_, path::parent_path(path));
  for (llvm::StringRef file : files) {
    // Files are in the index's own folder: no path can lead elsewhere.
    if (file.empty() || path::filename(file) != file || file == ".." || file == ".") {
      return MakeUserError(Code::kPathEscapes,
                           "'{0}' of the index '{1}' is not a file in the index's folder", file,
                           *resolved);
    }
    if (llvm::Error error = AddFile(Join(path::parent_path(path), file), &*index)) return error;
  }
  if (listing_.entries.size() == index->size()) return llvm::Error::success();
  llvm::StringMap<bool> present;
  for (const WeightEntry& entry : listing_.entries) present[entry.name] = true;
  std::set<llvm::StringRef> missing;
  for (const auto& entry : *index)
    if (!present.contains(entry.getKey())) missing.insert(entry.getKey());
  return CannotRead(*resolved, "'{0}' has no tensor '{1}'", index->lookup(*missing.begin()),
                    *missing.begin());
}

llvm::Error WeightSource::AddPattern(llvm::StringRef path) {
  const llvm::StringRef pattern = path::filename(path), parent = path::parent_path(path);
  llvm::Expected<std::string> resolved =
      parent.empty() ? llvm::Expected<std::string>(folder_) : ResolveInFolder(folder_, parent);
  if (!resolved) return resolved.takeError();
  llvm::Expected<std::vector<std::string>> files = ListFolder(*resolved);
  if (!files) return files.takeError();
  bool found = false;
  for (const std::string& file : *files) {
    const llvm::StringRef name = path::filename(file);
    if (!MatchesPattern(name, pattern)) continue;
    found = true;
    if (llvm::Error error = AddFile(Join(parent, name), nullptr)) return error;
  }
  if (!found)
    return CannotRead(Join(folder_ == "." ? "" : folder_, path), "no file has such a name");
  return llvm::Error::success();
}

llvm::Error WeightSource::Finish() {
  llvm::sort(listing_.entries, [](const WeightEntry& a, const WeightEntry& b) {
    return std::tie(a.name, a.file) < std::tie(b.name, b.file);
  });
  const auto twice =
      std::adjacent_find(listing_.entries.begin(), listing_.entries.end(),
                         [](const auto& a, const auto& b) { return a.name == b.name; });
  if (twice == listing_.entries.end()) return llvm::Error::success();
  return CannotRead(name_, "'{0}' is in '{1}' and in '{2}'", twice->name, twice->file,
                    std::next(twice)->file);
}

llvm::Expected<WeightSource> WeightSource::OpenInFolder(llvm::StringRef folder,
                                                        llvm::StringRef path) {
  WeightSource source;
  source.name_ = path.str();
  source.folder_ = folder.empty() ? "." : folder.str();
  llvm::Error error = IsPattern(path) ? source.AddPattern(path)
                      : IsIndex(path) ? source.AddIndex(path)
                                      : source.AddFile(path, nullptr);
  if (!error) error = source.Finish();
  if (error) return error;
  return source;
}

llvm::Expected<WeightSource> WeightSource::Open(llvm::StringRef path) {
  const llvm::StringRef parent = path::parent_path(path), file = path::filename(path);
  if (IsPattern(path) || IsIndex(path)) {
    llvm::Expected<WeightSource> source = OpenInFolder(parent, file);
    if (source) source->name_ = path.str();
    return source;
  }
  WeightSource source;
  source.name_ = path.str();
  source.folder_ = parent.empty() ? "." : parent.str();
  // The file itself may be a link to anywhere.
  if (llvm::Error error = source.AddTensors(file, path, nullptr)) return error;
  if (llvm::Error error = source.Finish()) return error;
  return source;
}

llvm::Expected<WeightSource> WeightSource::FromTensors(llvm::StringRef name,
                                                       llvm::ArrayRef<NamedTensor> tensors) {
  WeightSource source;
  source.name_ = name.str();
  source.folder_.push_back('.');
  for (const auto& [tensor, value] : tensors) {
    source.listing_.entries.push_back({tensor, name.str(), value.dtype(), Sizes(value.sizes())});
    source.tensors_[tensor] = value.ToConstant();
  }
  if (llvm::Error error = source.Finish()) return error;
  return source;
}

const SafetensorsFile* WeightSource::FileOf(const WeightEntry& entry) const {
  const auto found = files_.find(entry.file);
  return found == files_.end() ? nullptr : found->second.get();
}

Constant WeightSource::ReadStored(const WeightEntry& entry) const {
  const SafetensorsFile* file = FileOf(entry);
  if (file == nullptr) return tensors_.lookup(entry.name);
  return file->Read(*file->Find(entry.name));
}

llvm::Expected<Constant> WeightSource::Read(const WeightMatch& match) const {
  return ConvertWeight(ReadStored(*match.entry), match.value->type().dtype, match.transpose);
}

}  // namespace pdl
