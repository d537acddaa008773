#include "pdl/compiler/place.h"

namespace pdl {

static Place ParsePlace(llvm::StringRef text) {
  const auto [place, column] = text.rsplit(':');
  const auto [file, line] = place.rsplit(':');
  Place parsed{file};
  if (line.getAsInteger(10, parsed.line) || column.getAsInteger(10, parsed.column)) return {text};
  return parsed;
}

llvm::SmallVector<Place, 4> PlacesOf(llvm::StringRef path) {
  llvm::SmallVector<llvm::StringRef, 4> parts;
  if (!path.empty()) path.split(parts, " > ");
  llvm::SmallVector<Place, 4> places;
  for (const llvm::StringRef part : parts) places.push_back(ParsePlace(part));
  return places;
}

std::string PlaceToString(const Place& place) {
  if (place.line == 0) return place.file.str();
  return place.file.str() + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

}  // namespace pdl
