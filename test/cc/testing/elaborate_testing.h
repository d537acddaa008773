#ifndef PDL_TEST_CC_TESTING_ELABORATE_TESTING_H_
#define PDL_TEST_CC_TESTING_ELABORATE_TESTING_H_

#include <memory>
#include <string>
#include <utility>

#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler/compiler.h"
#include "test/cc/testing/test_ops.h"

namespace pdl {

/// Source compiled with the operators of the tests.
struct Compiled {
  explicit Compiled(std::string text,
                    std::vector<std::pair<std::string, std::string>> settings = {},
                    WeightOpener open_weights = {}) {
    static const OpRegistry* registry = [] {
      auto* ops = new OpRegistry;
      RegisterTestOps(ops);
      return ops;
    }();
    CompileRequest request;
    request.file = std::make_shared<SourceFile>("t.pdl", std::move(text));
    request.registry = registry;
    request.settings = std::move(settings);
    request.open_weights = std::move(open_weights);
    result = Compile(request);
  }

  std::string Messages() const {
    std::string messages;
    llvm::raw_string_ostream os(messages);
    result.diagnostics.Render(os);
    return messages;
  }
  /// The emitted source, or the messages.
  std::string Flat() const { return result.graph ? EmitPdl(*result.graph) : Messages(); }
  /// The type of a value.
  std::string TypeOf(llvm::StringRef name) const {
    if (!result.graph) return Messages();
    const Value* value = result.graph->FindValue(name);
    return value == nullptr ? "no such value" : value->type().ToString();
  }

  CompileResult result;
};

}  // namespace pdl

#endif  // PDL_TEST_CC_TESTING_ELABORATE_TESTING_H_
