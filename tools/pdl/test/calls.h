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

/// A call that a test makes, with what it is given.
struct TestCall {
  const OpDef* def = nullptr;
  /// In the order of the declarations, every default filled in.
  std::vector<AttributeValue> attributes;
  /// On the CPU. Of a ragged or sparse operand, the elements that are there.
  std::vector<Tensor> operands;
  bool is_dense = true;
  /// Sizes of the results; none where only the run knows them.
  std::vector<Sizes> results;
  /// Of a loop: its body, as ExtractBlock gives it.
  std::shared_ptr<const Graph> body;
  /// "ops/cos.pdl:3:5".
  std::string place;

  /// "sum(f32[2, 3], axes=[1])".
  std::string ToString() const;
};

/// The calls of the tests in a text, in their order. An Error where the
/// text has mistakes, or what gives the operands cannot be computed.
llvm::Expected<std::vector<TestCall>> CallsOfTests(llvm::StringRef path,
                                                   const CommonOptions& options);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_TEST_CALLS_H_
