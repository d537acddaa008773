// Module: runtime
#ifndef PDL_RUNTIME_IO_H_
#define PDL_RUNTIME_IO_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "pdl/compiler/export.h"
#include "pdl/op/constant.h"
#include "pdl/op/tensor.h"

// Tensors in files. Reading maps the file: a tensor refers to the mapping where alignment, byte
// order and element order allow, and else is a copy. Every size in a file is checked against the
// file's own length before anything is allocated. Writing goes to a temporary name beside the file,
// which takes its place when it is whole: a file is written whole or not at all.

namespace pdl {

using NamedTensor = std::pair<std::string, Tensor>;
using NamedText = std::pair<std::string, std::string>;

/// NumPy's format, versions 1.0 to 3.0; little or big endian, C or Fortran order. Refused: object
/// arrays, structured types, complex numbers.
PDL_API llvm::Expected<Tensor> ReadNpy(llvm::StringRef path);
/// bf16 has no NumPy dtype and is an Error.
PDL_API llvm::Error WriteNpy(llvm::StringRef path, const Tensor& tensor);

/// A zip archive of npy members, stored or deflated, zip64 too; in the archive's order.
/// Arrays of text (as SciPy puts beside a sparse matrix) are left out.
PDL_API llvm::Expected<std::vector<NamedTensor>> ReadNpz(llvm::StringRef path);
/// Stored, not compressed.
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
  /// What the file says of itself: names and texts, in the order of the names.
  llvm::ArrayRef<NamedText> metadata() const { return metadata_; }
  /// The text of that name; empty where there is none.
  llvm::StringRef FindMetadata(llvm::StringRef name) const;
  const Entry* Find(llvm::StringRef name) const;
  /// Shares the mapping, which lives as long as the Constant.
  Constant Read(const Entry& entry) const;

 private:
  std::vector<Entry> entries_;
  std::vector<NamedText> metadata_;
  std::shared_ptr<const char> data_;  // start of the tensors' bytes
};
/// Wide elements first, then by name, so that every tensor is aligned; deterministic bytes.
PDL_API llvm::Error WriteSafetensors(llvm::StringRef path, llvm::ArrayRef<NamedTensor> tensors,
                                     llvm::ArrayRef<NamedText> metadata = {});

/// SHA-256 of a constant's bytes, in lower-case hex.
PDL_API std::string Sha256(const Constant& constant);
/// The bytes of a file. Only regular files are read: a pipe may never be written to, and a device
/// may never end.
PDL_API llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> ReadFile(llvm::StringRef path);
/// Standard input to its end, of which there may be at most `max_bytes`.
PDL_API llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> ReadStandardInput(int64_t max_bytes);
/// Writes a whole file as above.
PDL_API llvm::Error WriteFileAtomically(llvm::StringRef path, llvm::StringRef bytes);
/// The path of `relative` below `folder`, with no symlink or ".." that leads out of it; an Error
/// otherwise.
PDL_API llvm::Expected<std::string> ResolveInFolder(llvm::StringRef folder,
                                                    llvm::StringRef relative);

}  // namespace pdl

#endif  // PDL_RUNTIME_IO_H_
