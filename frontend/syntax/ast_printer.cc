#include "frontend/syntax/ast_printer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "pdl/op/attribute.h"

namespace pdl {
namespace {

using namespace ast;  // NOLINT: this file is about nothing else

// Recursion is bounded: brackets and blocks nest at most kMaxNesting deep, long chains are flat.
class ExprPrinter {
 public:
  ExprPrinter(const SourceFile& file, llvm::raw_ostream& os, bool positions)
      : cursor_(file), os_(os), positions_(positions) {}

 protected:
  // Begins one line of the tree; nodes printed by Below are one level deeper.
  llvm::raw_ostream& Line(llvm::StringRef label) {
    os_.indent(2 * depth_) << label;
    return os_;
  }
  llvm::raw_ostream& Head(llvm::StringRef label, const Statement* statement) {
    if (!positions_) return Line(label.rtrim(' '));
    const SourcePosition position = cursor_.At(statement->range.begin);
    return Line(label) << '@' << position.line << ':' << position.column;
  }
  template <typename F>
  void Below(F&& print) {
    ++depth_;
    print();
    --depth_;
  }
  void Print(const Expr* expr);
  void Print(llvm::StringRef label, const Expr* expr) {
    if (expr == nullptr) return;
    Line(label) << '\n';
    Below([&] { Print(expr); });
  }
  void Print(llvm::ArrayRef<Argument> arguments);
  void Print(const Subscript& subscript);
  void Print(const NumberExpr* number);
  void Print(const CallExpr* call);
  void Print(const IndexExpr* index);
  void Print(const ChainExpr* chain);
  void Print(const ast::Type* type);
  void Quoted(llvm::StringRef text) {
    os_ << '"';
    llvm::printEscapedString(text, os_);
    os_ << '"';
  }

  PositionCursor cursor_;
  llvm::raw_ostream& os_;
  bool positions_;
  unsigned depth_ = 0;
};

class StatementPrinter : public ExprPrinter {
 public:
  using ExprPrinter::ExprPrinter;

  void Print(const Statement* statement);

 private:
  using ExprPrinter::Print;
  void Print(const AttrStatement* s);
  void Print(const InputStatement* s);
  void Print(const VariableStatement* s);
  void Print(const UpdateStatement* s);
  void Print(const OutputStatement* s);
  void Print(const LayerStatement* s);
  void Print(const LayerInstanceStatement* s);
  void Print(const ImportStatement* s);
  void Print(const LoadStatement* s);
  void Print(const MinimizeStatement* s);
  void Print(const AssertStatement* s);
  void Print(const FeedStatement* s);
  void Print(const ExpectStatement* s);
  void Print(const IfStatement* s);
  void Print(const ForStatement* s);
  void Print(const TestStatement* s);
  void Print(const AssignStatement* s);
  void Print(const Block& block) {
    for (const Statement* statement : block.statements) Print(statement);
  }
  void PrintWhere(llvm::ArrayRef<const Expr*> where) {
    for (const Expr* condition : where) Print("where", condition);
  }
  void Path(llvm::ArrayRef<Identifier> path) {
    for (size_t i = 0; i < path.size(); ++i) os_ << (i == 0 ? ' ' : '.') << path[i].text;
  }
  void PrintDoc(llvm::StringRef doc) {
    if (doc.empty()) return;
    Line("doc ");
    Quoted(doc);
    os_ << '\n';
  }
};

void ExprPrinter::Print(llvm::ArrayRef<Argument> arguments) {
  for (const Argument& argument : arguments) {
    if (argument.is_named()) {
      Line("") << argument.name.text << " =\n";
      Below([&] { Print(argument.value); });
    } else if (argument.text != nullptr) {
      Line("");
      Quoted(argument.text->value);
      os_ << ":\n";
      Below([&] { Print(argument.value); });
    } else if (argument.is_spread) {
      Print("...", argument.value);
    } else {
      Print(argument.value);
    }
  }
}

void ExprPrinter::Print(const Subscript& subscript) {
  switch (subscript.kind) {
    case SubscriptKind::kSkipAxes:
      Line("...\n");
      return;
    case SubscriptKind::kIndex:
      Print(subscript.start);
      return;
    case SubscriptKind::kSlice:
      Line("slice\n");
      Below([&] {
        Print("start", subscript.start);
        Print("stop", subscript.stop);
        Print("step", subscript.step);
      });
  }
}

void ExprPrinter::Print(const NumberExpr* number) {
  Line("number ");
  if (number->is_int) {
    os_ << number->int_value << '\n';
  } else {
    os_ << FloatToString(number->float_value) << '\n';
  }
}

void ExprPrinter::Print(const CallExpr* call) {
  if (const auto* name = llvm::dyn_cast<NameExpr>(call->callee)) {
    Line("call ") << name->name << '\n';
  } else {
    Line("call\n");
    Below([&] { Print("callee", call->callee); });
  }
  Below([&] { Print(call->arguments); });
}

void ExprPrinter::Print(const IndexExpr* index) {
  Line("index\n");
  Below([&] {
    Print(index->base);
    for (const Subscript& subscript : index->subscripts) Print(subscript);
  });
}

void ExprPrinter::Print(const ChainExpr* chain) {
  Line("chain\n");
  Below([&] {
    for (size_t i = 0; i < chain->operands.size(); ++i) {
      if (i > 0) Line(Spelling(chain->operators[i - 1].op)) << '\n';
      Print(chain->operands[i]);
    }
  });
}

void ExprPrinter::Print(const Expr* expr) {
  static constexpr llvm::StringLiteral kWords[] = {"true", "false", "none"};
  switch (expr->kind) {
    case ExprKind::kNumber:
      return Print(llvm::cast<NumberExpr>(expr));
    case ExprKind::kString:
      Line("string ");
      Quoted(llvm::cast<StringExpr>(expr)->value);
      os_ << '\n';
      return;
    case ExprKind::kWord: {
      const ast::Word word = llvm::cast<WordExpr>(expr)->word;
      Line(kWords[word == ast::Word::kTrue ? 0 : word == ast::Word::kFalse ? 1 : 2]) << '\n';
      return;
    }
    case ExprKind::kName:
      Line("name ") << llvm::cast<NameExpr>(expr)->name << '\n';
      return;
    case ExprKind::kRagged:
      Line("name ") << '~' << llvm::cast<RaggedExpr>(expr)->symbol.text << '\n';
      return;
    case ExprKind::kParenthesis:
      return Print("parenthesis", llvm::cast<ParenthesisExpr>(expr)->inner);
    case ExprKind::kList:
      Line("list\n");
      return Below([&] { Print(llvm::cast<ListExpr>(expr)->items); });
    case ExprKind::kRecord:
      Line("record\n");
      return Below([&] { Print(llvm::cast<RecordExpr>(expr)->fields); });
    case ExprKind::kCall:
      return Print(llvm::cast<CallExpr>(expr));
    case ExprKind::kIndex:
      return Print(llvm::cast<IndexExpr>(expr));
    case ExprKind::kMember: {
      const auto* member = llvm::cast<MemberExpr>(expr);
      Line("member ") << member->member.text << '\n';
      return Below([&] { Print(member->base); });
    }
    case ExprKind::kPrefix: {
      const auto* prefix = llvm::cast<PrefixExpr>(expr);
      Line("prefix ") << Spelling(prefix->op) << '\n';
      return Below([&] { Print(prefix->operand); });
    }
    case ExprKind::kChain:
      return Print(llvm::cast<ChainExpr>(expr));
  }
}

void ExprPrinter::Print(const ast::Type* type) {
  if (type == nullptr) return;
  for (const TypeTerm& term : type->terms) {
    Line("type ");
    if (term.is_sparse) os_ << "sparse ";
    if (term.is_list) {
      os_ << '[' << term.name.text << ']';
    } else {
      os_ << term.name.text << (term.may_be_none ? "?" : "") << (term.has_dims ? "[]" : "");
    }
    os_ << '\n';
    Below([&] {
      for (const ast::Dim& dim : term.dims) {
        if (dim.kind == DimKind::kAny) {
          Line("...\n");
        } else if (dim.kind == DimKind::kRagged) {
          Line("ragged ") << dim.symbol.text << '\n';
        } else {
          Print(dim.expr);
        }
      }
      static constexpr llvm::StringLiteral kRanges[] = {"", "in", ">", ">=", "<", "<="};
      Print(kRanges[static_cast<size_t>(term.value_range.kind)], term.value_range.value);
    });
  }
}

void StatementPrinter::Print(const AttrStatement* s) {
  Head("attr ", s) << ' ' << s->name.text << '\n';
  Below([&] {
    PrintDoc(s->doc);
    Print(s->type);
    Print("default", s->default_value);
  });
}

void StatementPrinter::Print(const InputStatement* s) {
  Head("input ", s) << ' ' << s->name.text << '\n';
  Below([&] {
    PrintDoc(s->doc);
    Print(s->type);
    PrintWhere(s->where);
  });
}

void StatementPrinter::Print(const VariableStatement* s) {
  Head(s->kind == StatementKind::kParam ? "param " : "state ", s) << ' ' << s->name.text << '\n';
  Below([&] {
    PrintDoc(s->doc);
    if (s->type != nullptr) Print(s->type);
    Print("initial", s->initial);
    Print("with", s->with);
  });
}

void StatementPrinter::Print(const UpdateStatement* s) {
  Head("update ", s) << ' ' << s->name.text << '\n';
  Below([&] { Print(s->value); });
}

void StatementPrinter::Print(const OutputStatement* s) {
  Head(s->kind == StatementKind::kOutput ? "output " : "return ", s) << '\n';
  Below([&] { Print(s->bindings); });
}

void StatementPrinter::Print(const LayerStatement* s) {
  Head("layer ", s) << ' ' << s->name.text << '\n';
  Below([&] {
    PrintDoc(s->doc);
    for (const Parameter& parameter : s->parameters) {
      Line("parameter ") << parameter.name.text << (parameter.is_repeatable ? "...\n" : "\n");
      Below([&] {
        PrintDoc(parameter.doc);
        Print(parameter.type);
        Print("default", parameter.default_value);
      });
    }
    PrintWhere(s->where);
    Print(s->body);
  });
}

void StatementPrinter::Print(const LayerInstanceStatement* s) {
  Head("instance ", s) << ' ' << s->name.text << '\n';
  Below([&] { Print(s->value); });
}

void StatementPrinter::Print(const ImportStatement* s) {
  Head("import ", s) << ' ';
  Quoted(s->path.value);
  if (!s->as.text.empty()) os_ << " as " << s->as.text;
  os_ << '\n';
}

void StatementPrinter::Print(const LoadStatement* s) {
  Head("load ", s) << ' ';
  Quoted(s->path.value);
  if (!s->into.empty()) os_ << " into";
  Path(s->into);
  os_ << '\n';
}

void StatementPrinter::Print(const MinimizeStatement* s) {
  Head("minimize ", s) << '\n';
  Below([&] {
    Print(s->loss);
    Print("over", s->over);
    Print("with", s->with);
    Print("every", s->every);
  });
}

void StatementPrinter::Print(const AssertStatement* s) {
  Head("assert ", s) << '\n';
  Below([&] {
    Print(s->condition);
    PrintDoc(s->message.value);
  });
}

void StatementPrinter::Print(const FeedStatement* s) {
  Head("feed ", s);
  Path(s->path);
  os_ << '\n';
  Below([&] { Print(s->value); });
}

void StatementPrinter::Print(const ExpectStatement* s) {
  Head("expect ", s) << '\n';
  Below([&] {
    if (s->expect == ExpectKind::kError) {
      Line("error ");
      Quoted(s->message.value);
      os_ << '\n';
    }
    Print(s->value);
    Print("~=", s->near);
    Print("tol", s->tolerance);
  });
}

void StatementPrinter::Print(const IfStatement* s) {
  Head("if ", s) << '\n';
  Below([&] {
    for (const Branch& branch : s->branches) {
      if (branch.condition != nullptr) {
        Print("condition", branch.condition);
      } else {
        Line("else\n");
      }
      Below([&] { Print(branch.block); });
    }
  });
}

void StatementPrinter::Print(const ForStatement* s) {
  Head("for ", s) << ' ' << s->names[0].text;
  if (s->names.size() > 1) os_ << ", " << s->names[1].text;
  os_ << '\n';
  Below([&] {
    Print("in", s->over);
    Print(s->body);
  });
}

void StatementPrinter::Print(const TestStatement* s) {
  Head("test ", s) << ' ';
  Quoted(s->name.value);
  os_ << '\n';
  Below([&] {
    Print("with", s->with);
    Print(s->body);
  });
}

void StatementPrinter::Print(const AssignStatement* s) {
  Head(s->targets.empty() ? "expression " : "assign ", s);
  for (size_t i = 0; i < s->targets.size(); ++i) {
    os_ << (i == 0 ? " " : ", ") << s->targets[i].text;
  }
  os_ << '\n';
  Below([&] {
    Print(s->type);
    Print(s->value);
  });
}

void StatementPrinter::Print(const Statement* statement) {
  switch (statement->kind) {
    case StatementKind::kAttr:
      return Print(llvm::cast<AttrStatement>(statement));
    case StatementKind::kInput:
      return Print(llvm::cast<InputStatement>(statement));
    case StatementKind::kParam:
    case StatementKind::kState:
      return Print(llvm::cast<VariableStatement>(statement));
    case StatementKind::kUpdate:
      return Print(llvm::cast<UpdateStatement>(statement));
    case StatementKind::kOutput:
    case StatementKind::kReturn:
      return Print(llvm::cast<OutputStatement>(statement));
    case StatementKind::kLayer:
      return Print(llvm::cast<LayerStatement>(statement));
    case StatementKind::kLayerInstance:
      return Print(llvm::cast<LayerInstanceStatement>(statement));
    case StatementKind::kImport:
      return Print(llvm::cast<ImportStatement>(statement));
    case StatementKind::kLoad:
      return Print(llvm::cast<LoadStatement>(statement));
    case StatementKind::kMinimize:
      return Print(llvm::cast<MinimizeStatement>(statement));
    case StatementKind::kAssert:
      return Print(llvm::cast<AssertStatement>(statement));
    case StatementKind::kFeed:
      return Print(llvm::cast<FeedStatement>(statement));
    case StatementKind::kExpect:
      return Print(llvm::cast<ExpectStatement>(statement));
    case StatementKind::kIf:
      return Print(llvm::cast<IfStatement>(statement));
    case StatementKind::kFor:
      return Print(llvm::cast<ForStatement>(statement));
    case StatementKind::kTest:
      return Print(llvm::cast<TestStatement>(statement));
    case StatementKind::kAssign:
      return Print(llvm::cast<AssignStatement>(statement));
    case StatementKind::kBroken:
      Head("broken ", statement) << '\n';
      return;
  }
  llvm_unreachable("unknown statement");
}

}  // namespace

void PrintAst(const Ast& ast, llvm::raw_ostream& os, bool positions) {
  StatementPrinter printer(*ast.file, os, positions);
  for (const Statement* statement : ast.statements) printer.Print(statement);
}

}  // namespace pdl
