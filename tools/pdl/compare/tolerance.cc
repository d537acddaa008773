#include "tools/pdl/compare/tolerance.h"

#include <limits>

namespace pdl {
namespace {

llvm::Error ReadTolerance(llvm::StringRef text, std::optional<double>* target) {
  double value = 0;
  // Written so that nan is rejected.
  if (text.getAsDouble(value) || !(value >= 0))
    return MakeUsageError("expected a number of at least 0, such as 1e-5, got '{0}'", text);
  *target = value;
  return llvm::Error::success();
}

}  // namespace

void AddToleranceOptions(CommandLine& line, Tolerance* tolerance) {
  line.Section("Tolerances");
  line.AddValue("--rtol", "NUMBER", "relative tolerance", [tolerance](llvm::StringRef text) {
    return ReadTolerance(text, &tolerance->relative);
  });
  line.AddValue("--atol", "NUMBER", "absolute tolerance", [tolerance](llvm::StringRef text) {
    return ReadTolerance(text, &tolerance->absolute);
  });
  line.AddValue("--ulp", "N",
                "floats at most N representable values of their dtype apart are near, whatever "
                "the other tolerances are",
                [tolerance](llvm::StringRef text) -> llvm::Error {
                  auto ulp = ParseInt(text, 0, std::numeric_limits<int64_t>::max());
                  if (!ulp) return ulp.takeError();
                  tolerance->ulp = static_cast<uint64_t>(*ulp);
                  return llvm::Error::success();
                });
  line.AddFlag("--nan-differs", "treat two nans as different", &tolerance->nan_differs);
}

}  // namespace pdl
