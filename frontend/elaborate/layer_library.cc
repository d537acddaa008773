#include "frontend/elaborate/layer_library.h"

#include "frontend/syntax/parser.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/op/error.h"

namespace pdl {

LayerLibrary::LayerLibrary(std::unique_ptr<Texts> texts) : texts_(std::move(texts)) {}
LayerLibrary::~LayerLibrary() = default;

llvm::Expected<std::shared_ptr<const LayerLibrary>> LayerLibrary::Parse(
    llvm::ArrayRef<std::shared_ptr<const SourceFile>> files) {
  auto texts = std::make_unique<Texts>();
  Diagnostics diagnostics;
  for (const std::shared_ptr<const SourceFile>& file : files)
    texts->asts.push_back(pdl::Parse(file, &diagnostics));
  if (diagnostics.has_errors()) {
    std::string text;
    llvm::raw_string_ostream os(text);
    diagnostics.Render(os);
    return MakeUserError(Code::kSyntax, "{0}", text);
  }
  return std::shared_ptr<const LayerLibrary>(new LayerLibrary(std::move(texts)));
}

}  // namespace pdl
