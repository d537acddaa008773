// The fuzz targets: one for each kind of untrusted input.
#ifndef PDL_TEST_FUZZ_TARGET_H_
#define PDL_TEST_FUZZ_TARGET_H_

#include <google/protobuf/message.h>

#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace pdl::fuzz {

/// One kind of untrusted input, and what must hold for any bytes of it.
struct Target {
  /// Also the folder of its files below findings/.
  const char* name;
  /// One line for `pdl_fuzz --target=help`.
  const char* description;
  /// Feeds `bytes` to pdl. Aborts with a message if a property is violated.
  void (*run)(llvm::StringRef bytes);
  /// Valid inputs from the tree at `root`, to start from.
  std::vector<std::string> (*seeds)(llvm::StringRef root);
  /// The largest input in bytes. Small inputs are run more often, and reach the same code.
  size_t max_size;
  /// Words that inputs are likely made of; null where there are none.
  std::vector<std::string> (*words)() = nullptr;
  /// The protobuf message that inputs are mutated as; null: they are mutated as bytes.
  const google::protobuf::Message* message = nullptr;
};

/// All targets.
llvm::ArrayRef<Target> Targets();
/// The target of that name; null where there is none.
const Target* FindTarget(llvm::StringRef name);

}  // namespace pdl::fuzz

#endif  // PDL_TEST_FUZZ_TARGET_H_
