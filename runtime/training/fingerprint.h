#ifndef PDL_RUNTIME_TRAINING_FINGERPRINT_H_
#define PDL_RUNTIME_TRAINING_FINGERPRINT_H_

#include <map>
#include <string>

#include "llvm/ADT/StringMap.h"
#include "pdl/op/constant.h"
#include "pdl/train/dataset.h"

namespace pdl {

/// Hashes of arrays, by their names.
using Fingerprints = std::map<std::string, std::string>;

/// SHA-256, in lower-case hex, of the dtype, the sizes and the elements; of an array of more than
/// 1 MiB of pieces spread over it, 1 MiB together, so that a large mapped file is not read whole.
std::string FingerprintOf(const Constant& array);
/// Of each array that the rows are made of: equal data have equal ones, whatever form of file they
/// come from.
Fingerprints FingerprintsOf(const Dataset& data);
Fingerprints FingerprintsOf(const llvm::StringMap<Constant>& weights);

}  // namespace pdl

#endif  // PDL_RUNTIME_TRAINING_FINGERPRINT_H_
