// Module: runtime
#ifndef PDL_RUNTIME_IO_H_
#define PDL_RUNTIME_IO_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "pdl/compiler/export.h"
#include "pdl/op/constant.h"
#include "pdl/op/tensor.h"

// Reading and writing tensor files. Reading maps the file: a tensor refers to the mapping if
// alignment, byte order and element order permit, and is a copy otherwise. Every size in a file is
// checked against the file's length before anything is allocated. Writing is atomic: it goes to a
// temporary file in the same folder, which is renamed when it is complete.

namespace pdl {

/// Tensors and strings by name, as pairs of name and value.
using NamedTensor = std::pair<std::string, Tensor>;
using NamedText = std::pair<std::string, std::string>;

/// Reads NumPy's format, versions 1.0 to 3.0, little or big endian, C or Fortran order. Object
/// arrays, structured dtypes and complex numbers are rejected.
PDL_API llvm::Expected<Tensor> ReadNpy(llvm::StringRef path);
/// Writes NumPy's format. bf16 has no NumPy dtype and is an Error.
PDL_API llvm::Error WriteNpy(llvm::StringRef path, const Tensor& tensor);

/// Reads a zip archive of npy members, stored or deflated, including zip64, in the archive's order.
/// String arrays (which SciPy adds to a sparse matrix) are skipped.
PDL_API llvm::Expected<std::vector<NamedTensor>> ReadNpz(llvm::StringRef path);
/// Writes an npz archive without compression.
PDL_API llvm::Error WriteNpz(llvm::StringRef path, llvm::ArrayRef<NamedTensor> tensors);

/// The safetensors format (https://huggingface.co/docs/safetensors).
class PDL_API SafetensorsFile {
 public:
  struct Entry {
    std::string name;
    DType dtype;
    Sizes sizes;
    int64_t begin, end;  // bytes after the header
  };
  /// Maps the file and checks its header: sizes, overlaps, gaps, dtypes, duplicate names.
  static llvm::Expected<SafetensorsFile> Open(llvm::StringRef path);
  llvm::ArrayRef<Entry> entries() const { return entries_; }
  /// The file's metadata, strings by name, sorted by name.
  llvm::ArrayRef<NamedText> metadata() const { return metadata_; }
  /// The metadata of that name; empty if there is none.
  llvm::StringRef FindMetadata(llvm::StringRef name) const;
  const Entry* Find(llvm::StringRef name) const;
  /// Returns the tensor. It shares the mapping, which lives as long as the Constant.
  Constant Read(const Entry& entry) const;

 private:
  std::vector<Entry> entries_;
  llvm::StringMap<size_t> by_name_;
  std::vector<NamedText> metadata_;
  std::shared_ptr<const char> data_;  // start of the tensors' bytes
};
/// Writes a safetensors file: tensors with the largest elements first, then by name, so that every
/// tensor is aligned. The bytes are deterministic.
PDL_API llvm::Error WriteSafetensors(llvm::StringRef path, llvm::ArrayRef<NamedTensor> tensors,
                                     llvm::ArrayRef<NamedText> metadata = {});

/// SHA-256 of a constant's bytes, in lower-case hex.
PDL_API std::string Sha256(const Constant& constant);
/// Reads a regular file. Other files are an Error, because a pipe may block and a device may have
/// no end.
PDL_API llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> ReadFile(llvm::StringRef path);
/// Reads standard input to its end; an Error if it has more than `max_bytes` bytes.
PDL_API llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> ReadStandardInput(int64_t max_bytes);
/// Writes a file atomically, as described above.
PDL_API llvm::Error WriteFileAtomically(llvm::StringRef path, llvm::StringRef bytes);
/// Resolves `relative` below `folder`; an Error if a symlink or ".." leads out of the folder.
PDL_API llvm::Expected<std::string> ResolveInFolder(llvm::StringRef folder,
                                                    llvm::StringRef relative);

}  // namespace pdl

#endif  // PDL_RUNTIME_IO_H_
