#include "tools/pdl/support/run_outputs.h"

#include <filesystem>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"
#include "pdl/op/error.h"
#include "pdl/runtime/io.h"
#include "tools/pdl/support/command_line.h"
#include "tools/pdl/support/tensor_archive.h"

namespace pdl {
namespace {

/// The file that writing to `path` creates or replaces. Equal for all paths of that file.
std::string ResolvedPath(llvm::StringRef path) {
  std::error_code code;
  const std::filesystem::path absolute = std::filesystem::absolute(path.str(), code);
  const std::filesystem::path resolved = std::filesystem::weakly_canonical(absolute, code);
  return code ? path.str() : resolved.string();
}

void Print(llvm::StringRef name, const PackedValue& value) {
  const std::string text = PackedToString(value);
  // Values of several lines begin on a line of their own.
  llvm::outs() << name << ": " << value.TypeString() << " ="
               << (llvm::StringRef(text).contains('\n') ? '\n' : ' ') << text << '\n';
}

}  // namespace

llvm::Error RunOutputs::Add(llvm::StringRef argument) {
  const auto [name, file] = argument.split('=');
  const bool is_file = file.ends_with(".npy") || IsArchive(file);
  if (name.empty() || (argument.contains('=') && !is_file)) {
    return MakeUsageError(
        "expected NAME or NAME=FILE, with a FILE.npy, FILE.npz or FILE.safetensors, got '{0}'",
        argument);
  }
  const std::string path = is_file ? ResolvedPath(file) : "";
  for (const Requested& other : requested_) {
    if (!is_file || other.path != path) continue;
    if (other.name == name) return MakeUsageError("'{0}' is written to '{1}' twice", name, file);
    if (!IsArchive(file) || !IsArchive(other.file)) {
      return MakeUsageError(
          "'{0}' and '{1}' are both written to '{2}': give a .npz or .safetensors file, which may "
          "have several arrays",
          other.name, name, file);
    }
  }
  requested_.push_back({name.str(), file.str(), path});
  return llvm::Error::success();
}

void RunOutputs::AddAll(const Graph& graph) {
  if (!requested_.empty()) return;
  for (const GraphOutput& output : graph.outputs()) requested_.push_back({output.name, "", ""});
}

std::vector<std::string> RunOutputs::names() const {
  std::vector<std::string> names;
  for (const Requested& requested : requested_) names.push_back(requested.name);
  return names;
}

bool RunOutputs::WritesTo(llvm::StringRef path) const {
  const std::string resolved = ResolvedPath(path);
  return llvm::any_of(requested_, [&](const Requested& requested) {
    return !requested.file.empty() && requested.path == resolved;
  });
}

llvm::Error RunOutputs::Write(const Requested& first, llvm::ArrayRef<PackedValue> values) const {
  std::vector<NamedTensor> arrays;
  for (const auto& [requested, value] : llvm::zip_equal(requested_, values)) {
    if (requested.path != first.path) continue;
    if (!IsArchive(first.file)) {
      if (value.type.is_plain()) return WriteNpy(first.file, value.values);
      return MakeUserError(Code::kInputType, "'{0}' is {1}, which requires a .npz file: {0}={2}",
                           requested.name, value.type.ToString(),
                           llvm::StringRef(first.file).drop_back(1) + "z");
    }
    for (const PartType& part : PartsOf(requested.name, value.type))
      arrays.emplace_back(PartName(requested.name, part.part), value.part(part.part));
  }
  return WriteArchive(first.file, arrays);
}

llvm::Error RunOutputs::Show(llvm::ArrayRef<PackedValue> values) const {
  for (const auto& [requested, value] : llvm::zip_equal(requested_, values))
    if (requested.file.empty()) Print(requested.name, value);
  llvm::StringSet<> written;
  for (const Requested& requested : requested_) {
    if (requested.file.empty() || !written.insert(requested.path).second) continue;
    if (llvm::Error error = Write(requested, values)) return error;
  }
  return llvm::Error::success();
}

}  // namespace pdl
