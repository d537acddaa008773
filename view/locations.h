#ifndef PDL_VIEW_LOCATIONS_H_
#define PDL_VIEW_LOCATIONS_H_

#include <memory>
#include <string>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/JSON.h"
#include "pdl/compiler/graph.h"
#include "pdl/compiler/source.h"

namespace pdl::view {

/// A string for JSON: at most 300 bytes, and valid UTF-8.
std::string Text(llvm::StringRef text);

/// The source positions of a page: those of the network, or, if none of its sources is known, those
/// in its flat source.
class Locations {
 public:
  Locations(const Graph& graph, llvm::ArrayRef<std::shared_ptr<const SourceFile>> sources);

  /// The index of the position of a value or call in the table of the page; -1 if it is not known.
  int Of(const Value& value);
  int Of(const Op& op);
  /// The innermost position that all these calls were expanded from: the call of their layer.
  int OfLayer(llvm::ArrayRef<Op*> ops);

  /// Writes the members "files" and "locations". A file has its name, its contents, or null if they
  /// are not known, and its words: for each, the distance from the end of the one before and its
  /// length, in UTF-16 code units, and its kind (SemanticToken::Kind). A location is file, line,
  /// column and the index of the one that it was expanded from.
  void Write(llvm::json::OStream& json);

 private:
  void AddFlatSource();
  int IndexOf(LocationId location);
  int Add(Location location, int origin);
  std::vector<LocationId> PathOf(LocationId location) const;
  void WriteFile(llvm::json::OStream& json, size_t file) const;

  const Graph& graph_;
  std::vector<std::shared_ptr<const SourceFile>> sources_;  // by number of file; may be null
  std::vector<std::string> names_;
  /// Locations of the flat source by the names of values; else empty.
  std::shared_ptr<const Graph> flat_;
  struct Entry {
    Location location;
    int origin;
  };
  std::vector<Entry> entries_;
  llvm::DenseMap<LocationId, int> index_;
};

}  // namespace pdl::view

#endif  // PDL_VIEW_LOCATIONS_H_
