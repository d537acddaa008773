// Diagnostics for programs that read SARIF 2.1.0 (OASIS).
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "pdl/compiler/diagnostic.h"
#include "pdl/version.h"

namespace pdl {
namespace {

using llvm::json::Array;
using llvm::json::Object;

Object TextMessage(llvm::StringRef text) { return Object{{"text", llvm::json::fixUTF8(text)}}; }

// The name of a file as a URI reference (RFC 3986): absolute ones begin with file://.
std::string FileUri(llvm::StringRef name) {
  std::string uri = llvm::sys::path::is_absolute(name) ? "file://" : "";
  // A colon in the first segment would end a scheme.
  if (uri.empty() && name.take_until([](char c) { return c == '/'; }).contains(':')) uri = "./";
  for (const char c : name) {
    if (llvm::isAlnum(c) || llvm::StringRef("-._~/:@!$&'()*+,;=").contains(c)) {
      uri += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      uri += {'%', llvm::hexdigit(byte >> 4), llvm::hexdigit(byte & 15)};
    }
  }
  return uri;
}

Object Region(const SourceFile& file, SourceRange range) {
  const SourcePosition begin = file.PositionOf(range.begin);
  const SourcePosition end = file.PositionOf(std::max(range.begin, range.end));
  return Object{{"startLine", begin.line},
                {"startColumn", begin.column},
                {"endLine", end.line},
                {"endColumn", end.column}};
}

Object PhysicalLocation(const SourceFile& file, SourceRange range) {
  return Object{{"artifactLocation", Object{{"uri", FileUri(file.name())}}},
                {"region", Region(file, range)}};
}

Object Fix(const SourceFile& file, const Suggestion& suggestion) {
  Object replacement{{"deletedRegion", Region(file, suggestion.range)},
                     {"insertedContent", TextMessage(suggestion.replacement)}};
  Object change{{"artifactLocation", Object{{"uri", FileUri(file.name())}}},
                {"replacements", Array{std::move(replacement)}}};
  return Object{{"description", TextMessage(suggestion.ToString(file))},
                {"artifactChanges", Array{std::move(change)}}};
}

Object Result(const Diagnostic& diagnostic, const llvm::DenseMap<Code, int>& rules) {
  std::string text = diagnostic.message;
  Array related;
  for (const DiagnosticNote& note : diagnostic.notes) {
    if (note.file == nullptr) {
      text += "\n" + note.text;
      continue;
    }
    related.push_back(Object{{"id", static_cast<int64_t>(related.size()) + 1},
                             {"physicalLocation", PhysicalLocation(*note.file, note.range)},
                             {"message", TextMessage(note.text)}});
  }
  Object result{{"level", SeverityName(diagnostic.severity)}, {"message", TextMessage(text)}};
  if (const auto rule = rules.find(diagnostic.code); rule != rules.end()) {
    result["ruleId"] = CodeName(diagnostic.code);
    result["ruleIndex"] = rule->second;
  }
  if (diagnostic.file != nullptr) {
    Object location{{"physicalLocation", PhysicalLocation(*diagnostic.file, diagnostic.primary)}};
    Array underlined;
    for (SourceRange range : diagnostic.secondary)
      underlined.push_back(Region(*diagnostic.file, range));
    if (!underlined.empty()) location["annotations"] = std::move(underlined);
    result["locations"] = Array{std::move(location)};
  }
  if (!related.empty()) result["relatedLocations"] = std::move(related);
  if (diagnostic.suggestion && diagnostic.file != nullptr)
    result["fixes"] = Array{Fix(*diagnostic.file, *diagnostic.suggestion)};
  return result;
}

}  // namespace

void RenderSarif(llvm::ArrayRef<Diagnostic> diagnostics, llvm::raw_ostream& os) {
  Array rules;
  llvm::DenseMap<Code, int> index;
  for (const Code code : AllCodes()) {
    index[code] = static_cast<int>(rules.size());
    rules.push_back(Object{{"id", CodeName(code)},
                           {"shortDescription", TextMessage(CodeTitle(code))},
                           {"help", TextMessage(CodeExplanation(code))}});
  }
  Array results;
  for (const Diagnostic& diagnostic : diagnostics) results.push_back(Result(diagnostic, index));
  Object driver{{"name", "pdl"}, {"semanticVersion", version_string}, {"rules", std::move(rules)}};
  Object run{{"tool", Object{{"driver", std::move(driver)}}},
             {"columnKind", "unicodeCodePoints"},
             {"results", std::move(results)}};
  Object log{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
             {"version", "2.1.0"},
             {"runs", Array{std::move(run)}}};
  os << llvm::formatv("{0:2}", llvm::json::Value(std::move(log))) << '\n';
}

}  // namespace pdl
