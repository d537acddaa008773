#ifndef PDL_TOOLS_PDL_TEST_CALLS_H_
#define PDL_TOOLS_PDL_TEST_CALLS_H_

#include <memory>
#include <string>
#include <vector>

#include "pdl/compiler/graph.h"
#include "pdl/op/op_def.h"
#include "pdl/op/tensor.h"
#include "tools/pdl/support/common_options.h"

namespace pdl {

/// A call made by a test, with its attributes and operands.
struct TestCall {
  const OpDef* def = nullptr;
  /// In the order of the declarations, with all defaults filled in.
  std::vector<AttributeValue> attributes;
  /// On the CPU. For a ragged or sparse operand, its stored elements.
  std::vector<Tensor> operands;
  bool is_dense = true;
  /// The sizes of the results; empty if they are known only at run time.
  std::vector<Sizes> results;
  /// For a loop: its body, as returned by ExtractBlock.
  std::shared_ptr<const Graph> body;
  /// The source location: "ops/cos.pdl:3:5".
  std::string place;

  /// For messages: "sum(f32[2, 3], axes=[1])".
  std::string ToString() const;
};

/// The calls of the tests in a source file, in their order. Returns an Error if the source has
/// errors, or if the operands cannot be computed.
llvm::Expected<std::vector<TestCall>> CallsOfTests(llvm::StringRef path,
                                                   const CommonOptions& options);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_TEST_CALLS_H_
