#ifndef PDL_TEST_CC_TESTING_CALL_CORPUS_H_
#define PDL_TEST_CC_TESTING_CALL_CORPUS_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pdl/compiler/test_block.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/storage.h"
#include "test/cc/testing/random_source.h"

namespace pdl {

/// A valid call of an operator, with the values of its operands.
struct CorpusCall {
  const OpDef* def = nullptr;
  /// Complete and in declaration order.
  std::vector<AttributeValue> attributes;
  std::vector<PackedConstant> operands;
};

/// The calls and networks in the `test` blocks of the sources of a tree. Sources are read when they
/// are first needed, and kept.
class CallCorpus {
 public:
  /// `root` is the folder of the repository.
  explicit CallCorpus(std::string root);

  /// A call of the operator in the tests of test/ops/NAME.pdl; nullopt if they have none whose
  /// operands can be computed.
  std::optional<CorpusCall> PickCall(const OpDef& def, RandomSource& random);
  /// The network of a test of layers or of networks; nullopt if the chosen one does not
  /// compile without the files of its folder.
  std::optional<Graph> PickNetwork(RandomSource& random);

 private:
  const TestSuite* SuiteOf(const std::string& path);
  const std::vector<CorpusCall>& CallsOf(const std::string& path, unsigned test);

  std::string root_;
  std::vector<std::string> networks_;
  std::map<std::string, std::unique_ptr<TestSuite>> suites_;
  std::map<std::pair<std::string, unsigned>, std::vector<CorpusCall>> calls_;
};

}  // namespace pdl

#endif  // PDL_TEST_CC_TESTING_CALL_CORPUS_H_
