// The tensors of one or more weights files, by name.
#ifndef PDL_RUNTIME_WEIGHT_SOURCE_H_
#define PDL_RUNTIME_WEIGHT_SOURCE_H_

#include <memory>
#include <string>
#include <vector>

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/weights.h"
#include "pdl/op/constant.h"
#include "pdl/runtime/io.h"

namespace pdl {

/// The tensors of a safetensors file, of the files that an index lists, of all files that match a
/// pattern, or of a program. Files are mapped, and their headers read, when the source is opened.
class PDL_API WeightSource {
 public:
  /// Opens a path below `folder`, and reads nothing outside of it (kPathEscapes):
  /// - "model.safetensors.index.json" (any name that ends in .json) is an index of Hugging Face: a
  ///   JSON object whose `weight_map` maps the name of each tensor to the file in the index's
  ///   folder that has it;
  /// - "model-*.safetensors" is a pattern: a `*` in the last part of the path matches any
  ///   characters. At least one file must match, and no tensor may be in two of them;
  /// - everything else is a safetensors file.
  /// The entries' files are relative to `folder`.
  static llvm::Expected<WeightSource> OpenInFolder(llvm::StringRef folder, llvm::StringRef path);
  /// Opens a path that the user gave, which may be anywhere; the files of an index or a pattern are
  /// in its folder. The entries' files are relative to folder().
  static llvm::Expected<WeightSource> Open(llvm::StringRef path);
  /// Tensors in memory; `name` is for messages. An Error if two have the same name.
  static llvm::Expected<WeightSource> FromTensors(llvm::StringRef name,
                                                  llvm::ArrayRef<NamedTensor> tensors);

  /// The path as it was given, for messages.
  const std::string& name() const { return name_; }
  const std::string& folder() const { return folder_; }
  const WeightListing& listing() const { return listing_; }
  /// The file of an entry; null for a tensor in memory.
  const SafetensorsFile* FileOf(const WeightEntry& entry) const;
  /// The stored tensor. Shares the file's mapping.
  Constant ReadStored(const WeightEntry& entry) const;
  /// The tensor as the parameter or state gets it. An Error if there is not enough memory.
  llvm::Expected<Constant> Read(const WeightMatch& match) const;

 private:
  /// Adds the tensors of a file, or those of them that `listed` contains.
  llvm::Error AddFile(llvm::StringRef file, const llvm::StringMap<std::string>* listed);
  llvm::Error AddTensors(llvm::StringRef file, llvm::StringRef path,
                         const llvm::StringMap<std::string>* listed);
  llvm::Error AddIndex(llvm::StringRef path);
  llvm::Error AddPattern(llvm::StringRef path);
  llvm::Error Finish();

  std::string name_;
  std::string folder_;
  WeightListing listing_;
  llvm::StringMap<std::shared_ptr<const SafetensorsFile>> files_;
  llvm::StringMap<Constant> tensors_;
};

/// Converts a stored tensor to the dtype of a variable, and transposes a matrix. Shares the bytes
/// if there is nothing to do. An Error if there is not enough memory. The dtypes must be equal or
/// both floating-point; numbers are rounded to nearest even, and f64 becomes a 16-bit type by way
/// of f32.
PDL_API llvm::Expected<Constant> ConvertWeight(const Constant& stored, DType dtype, bool transpose);

}  // namespace pdl

#endif  // PDL_RUNTIME_WEIGHT_SOURCE_H_
