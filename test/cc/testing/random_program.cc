#include "test/cc/testing/random_program.h"

#include <random>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

namespace pdl {
namespace {

using llvm::StringRef;

class Generator {
 public:
  Generator(uint64_t seed, unsigned size) : random_(seed), budget_(size) {
    comment_rate_ = Below(3) == 0 ? 0 : Below(40);
    break_rate_ = Below(3) == 0 ? 0 : Below(40);
  }

  std::string Program() {
    if (Chance(2)) text_ += "\xEF\xBB\xBF";
    OwnLines(0);
    while (budget_ > 0) {
      Statement(0);
      EndLine();
      OwnLines(0);
    }
    if (Chance(10)) Comment();
    return std::move(text_);
  }

 private:
  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  bool Chance(uint32_t percent) { return Below(100) < percent; }
  int SomeDepth() { return Chance(8) ? 4 : 1 + static_cast<int>(Below(2)); }
  StringRef Pick(llvm::ArrayRef<const char*> items) {
    return items[Below(static_cast<uint32_t>(items.size()))];
  }

  // --- Layout -------------------------------------------------------------------------------
  void Comment() {
    text_ += Pick({"#", "# why", "## What it is.", "##", "#tight", "# größer als \xE2\x82\xAC 3",
                   "# \"quoted\" { [ (", "# a remark that is about as long as one in a real text",
                   "# ends in blanks  \t", "### three"});
  }
  void Newline() { text_ += Chance(3) ? "\r\n" : "\n"; }
  void Blanks() { text_.append(Below(4), Chance(95) ? ' ' : '\t'); }
  void EndLine() {
    Blanks();
    if (Below(100) < comment_rate_) Comment();
    Newline();
  }
  void OwnLines(unsigned depth) {
    while (Chance(25)) Newline();
    while (Below(100) < comment_rate_) {
      text_.append(Chance(80) ? 2 * depth : Below(9), ' ');
      Comment();
      Newline();
      while (Chance(20)) Newline();
    }
    text_.append(Chance(80) ? 2 * depth : Below(9), ' ');
  }

  static bool IsWord(char c) { return llvm::isAlnum(c) || c == '_' || c == '"'; }
  static bool MayTouch(char last, StringRef next) {
    if (IsWord(last) && IsWord(next[0])) return false;
    if (llvm::isDigit(last) && next == ".") return false;
    const StringRef closed = "()[]{},\"";
    if (closed.contains(last) || closed.contains(next[0])) return true;
    return IsWord(last) || IsWord(next[0]);
  }
  // Separators between two tokens.
  void Token(StringRef token) {
    const size_t before = text_.size();
    if (groups_ > 0) {
      while (Below(100) < break_rate_ / 4 || Below(200) < comment_rate_ / 4) {
        Blanks();
        if (Below(200) < comment_rate_) Comment();
        Newline();
      }
    }
    if (Chance(60)) Blanks();
    if (text_.size() == before && !text_.empty() && !MayTouch(text_.back(), token)) text_ += ' ';
    text_ += token;
  }
  // Inside a statement, but outside brackets: a line may only break before a pipe.
  void PipeSign() {
    if (groups_ == 0 && Below(100) < break_rate_) {
      EndLine();
      OwnLines(2);
    }
    Token("|>");
  }
  void Open(StringRef bracket) {
    Token(bracket);
    ++groups_;
  }
  void Close(StringRef bracket, bool may_have_comma) {
    if (may_have_comma && Chance(5)) Token(",");
    Token(bracket);
    --groups_;
  }

  // --- Words --------------------------------------------------------------------------------
  // Where the grammar requires the token NAME.
  StringRef PlainName() {
    return Pick({"x", "y", "w1", "N", "T", "F", "f32", "bool", "_", "input", "state", "feed",
                 "error", "int", "hidden_state", "a_name_that_is_rather_long_for_a_name"});
  }
  StringRef Name() {
    if (Chance(80)) return PlainName();
    return Pick({"where", "as", "into", "over", "every", "tol", "test", "load", "param", "attr",
                 "update", "output"});
  }
  StringRef Text() {
    return Pick({"\"\"", "\"a text\"", "\"\\n\\t\\\\\\\"\\u{1F600}\"", "\"# no comment\"",
                 "\"\xC3\xA4\xC3\xB6\xC3\xBC |> {\"", "\"tab\there\"",
                 "\"a text that goes on for so long that lines with it tend to be too long\""});
  }
  StringRef Number() {
    return Pick({"0", "3", "1_000", "2.5", "1e-3", "1.5E+10", "inf", "nan", "9223372036854775807",
                 "0.1", "1__0", "6e4", "123456.789012345678901234567890"});
  }

  // --- Expressions --------------------------------------------------------------------------
  void Arguments(int depth, bool named_only, bool may_name, bool may_spread) {
    const uint32_t count = depth < 2 && Chance(4) ? 10 + Below(40) : Below(4);
    for (uint32_t i = 0; i < count; ++i) {
      if (i > 0) Token(",");
      if (named_only || (may_name && Chance(40))) {
        Token(Name());
        Token("=");
        Unwrap(depth);
      } else {
        Unwrap(depth);
        if (may_spread && Chance(8)) Token("...");
      }
    }
    trailing_comma_ = count > 0;
  }
  void Group(StringRef open, StringRef close, int depth, bool named_only, bool may_name) {
    Open(open);
    Arguments(depth, named_only, may_name, !named_only);
    Close(close, trailing_comma_);
  }
  // Where a record is allowed.
  void Unwrap(int depth) {
    if (depth > 0 && Chance(6)) {
      Group("{", "}", depth - 1, true, true);
    } else {
      Expr(depth);
    }
  }
  void Subscript(int depth) {
    if (Chance(10)) return Token("...");
    const uint32_t colons = Below(3);
    if (colons == 0 || Chance(50)) Expr(depth);
    for (uint32_t i = 0; i < colons; ++i) {
      Token(":");
      if (Chance(50)) Expr(depth);
    }
  }
  void Postfix(int depth, bool ends_in_call) {
    if (ends_in_call || depth <= 0 || Chance(70)) {
      if (depth <= 0 || ends_in_call || Chance(60)) {
        if (ends_in_call || Chance(60)) {
          Token(Name());
        } else if (Chance(60)) {
          Token(Number());
        } else {
          Token(Chance(50) ? Text() : Pick({"true", "false", "none"}));
        }
      } else {
        Token(Name());
      }
    } else if (Chance(50)) {
      Open("(");
      Expr(depth - 1);
      Close(")", false);
    } else if (Chance(20)) {
      Matrix();
    } else {
      Group("[", "]", depth - 1, false, false);
    }
    while (depth > 0 && Chance(30)) {
      switch (Below(3)) {
        case 0:
          Group("(", ")", depth - 1, false, true);
          break;
        case 1: {
          Open("[");
          const uint32_t count = 1 + Below(3);
          for (uint32_t i = 0; i < count; ++i) {
            if (i > 0) Token(",");
            Subscript(depth - 1);
          }
          Close("]", true);
          break;
        }
        default:
          Token(".");
          Token(Name());
      }
    }
    if (ends_in_call) Group("(", ")", depth - 1, false, true);
  }
  void Matrix() {
    Open("[");
    const uint32_t rows = 1 + Below(4);
    for (uint32_t i = 0; i < rows; ++i) {
      if (i > 0) Token(",");
      if (Chance(50)) Newline();
      Open("[");
      const uint32_t columns = Below(12);
      for (uint32_t j = 0; j < columns; ++j) {
        if (j > 0) Token(",");
        if (Chance(30)) Token("-");
        Token(Number() == "9223372036854775807" ? "1" : "2.5");
      }
      Close("]", columns > 0);
    }
    Close("]", true);
  }
  void Unary(int depth) {
    while (Chance(8)) Token("-");
    Postfix(depth, false);
    while (depth > 0 && Chance(5)) {
      Token("**");
      while (Chance(10)) Token("-");
      Postfix(depth, false);
    }
  }
  template <typename F>
  void Chain(int depth, uint32_t percent, llvm::ArrayRef<const char*> signs, F&& operand) {
    operand();
    if (depth <= 0) return;
    if (Chance(1) && Chance(30)) percent = 97;
    while (Chance(percent)) {
      Token(Pick(signs));
      operand();
    }
  }
  void Sum(int depth) {
    Chain(depth, 15, {"+", "-"},
          [&] { Chain(depth, 12, {"*", "/", "//", "%", "@"}, [&] { Unary(depth); }); });
  }
  void Compare(int depth) {
    while (Chance(2)) Token("not");
    Sum(depth);
    if (depth > 0 && Chance(4)) {
      Token(Chance(50) ? ".." : "..=");
      Sum(depth);
    }
    if (depth > 0 && Chance(6)) {
      Token(Pick({"==", "!=", "<", "<=", ">", ">=", "in"}));
      Sum(depth);
    }
  }
  void Expr(int depth) {
    Chain(depth, 4, {"or"}, [&] { Chain(depth, 4, {"and"}, [&] { Compare(depth); }); });
    if (depth <= 0) return;
    const uint32_t percent = Chance(20) ? 60 : 2;
    while (Chance(percent)) {
      PipeSign();
      Postfix(depth, true);
    }
  }

  // --- Types --------------------------------------------------------------------------------
  void TypeTerm() {
    if (Chance(10)) {
      Open("[");
      Token(PlainName());
      Close("]", false);
    } else {
      if (Chance(10)) Token("sparse");
      Token(PlainName());
      if (Chance(10)) Token("?");
      if (Chance(70)) {
        Open("[");
        const uint32_t count = Below(4);
        for (uint32_t i = 0; i < count; ++i) {
          if (i > 0) Token(",");
          if (Chance(10)) {
            Token("...");
          } else if (Chance(10)) {
            Token("~");
            Token(PlainName());
          } else {
            Expr(1);
          }
        }
        Close("]", count > 0);
      }
    }
    if (Chance(20)) {
      Token("in");
      Expr(2);
    } else if (Chance(20)) {
      Token(Pick({"<", "<=", ">", ">="}));
      if (Chance(30)) Token("-");
      if (Chance(20)) {
        Open("(");
        Expr(2);
        Close(")", false);
      } else {
        Token(Chance(50) ? StringRef("2.5") : PlainName());
      }
    }
  }
  void Type() {
    TypeTerm();
    while (Chance(10)) {
      Token("|");
      TypeTerm();
    }
  }
  void Where(uint32_t percent) {
    if (!Chance(percent)) return;
    Token("where");
    Expr(2);
    while (Chance(30)) {
      Token(",");
      Expr(2);
    }
  }
  void With(uint32_t percent) {
    if (!Chance(percent)) return;
    Token("with");
    Unwrap(SomeDepth());
  }

  // --- Statements ---------------------------------------------------------------------------
  void Block(int depth) {
    Token("{");
    if (Chance(5)) {
      Token("}");
    } else if (Chance(25)) {
      const uint32_t breaks = std::exchange(break_rate_, 0);
      text_ += ' ';
      Statement(depth + 1);
      break_rate_ = breaks;
      text_ += " }";
    } else {
      EndLine();
      OwnLines(static_cast<unsigned>(depth) + 1);
      const uint32_t count = Below(5);
      for (uint32_t i = 0; i < count; ++i) {
        Statement(depth + 1);
        EndLine();
        OwnLines(static_cast<unsigned>(depth) + 1);
      }
      Token("}");
    }
  }
  void Parameter() {
    Token(Name());
    if (Chance(10)) Token("...");
    Token(":");
    Type();
    if (Chance(40)) {
      Token("=");
      Unwrap(2);
    }
  }
  void Bindings(bool may_be_nameless) {
    const uint32_t count = 1 + (Chance(20) ? Below(4) : 0);
    for (uint32_t i = 0; i < count; ++i) {
      if (i > 0) Token(",");
      if (may_be_nameless && Chance(50)) {
        Expr(SomeDepth());
        continue;
      }
      Token(Name());
      if (Chance(60) || may_be_nameless) {
        Token("=");
        Unwrap(SomeDepth());
      }
    }
  }
  void Path() {
    Token(Name());
    while (Chance(30)) {
      Token(".");
      Token(Name());
    }
  }
  void Word(StringRef word) {
    text_ += word;
    text_ += ' ';
  }
  void Declared(StringRef word, bool has_value) {
    Word(word);
    Token(Name());
    Token(":");
    Type();
    if (!has_value) return;
    Token("=");
    Unwrap(SomeDepth());
  }

  // No blanks before a statement.
  void Statement(int depth) {
    if (budget_ > 0) --budget_;
    const bool may_nest = depth < 4 && budget_ > 0;
    switch (Below(24)) {
      case 0:
        return Declared("attr", Chance(70));
      case 1:
        Declared("input", false);
        return Where(30);
      case 2:
        Declared("param", true);
        return With(40);
      case 3:
        return Declared("state", true);
      case 4:
        Word("update");
        Token(Name());
        Token("=");
        return Unwrap(SomeDepth());
      case 5:
        Word("output");
        return Bindings(false);
      case 6:
        text_ += "return";
        return Bindings(true);
      case 7:
        if (!may_nest) break;
        Word("layer");
        Token(Name());
        Open("(");
        for (uint32_t i = 0, count = Below(6); i < count; ++i) {
          if (i > 0) Token(",");
          Parameter();
        }
        Close(")", false);
        Where(20);
        return Block(depth);
      case 8:
        Word("layer");
        Token(Name());
        Token("=");
        return Unwrap(SomeDepth());
      case 9:
        text_ += "import";
        Token(Text());
        if (Chance(50)) {
          Token("as");
          Token(Name());
        }
        return;
      case 10:
        text_ += "load";
        Token(Text());
        if (Chance(50)) {
          Token("into");
          Path();
        }
        return;
      case 11:
        text_ += "minimize";
        Expr(SomeDepth());
        if (Chance(50)) {
          Token("over");
          Expr(2);
        }
        With(100);
        if (Chance(30)) {
          Token("every");
          Expr(1);
        }
        return;
      case 12:
        text_ += "assert";
        Expr(SomeDepth());
        if (Chance(50)) {
          Token(",");
          Token(Text());
        }
        return;
      case 13:
        Word("feed");
        Path();
        Token("=");
        return Unwrap(SomeDepth());
      case 14:
        text_ += "expect";
        if (Chance(30)) {
          text_ += " error ";
          Token(Text());
          Token("in");
          return Expr(SomeDepth());
        }
        Expr(SomeDepth());
        if (Chance(60)) {
          Token("~=");
          Expr(SomeDepth());
          if (Chance(50)) {
            Token("tol");
            Expr(1);
          }
        }
        return;
      case 15:
      case 16:
        if (!may_nest) break;
        text_ += "if";
        Expr(SomeDepth());
        Block(depth);
        while (Chance(20)) {
          Token("else");
          text_ += Chance(50) ? " if" : "  if";
          Expr(SomeDepth());
          Block(depth);
        }
        if (Chance(30)) {
          Token("else");
          Block(depth);
        }
        return;
      case 17:
        if (!may_nest) break;
        text_ += "for";
        Token(Name());
        if (Chance(40)) {
          Token(",");
          Token(Name());
        }
        Token("in");
        Expr(SomeDepth());
        return Block(depth);
      case 18:
        if (!may_nest) break;
        text_ += "test";
        Token(Text());
        With(40);
        return Block(depth);
      case 19:
        // An expression that does not begin with a keyword of a statement.
        text_ += "x";
        if (Chance(60)) Group("(", ")", 3, false, true);
        return;
      case 20:
        text_ += Name();
        while (Chance(40)) {
          Token(",");
          Token(Name());
        }
        Token("=");
        return Unwrap(SomeDepth());
      case 21:
        text_ += Name();
        Token(":");
        Type();
        Token("=");
        return Unwrap(SomeDepth());
      default:
        break;
    }
    text_ += Name();
    Token("=");
    Unwrap(SomeDepth());
  }

  std::mt19937_64 random_;
  std::string text_;
  unsigned budget_;
  unsigned groups_ = 0;
  uint32_t comment_rate_ = 0;
  uint32_t break_rate_ = 0;
  bool trailing_comma_ = false;
};

}  // namespace

std::string RandomProgram(uint64_t seed, unsigned size) { return Generator(seed, size).Program(); }

}  // namespace pdl
