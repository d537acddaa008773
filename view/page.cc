// Composes the page of its parts in page/ and the data.
#include <array>
#include <utility>

#include "ir/escape_markup.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler/view.h"
#include "pdl/op/error.h"
#include "view/data.h"
#include "view/page_parts.inc"

namespace pdl {
namespace {

llvm::StringRef Part(llvm::StringRef name) {
  for (const auto& [part, text] : kPageParts)
    if (part == name) return text;
  InternalError("the page has no part " + name.str());
}

/// A source of a Content-Security-Policy: 'sha256-…'.
std::string HashSource(llvm::StringRef text) {
  const std::array<uint8_t, 32> hash = llvm::SHA256::hash(
      llvm::ArrayRef(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
  return "'sha256-" + llvm::encodeBase64(hash) + "'";
}

/// JSON in which no string ends a script or begins a comment of HTML.
std::string EscapeJson(llvm::StringRef json) {
  std::string escaped;
  escaped.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      escaped += "\\u003c";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

std::string RenderPage(const Graph& graph, const ViewOptions& options) {
  const std::string script = (Part("model.js") + Part("place.js") + Part("draw.js") +
                              Part("details.js") + Part("source.js") + Part("page.js"))
                                 .str();
  const llvm::StringRef style = Part("page.css");
  std::string page;
  llvm::raw_string_ostream os(page);
  os << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri "
        "'none'; "
        "form-action 'none'; style-src "
     << HashSource(style) << "; script-src " << HashSource(script)
     << "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>"
     << EscapeMarkup(options.title) << "</title>\n<style>" << style << "</style>\n</head>\n"
     << Part("page.html") << "<script type=\"application/json\" id=\"data\">"
     << EscapeJson(view::PageData(graph, options)) << "</script>\n<script>" << script
     << "</script>\n</body>\n</html>\n";
  return page;
}

std::vector<std::shared_ptr<const SourceFile>> FindViewSources(
    const Graph& graph, std::shared_ptr<const SourceFile> source, llvm::StringRef folder,
    llvm::function_ref<llvm::Expected<std::shared_ptr<const SourceFile>>(llvm::StringRef path)>
        read_import) {
  std::vector<std::shared_ptr<const SourceFile>> sources = {source};
  for (const std::string& name : graph.files()) {
    if (name == source->name()) continue;
    llvm::StringRef path = name;
    if (path.starts_with(folder) && path.drop_front(folder.size()).starts_with("/"))
      path = path.drop_front(folder.size() + 1);
    llvm::Expected<std::shared_ptr<const SourceFile>> file = read_import(path);
    if (!file) {
      llvm::consumeError(file.takeError());
      continue;
    }
    sources.push_back(*file);
  }
  return sources;
}

}  // namespace pdl
