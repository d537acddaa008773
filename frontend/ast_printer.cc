#include "frontend/ast_printer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "pdl/attribute.h"

namespace pdl {
namespace {

using namespace ast;  // NOLINT: this file is about nothing else

// Recursion is bounded: brackets and blocks nest at most kMaxNesting deep, long chains are flat.
class Printer {
 public:
  Printer(const SourceFile& file, llvm::raw_ostream& os, bool positions)
      : cursor_(file), os_(os), positions_(positions) {}

  void Print(const Statement* statement);

 private:
  // One line of the tree; what Indent scopes print lies below it.
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
  void Print(const ast::Type* type);
  void Print(const Block& block) {
    for (const Statement* statement : block.statements) Print(statement);
  }
  void PrintWhere(llvm::ArrayRef<const Expr*> where) {
    for (const Expr* condition : where) Print("where", condition);
  }
  void Quoted(llvm::StringRef text) {
    os_ << '"';
    llvm::printEscapedString(text, os_);
    os_ << '"';
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

  PositionCursor cursor_;
  llvm::raw_ostream& os_;
  bool positions_;
  unsigned depth_ = 0;
};

void Printer::Print(llvm::ArrayRef<Argument> arguments) {
  for (const Argument& argument : arguments) {
    if (argument.is_named()) {
      Line("") << argument.name.text << " =\n";
      Below([&] { Print(argument.value); });
    } else if (argument.is_spread) {
      Print("...", argument.value);
    } else {
      Print(argument.value);
    }
  }
}

void Printer::Print(const Subscript& subscript) {
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

void Printer::Print(const Expr* expr) {
  switch (expr->kind) {
    case ExprKind::kNumber: {
      const auto* number = llvm::cast<NumberExpr>(expr);
      Line("number ");
      if (number->is_int) {
        os_ << number->int_value << '\n';
      } else {
        os_ << FloatToString(number->float_value) << '\n';
      }
      return;
    }
    case ExprKind::kString:
      Line("string ");
      Quoted(llvm::cast<StringExpr>(expr)->value);
      os_ << '\n';
      return;
    case ExprKind::kWord: {
      const ast::Word word = llvm::cast<WordExpr>(expr)->word;
      Line(word == ast::Word::kTrue    ? "true"
           : word == ast::Word::kFalse ? "false"
                                       : "none")
          << '\n';
      return;
    }
    case ExprKind::kName:
      Line("name ") << llvm::cast<NameExpr>(expr)->name << '\n';
      return;
    case ExprKind::kRagged:
      Line("name ") << '~' << llvm::cast<RaggedExpr>(expr)->symbol.text << '\n';
      return;
    case ExprKind::kParenthesis:
      Print("parenthesis", llvm::cast<ParenthesisExpr>(expr)->inner);
      return;
    case ExprKind::kList:
      Line("list\n");
      Below([&] { Print(llvm::cast<ListExpr>(expr)->items); });
      return;
    case ExprKind::kRecord:
      Line("record\n");
      Below([&] { Print(llvm::cast<RecordExpr>(expr)->fields); });
      return;
    case ExprKind::kCall: {
      const auto* call = llvm::cast<CallExpr>(expr);
      if (const auto* name = llvm::dyn_cast<NameExpr>(call->callee)) {
        Line("call ") << name->name << '\n';
      } else {
        Line("call\n");
        Below([&] { Print("callee", call->callee); });
      }
      Below([&] { Print(call->arguments); });
      return;
    }
    case ExprKind::kIndex: {
      const auto* index = llvm::cast<IndexExpr>(expr);
      Line("index\n");
      Below([&] {
        Print(index->base);
        for (const Subscript& subscript : index->subscripts) Print(subscript);
      });
      return;
    }
    case ExprKind::kMember: {
      const auto* member = llvm::cast<MemberExpr>(expr);
      Line("member ") << member->member.text << '\n';
      Below([&] { Print(member->base); });
      return;
    }
    case ExprKind::kPrefix: {
      const auto* prefix = llvm::cast<PrefixExpr>(expr);
      Line("prefix ") << Spelling(prefix->op) << '\n';
      Below([&] { Print(prefix->operand); });
      return;
    }
    case ExprKind::kChain: {
      const auto* chain = llvm::cast<ChainExpr>(expr);
      Line("chain\n");
      Below([&] {
        for (size_t i = 0; i < chain->operands.size(); ++i) {
          if (i > 0) Line(Spelling(chain->operators[i - 1].op)) << '\n';
          Print(chain->operands[i]);
        }
      });
      return;
    }
  }
}

void Printer::Print(const ast::Type* type) {
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

void Printer::Print(const Statement* statement) {
  switch (statement->kind) {
    case StatementKind::kAttr: {
      const auto* s = llvm::cast<AttrStatement>(statement);
      Head("attr ", s) << ' ' << s->name.text << '\n';
      Below([&] {
        PrintDoc(s->doc);
        Print(s->type);
        Print("default", s->default_value);
      });
      return;
    }
    case StatementKind::kInput: {
      const auto* s = llvm::cast<InputStatement>(statement);
      Head("input ", s) << ' ' << s->name.text << '\n';
      Below([&] {
        PrintDoc(s->doc);
        Print(s->type);
        PrintWhere(s->where);
      });
      return;
    }
    case StatementKind::kParam:
    case StatementKind::kState: {
      const auto* s = llvm::cast<VariableStatement>(statement);
      Head(s->kind == StatementKind::kParam ? "param " : "state ", s)
          << ' ' << s->name.text << '\n';
      Below([&] {
        PrintDoc(s->doc);
        Print(s->type);
        Print("initial", s->initial);
        Print("with", s->with);
      });
      return;
    }
    case StatementKind::kUpdate: {
      const auto* s = llvm::cast<UpdateStatement>(statement);
      Head("update ", s) << ' ' << s->name.text << '\n';
      Below([&] { Print(s->value); });
      return;
    }
    case StatementKind::kOutput:
    case StatementKind::kReturn: {
      const auto* s = llvm::cast<OutputStatement>(statement);
      Head(s->kind == StatementKind::kOutput ? "output " : "return ", s) << '\n';
      Below([&] { Print(s->bindings); });
      return;
    }
    case StatementKind::kLayer: {
      const auto* s = llvm::cast<LayerStatement>(statement);
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
      return;
    }
    case StatementKind::kLayerInstance: {
      const auto* s = llvm::cast<LayerInstanceStatement>(statement);
      Head("instance ", s) << ' ' << s->name.text << '\n';
      Below([&] { Print(s->value); });
      return;
    }
    case StatementKind::kImport: {
      const auto* s = llvm::cast<ImportStatement>(statement);
      Head("import ", s) << ' ';
      Quoted(s->path.value);
      if (!s->as.text.empty()) os_ << " as " << s->as.text;
      os_ << '\n';
      return;
    }
    case StatementKind::kLoad: {
      const auto* s = llvm::cast<LoadStatement>(statement);
      Head("load ", s) << ' ';
      Quoted(s->path.value);
      if (!s->into.empty()) os_ << " into";
      Path(s->into);
      os_ << '\n';
      return;
    }
    case StatementKind::kMinimize: {
      const auto* s = llvm::cast<MinimizeStatement>(statement);
      Head("minimize ", s) << '\n';
      Below([&] {
        Print(s->loss);
        Print("over", s->over);
        Print("with", s->with);
        Print("every", s->every);
      });
      return;
    }
    case StatementKind::kAssert: {
      const auto* s = llvm::cast<AssertStatement>(statement);
      Head("assert ", s) << '\n';
      Below([&] {
        Print(s->condition);
        PrintDoc(s->message.value);
      });
      return;
    }
    case StatementKind::kFeed: {
      const auto* s = llvm::cast<FeedStatement>(statement);
      Head("feed ", s);
      Path(s->path);
      os_ << '\n';
      Below([&] { Print(s->value); });
      return;
    }
    case StatementKind::kExpect: {
      const auto* s = llvm::cast<ExpectStatement>(statement);
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
      return;
    }
    case StatementKind::kIf: {
      const auto* s = llvm::cast<IfStatement>(statement);
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
      return;
    }
    case StatementKind::kFor: {
      const auto* s = llvm::cast<ForStatement>(statement);
      Head("for ", s) << ' ' << s->names[0].text;
      if (s->names.size() > 1) os_ << ", " << s->names[1].text;
      os_ << '\n';
      Below([&] {
        Print("in", s->over);
        Print(s->body);
      });
      return;
    }
    case StatementKind::kTest: {
      const auto* s = llvm::cast<TestStatement>(statement);
      Head("test ", s) << ' ';
      Quoted(s->name.value);
      os_ << '\n';
      Below([&] {
        Print("with", s->with);
        Print(s->body);
      });
      return;
    }
    case StatementKind::kAssign: {
      const auto* s = llvm::cast<AssignStatement>(statement);
      Head(s->targets.empty() ? "expression " : "assign ", s);
      for (size_t i = 0; i < s->targets.size(); ++i) {
        os_ << (i == 0 ? " " : ", ") << s->targets[i].text;
      }
      os_ << '\n';
      Below([&] {
        Print(s->type);
        Print(s->value);
      });
      return;
    }
    case StatementKind::kBroken:
      Head("broken ", statement) << '\n';
      return;
  }
  llvm_unreachable("unknown statement");
}

}  // namespace

void PrintAst(const Ast& ast, llvm::raw_ostream& os, bool positions) {
  Printer printer(*ast.file, os, positions);
  for (const Statement* statement : ast.statements) printer.Print(statement);
}

}  // namespace pdl
