#include "runtime/training/fingerprint.h"

#include "pdl/runtime/io.h"
#include "pdl/runtime/packed_value.h"

namespace pdl {

std::string FingerprintOf(const Constant& array) {
  constexpr int64_t kPiece = 4096;
  constexpr int64_t kPieces = 256;
  std::string sampled = DTypeName(array.dtype()).str();
  for (const int64_t extent : array.sizes()) sampled += " " + std::to_string(extent);
  sampled += '\n';
  const auto* bytes = static_cast<const char*>(array.data());
  const int64_t size = array.num_bytes();
  if (size <= kPiece * kPieces) {
    if (size > 0) sampled.append(bytes, static_cast<size_t>(size));
  } else {
    const int64_t stride = (size - kPiece) / (kPieces - 1);
    for (int64_t i = 0; i + 1 < kPieces; ++i) sampled.append(bytes + i * stride, kPiece);
    sampled.append(bytes + size - kPiece, kPiece);
  }
  return Sha256(Constant::Copy(DType::kU8, {static_cast<int64_t>(sampled.size())}, sampled.data()));
}

Fingerprints FingerprintsOf(const Dataset& data) {
  Fingerprints hashes;
  for (const Dataset::Field& field : data.fields())
    for (const PartType& part : PartsOf(field.name, field.rows.type))
      hashes[PartName(field.name, part.part)] =
          FingerprintOf(field.rows.part(part.part).ToConstant());
  return hashes;
}

Fingerprints FingerprintsOf(const llvm::StringMap<Constant>& weights) {
  Fingerprints hashes;
  for (const auto& weight : weights) hashes[weight.first().str()] = FingerprintOf(weight.second);
  return hashes;
}

}  // namespace pdl
