#ifndef PDL_FRONTEND_SYNTAX_TOKEN_H_
#define PDL_FRONTEND_SYNTAX_TOKEN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "antlr4-runtime.h"
#include "pdl/compiler/source.h"

namespace pdl {

/// A token of the grammar: its type (PdlParser::NAME, …) and its bytes.
class Token final : public antlr4::Token {
 public:
  Token(size_t type, SourceRange range) : type_(static_cast<uint32_t>(type)), range_(range) {}

  size_t type() const { return type_ == kEof ? antlr4::Token::EOF : type_; }
  SourceRange range() const { return range_; }

  size_t getType() const override { return type(); }
  size_t getStartIndex() const override { return range_.begin; }
  size_t getStopIndex() const override { return range_.end; }
  // The remaining functions are only used by the parser's own error reports.
  std::string getText() const override { return {}; }
  size_t getLine() const override { return 0; }
  size_t getCharPositionInLine() const override { return 0; }
  size_t getChannel() const override { return DEFAULT_CHANNEL; }
  size_t getTokenIndex() const override { return 0; }
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  antlr4::CharStream* getInputStream() const override { return nullptr; }
  std::string toString() const override { return {}; }

 private:
  static constexpr uint32_t kEof = UINT32_MAX;
  uint32_t type_;
  SourceRange range_;
};

/// Provides the tokens of one statement to the generated parser, and the last one that it took.
class UnitStream final : public antlr4::TokenStream {
 public:
  /// `tokens` end in EOF and outlive the parse.
  void SetTokens(std::vector<Token>* tokens) {
    tokens_ = tokens;
    next_ = 0;
  }

  /// The last token that the parser took.
  const Token& last() const { return (*tokens_)[next_ - 1]; }
  const Token& next() const { return (*tokens_)[next_]; }
  size_t position() const { return next_; }
  const std::vector<Token>& tokens() const { return *tokens_; }

  void consume() override {
    if (next_ + 1 < tokens_->size()) ++next_;
  }
  size_t LA(ssize_t k) override { return k == 1 ? next().type() : LT(k)->getType(); }
  antlr4::Token* LT(ssize_t k) override {
    const size_t at = k > 0 ? next_ + static_cast<size_t>(k) - 1 : next_ - static_cast<size_t>(-k);
    return &(*tokens_)[at < tokens_->size() ? at : (k > 0 ? tokens_->size() - 1 : 0)];
  }
  antlr4::Token* get(size_t index) const override { return &(*tokens_)[index]; }
  ssize_t mark() override { return 0; }
  void release(ssize_t) override {}
  size_t index() override { return next_; }
  void seek(size_t index) override { next_ = index; }
  size_t size() override { return tokens_ == nullptr ? 0 : tokens_->size(); }
  std::string getSourceName() const override { return {}; }
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  std::string getText(const antlr4::misc::Interval&) override { return {}; }
  std::string getText() override { return {}; }
  std::string getText(antlr4::RuleContext*) override { return {}; }
  std::string getText(antlr4::Token*, antlr4::Token*) override { return {}; }

 private:
  std::vector<Token>* tokens_ = nullptr;
  size_t next_ = 0;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_SYNTAX_TOKEN_H_
