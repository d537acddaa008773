#include "view/locations.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/analysis.h"
#include "pdl/compiler/compiler.h"
#include "pdl/compiler/layers.h"
#include "pdl/op/op_registry.h"

namespace pdl::view {
namespace {

/// The number of UTF-16 code units, by which JavaScript counts, of valid UTF-8.
size_t CountUtf16(llvm::StringRef text) {
  size_t count = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) != 0x80) count += byte >= 0xF0 ? 2 : 1;
  }
  return count;
}

std::shared_ptr<const SourceFile> FindSource(
    llvm::ArrayRef<std::shared_ptr<const SourceFile>> sources, llvm::StringRef name) {
  for (const auto& source : sources)
    if (source != nullptr && source->name() == name) return source;
  for (const auto& source : StandardLayerTexts())
    if (source->name() == name) return source;
  return nullptr;
}

}  // namespace

std::string Text(llvm::StringRef text) {
  constexpr size_t kMaxLength = 300;
  if (text.size() <= kMaxLength) return llvm::json::fixUTF8(text);
  // Ends before a character that does not fit.
  size_t end = kMaxLength;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return llvm::json::fixUTF8(text.take_front(end)) + "…";
}

Locations::Locations(const Graph& graph, llvm::ArrayRef<std::shared_ptr<const SourceFile>> sources)
    : graph_(graph) {
  // A compiled network may have locations in layers although its source is not known.
  if (sources.empty()) {
    AddFlatSource();
    return;
  }
  for (const std::string& name : graph.files()) {
    names_.push_back(name);
    sources_.push_back(FindSource(sources, name));
  }
}

void Locations::AddFlatSource() {
  constexpr size_t kMaxSource = size_t{1} << 20;
  // A name for people, not of a file.
  constexpr const char* kName = "(flat source)";
  std::string text = EmitPdl(graph_, {.trainings = false});
  if (text.size() > kMaxSource) return;
  CompileRequest request;
  request.file = std::make_shared<const SourceFile>(kName, std::move(text));
  request.registry = &GlobalRegistry();
  request.library = StandardLayers();
  CompileResult result = Compile(request);
  if (!result.graph) return;
  flat_ = std::make_shared<const Graph>(std::move(*result.graph));
  names_ = flat_->files().vec();
  for (const std::string& name : names_) sources_.push_back(name == kName ? request.file : nullptr);
}

int Locations::Add(Location location, int origin) {
  entries_.push_back({location, origin});
  return static_cast<int>(entries_.size()) - 1;
}

int Locations::IndexOf(LocationId location) {
  const Graph& graph = flat_ ? *flat_ : graph_;
  // From the outermost position inwards, so that an origin has an index before what came from it.
  int index = -1;
  for (const LocationId id : PathOf(location)) {
    const auto [found, is_new] = index_.try_emplace(id, 0);
    if (is_new) found->second = Add(graph.locations()[id], index);
    index = found->second;
  }
  return index;
}

/// Outermost first.
std::vector<LocationId> Locations::PathOf(LocationId location) const {
  const Graph& graph = flat_ ? *flat_ : graph_;
  std::vector<LocationId> path;
  for (; location != kUnknownLocation; location = graph.locations()[location].origin)
    path.push_back(location);
  std::reverse(path.begin(), path.end());
  return path;
}

int Locations::Of(const Value& value) {
  if (names_.empty()) return -1;
  if (!flat_) return IndexOf(value.location());
  const Value* flat = flat_->FindValue(value.name());
  if (flat == nullptr) return -1;
  return IndexOf(flat->producer() ? flat->producer()->location() : flat->location());
}

int Locations::Of(const Op& op) {
  if (names_.empty()) return -1;
  if (!flat_) return IndexOf(op.location());
  return op.results().empty() ? -1 : Of(*op.result());
}

int Locations::OfLayer(llvm::ArrayRef<Op*> ops) {
  if (names_.empty() || flat_) return ops.empty() ? -1 : Of(*ops.front());
  auto are_equal = [&](LocationId a, LocationId b) {
    const Location &x = graph_.locations()[a], &y = graph_.locations()[b];
    return x.file == y.file && x.line == y.line && x.column == y.column;
  };
  std::vector<LocationId> common = PathOf(ops.front()->location());
  for (const Op* op : ops.drop_front()) {
    const std::vector<LocationId> path = PathOf(op->location());
    size_t i = 0;
    while (i < std::min(common.size(), path.size()) && are_equal(common[i], path[i])) ++i;
    common.resize(i);
  }
  return IndexOf(common.empty() ? ops.front()->location() : common.back());
}

void Locations::WriteFile(llvm::json::OStream& json, size_t file) const {
  const std::shared_ptr<const SourceFile>& source = sources_[file];
  json.attribute("name", Text(names_[file]));
  if (source == nullptr) return json.attribute("text", nullptr);
  json.attribute("text", llvm::json::fixUTF8(source->text()));
  json.attributeArray("words", [&] {
    uint32_t end = 0;
    for (const SemanticToken& token :
         SemanticTokensOf(source, GlobalRegistry(), StandardLayers().get())) {
      if (token.range.begin < end) continue;
      json.value(CountUtf16(source->Text({end, token.range.begin})));
      json.value(CountUtf16(source->Text(token.range)));
      json.value(static_cast<int>(token.kind));
      end = token.range.end;
    }
  });
}

void Locations::Write(llvm::json::OStream& json) {
  constexpr size_t kMaxText = size_t{3} << 19;
  std::vector<bool> is_used(names_.size());
  for (const Entry& entry : entries_) is_used[entry.location.file] = true;
  size_t total = 0;
  json.attributeArray("files", [&] {
    for (size_t i = 0; i < names_.size(); ++i) {
      total += sources_[i] ? sources_[i]->text().size() : 0;
      if (!is_used[i] || total > kMaxText) sources_[i] = nullptr;
      json.object([&] { WriteFile(json, i); });
    }
  });
  json.attributeArray("locations", [&] {
    for (const auto& [location, origin] : entries_)
      json.array([&] {
        json.value(location.file);
        json.value(location.line);
        json.value(location.column);
        json.value(origin);
      });
  });
}

}  // namespace pdl::view
