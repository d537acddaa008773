#ifndef PDL_RUNTIME_TRAINING_FINGERPRINT_H_
#define PDL_RUNTIME_TRAINING_FINGERPRINT_H_

#include <map>
#include <string>

#include "llvm/ADT/StringMap.h"
#include "pdl/op/constant.h"
#include "pdl/train/dataset.h"

namespace pdl {

/// Hashes of arrays, by name.
using Fingerprints = std::map<std::string, std::string>;

/// SHA-256, in lower-case hex, of the dtype, the sizes and the elements. For arrays larger than 1
/// MiB, it covers only evenly distributed samples with a total of 1 MiB, so that large mapped files
/// are not read completely.
std::string FingerprintOf(const Constant& array);
/// The hashes of all arrays of a dataset, which do not depend on the format of the file.
Fingerprints FingerprintsOf(const Dataset& data);
Fingerprints FingerprintsOf(const llvm::StringMap<Constant>& weights);

}  // namespace pdl

#endif  // PDL_RUNTIME_TRAINING_FINGERPRINT_H_
