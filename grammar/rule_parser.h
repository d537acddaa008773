#ifndef PDL_GRAMMAR_RULE_PARSER_H_
#define PDL_GRAMMAR_RULE_PARSER_H_

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <typeinfo>
#include <vector>

#include "antlr4-runtime.h"

/// The base class of the generated parser. The grammar decides every choice by one token and builds
/// the tree in its actions, so a rule needs neither a parse tree nor the recovery and prediction of
/// antlr4::Parser, which cost 1,000 instructions a rule. The members below have the names of those
/// that the generated functions use, and hide them:
///
///   - `_input` is the type of the next token only;
///   - the contexts of rules that have ended are reused, and no tree is built;
///   - `finally` does not allocate;
///   - `_errHandler` does nothing unless there is an error.
///
/// In an error, the ANTLRErrorStrategy that setErrorHandler has set finds the state and the
/// contexts that it expects. It must end the parse by an exception.
class RuleParser : public antlr4::Parser {
 public:
  explicit RuleParser(antlr4::TokenStream* stream) : antlr4::Parser(stream) {}
  RuleParser(const RuleParser&) = delete;
  RuleParser& operator=(const RuleParser&) = delete;

  /// Begins at the current token of the stream. Must be called before a rule.
  void Begin() {
    _ctx = nullptr;
    _tracker.Clear();
    setState(antlr4::atn::ATNState::INVALID_STATE_NUMBER);
    lookahead_.type = antlr4::Parser::_input->LA(1);
  }

 protected:
  /// The next token.
  struct Lookahead {
    size_t type = 0;
    size_t LA(ptrdiff_t /*always 1*/) const { return type; }
  };

  /// The contexts of the rules that are being parsed, by depth.
  class Contexts {
   public:
    template <class T>
    T* createInstance(antlr4::ParserRuleContext* parent, size_t invoking_state) {
      static_assert(sizeof(T) <= kBytes && alignof(T) <= alignof(std::max_align_t));
      if (depth_ == slots_.size()) slots_.push_back(std::make_unique<Slot>());
      Slot& slot = *slots_[depth_++];
      if (slot.context != nullptr && typeid(*slot.context) == typeid(T)) {
        slot.context->parent = parent;
        slot.context->invokingState = invoking_state;
        return static_cast<T*>(slot.context);
      }
      slot.Clear();
      T* context = new (slot.bytes.data()) T(parent, invoking_state);
      slot.context = context;
      return context;
    }
    void Pop() { --depth_; }
    void Clear() { depth_ = 0; }

   private:
    static constexpr size_t kBytes = 128;
    struct Slot {
      Slot() = default;
      Slot(const Slot&) = delete;
      Slot& operator=(const Slot&) = delete;
      ~Slot() { Clear(); }
      void Clear() {
        if (context != nullptr) context->~ParserRuleContext();
        context = nullptr;
      }
      alignas(std::max_align_t) std::array<std::byte, kBytes> bytes;
      antlr4::ParserRuleContext* context = nullptr;
    };
    std::vector<std::unique_ptr<Slot>> slots_;
    size_t depth_ = 0;
  };

  /// Passes errors to the error strategy.
  struct Errors {
    RuleParser* parser;
    void sync(antlr4::Parser*) const {}
    void reportMatch(antlr4::Parser*) const {}
    void recoverInline(antlr4::Parser*) const { Strategy().recoverInline(parser); }
    void reportError(antlr4::Parser*, const antlr4::RecognitionException& error) const {
      Strategy().reportError(parser, error);
    }
    void recover(antlr4::Parser*, std::exception_ptr error) const {
      Strategy().recover(parser, std::move(error));
    }
    antlr4::ANTLRErrorStrategy& Strategy() const { return *parser->antlr4::Parser::_errHandler; }
  };

  /// Runs `f` when it is destroyed.
  template <class F>
  struct FinalAction {
    F f;
    ~FinalAction() { f(); }
  };
  template <class F>
  static FinalAction<F> finally(F f) {
    return {f};
  }

  size_t getState() const override { return state_; }
  void setState(size_t state) { state_ = state; }
  void enterRule(antlr4::ParserRuleContext* context, size_t state, size_t /*rule*/) override {
    state_ = state;
    _ctx = context;
  }
  void enterOuterAlt(antlr4::ParserRuleContext*, size_t /*alternative*/) override {}
  void exitRule() {
    state_ = _ctx->invokingState;
    _ctx = static_cast<antlr4::ParserRuleContext*>(_ctx->parent);
    _tracker.Pop();
  }
  antlr4::Token* consume() override {
    antlr4::Parser::_input->consume();
    lookahead_.type = antlr4::Parser::_input->LA(1);
    return nullptr;
  }
  antlr4::Token* match(size_t type) override {
    if (lookahead_.type != type) _errHandler->recoverInline(this);
    return consume();
  }

  Contexts _tracker;
  const Errors* _errHandler = &errors_;
  const Lookahead* _input = &lookahead_;

 private:
  size_t state_ = 0;
  Lookahead lookahead_;
  Errors errors_{this};
};

#endif  // PDL_GRAMMAR_RULE_PARSER_H_
