#ifndef PDL_TEST_CC_TESTING_RANDOM_CALL_H_
#define PDL_TEST_CC_TESTING_RANDOM_CALL_H_

#include <optional>
#include <vector>

#include "pdl/op/op_def.h"
#include "pdl/op/storage.h"
#include "test/cc/testing/call_corpus.h"
#include "test/cc/testing/random_source.h"

namespace pdl {

/// Of an operand or a result.
inline constexpr int64_t kMaxElements = 1 << 15;

/// An operand of a call that is to be added to a network.
struct WantedOperand {
  Type type;
  /// Absent: any value of the type will do.
  std::optional<PackedConstant> value;
};

/// A call that type inference accepts.
struct WantedCall {
  const OpDef* def = nullptr;
  std::vector<AttributeValue> attributes;
  std::vector<WantedOperand> operands;
};

/// Changes a valid call at random: dtypes, sizes, numbers of dims, constant dims to symbols,
/// attributes, values. Returns the last change that type inference accepts, or the call itself.
WantedCall ChangeCall(const CorpusCall& call, RandomSource& random);

/// A symbol whose size is `size`; see RandomGraphSize.
Dim SymbolOfSize(int64_t size, RandomSource& random);

/// A random value of an attribute, in its range; none if there is no other.
AttributeValue RandomAttribute(const AttributeDecl& decl, RandomSource& random);

}  // namespace pdl

#endif  // PDL_TEST_CC_TESTING_RANDOM_CALL_H_
