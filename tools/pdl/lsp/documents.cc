#include "tools/pdl/lsp/documents.h"

#include <utility>

#include "tools/pdl/lsp/uri.h"

namespace pdl::lsp {
namespace {

constexpr llvm::StringLiteral kByteOrderMark = "\xEF\xBB\xBF";

unsigned ColumnsOfMark(bool has_mark, Encoding encoding) {
  if (!has_mark) return 0;
  return encoding == Encoding::kUtf8 ? 3 : 1;
}

std::string NameOf(llvm::StringRef uri, llvm::StringRef path) {
  return (path.empty() ? uri : path).str();
}

}  // namespace

Document::Document(std::string uri_in, int64_t version_in, std::string contents, Encoding encoding)
    : uri(std::move(uri_in)),
      path(PathOfUri(uri)),
      version(version_in),
      source(),
      has_byte_order_mark(llvm::StringRef(contents).starts_with(kByteOrderMark)),
      lines("") {
  source = std::make_shared<const SourceFile>(NameOf(uri, path), std::move(contents));
  lines = LineTable(source->text(), encoding, ColumnsOfMark(has_byte_order_mark, encoding));
}

void DocumentStore::Touch(Entry* entry) {
  entry->generation = ++last_generation_;
  entry->edited = Clock::now();
  *entry->cancel = true;
}

void DocumentStore::Set(DocumentPtr document) {
  {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[document->uri];
    entry.document = document;
    Touch(&entry);
  }
  changed_.notify_all();
  if (!document->path.empty()) FileChanged(document->path);
}

bool DocumentStore::Close(llvm::StringRef uri) {
  std::string path;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(uri);
    if (found == entries_.end()) return false;
    path = found->second.document->path;
    *found->second.cancel = true;
    entries_.erase(found);
  }
  changed_.notify_all();
  if (!path.empty()) FileChanged(path);
  return true;
}

void DocumentStore::FileChanged(llvm::StringRef path) {
  {
    const std::lock_guard lock(mutex_);
    for (auto& entry : entries_) {
      const CheckedPtr& checked = entry.second.checked;
      if (checked != nullptr && checked->reads.contains(path)) Touch(&entry.second);
    }
  }
  changed_.notify_all();
}

void DocumentStore::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    for (auto& entry : entries_) *entry.second.cancel = true;
  }
  changed_.notify_all();
}

DocumentPtr DocumentStore::Find(llvm::StringRef uri) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(uri);
  return found == entries_.end() ? nullptr : found->second.document;
}

DocumentPtr DocumentStore::FindByPath(llvm::StringRef path) const {
  const std::lock_guard lock(mutex_);
  for (const auto& entry : entries_)
    if (entry.second.document->path == path) return entry.second.document;
  return nullptr;
}

std::vector<DocumentPtr> DocumentStore::All() const {
  const std::lock_guard lock(mutex_);
  std::vector<DocumentPtr> documents;
  for (const auto& entry : entries_) documents.push_back(entry.second.document);
  return documents;
}

std::optional<DocumentStore::Work> DocumentStore::WaitForWork(std::chrono::milliseconds quiet) {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    Entry* next = nullptr;
    for (auto& each : entries_) {
      Entry& entry = each.second;
      if (entry.started == entry.generation) continue;
      if (next == nullptr || entry.generation > next->generation) next = &entry;
    }
    if (next == nullptr) {
      changed_.wait(lock);
      continue;
    }
    const Clock::time_point due = next->edited + quiet;
    if (Clock::now() < due) {
      changed_.wait_until(lock, due);
      continue;
    }
    next->started = next->generation;
    next->cancel = std::make_shared<std::atomic<bool>>(false);
    return Work{next->document, next->generation, next->cancel};
  }
  return std::nullopt;
}

bool DocumentStore::IsCurrent(llvm::StringRef uri, uint64_t generation) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(uri);
  return found != entries_.end() && found->second.generation == generation;
}

void DocumentStore::SetChecked(llvm::StringRef uri, CheckedPtr checked) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(uri);
    if (found == entries_.end()) return;
    found->second.checked = std::move(checked);
  }
  changed_.notify_all();
}

CheckedPtr DocumentStore::LastChecked(llvm::StringRef uri, bool current,
                                      std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  CheckedPtr checked;
  changed_.wait_for(lock, limit, [&] {
    const auto found = entries_.find(uri);
    if (found == entries_.end() || stopped_) return true;
    checked = found->second.checked;
    return checked != nullptr && (!current || checked->generation == found->second.generation);
  });
  return checked;
}

}  // namespace pdl::lsp
