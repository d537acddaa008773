#ifndef PDL_TEST_CC_TESTING_PARSE_TESTING_H_
#define PDL_TEST_CC_TESTING_PARSE_TESTING_H_

#include <memory>
#include <string>
#include <utility>

#include "frontend/syntax/ast_printer.h"
#include "frontend/syntax/parser.h"
#include "llvm/Support/raw_ostream.h"

namespace pdl {

/// Parsed source, with its diagnostics.
struct Parsed {
  explicit Parsed(std::string text) {
    ast = Parse(std::make_shared<SourceFile>("t.pdl", std::move(text)), &diagnostics);
    diagnostics.Sort();
  }

  std::string Tree() const {
    std::string tree;
    llvm::raw_string_ostream os(tree);
    PrintAst(*ast, os);
    return tree;
  }
  std::string Messages() const {
    std::string messages;
    llvm::raw_string_ostream os(messages);
    diagnostics.Render(os);
    return messages;
  }

  Diagnostics diagnostics;
  std::unique_ptr<Ast> ast;
};

}  // namespace pdl

#endif  // PDL_TEST_CC_TESTING_PARSE_TESTING_H_
