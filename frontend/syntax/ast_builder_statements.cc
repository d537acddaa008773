#include <algorithm>

#include "frontend/syntax/ast_builder.h"

namespace pdl {

using ast::StatementKind;

void AstBuilder::Reset() {
  failed_ = false;
  values_.clear();
  operators_.clear();
  brackets_.clear();
  arguments_.clear();
  subscripts_.clear();
  colons_.clear();
  identifiers_.clear();
  frames_.clear();
  statements_.clear();
  branches_.clear();
  parameters_.clear();
  is_repeatable_ = false;
}

const ast::Statement* AstBuilder::TakeStatement() {
  const ast::Statement* statement = statements_.back();
  statements_.pop_back();
  return statement;
}

bool AstBuilder::AwaitsAssign() const {
  if (statements_.empty()) return false;
  const auto* assign = llvm::dyn_cast<ast::AssignStatement>(statements_.back());
  return assign != nullptr && assign->targets.empty();
}

// ---------------------------------------------------------------------------------------------
// Comments that document

llvm::StringRef AstBuilder::DocText(llvm::ArrayRef<ast::Comment> comments) {
  scratch_.clear();
  for (const ast::Comment& comment : comments) {
    if (!scratch_.empty()) scratch_ += '\n';
    llvm::StringRef text = ast_->file->Text(comment.range);
    scratch_ += text.ltrim('#').ltrim(' ').rtrim();
  }
  return Keep(scratch_);
}

// The `##` lines directly above.
llvm::StringRef AstBuilder::LeadingDoc(uint32_t begin) {
  const std::vector<ast::Comment>& all = ast_->comments;
  const auto last = std::partition_point(
      all.begin(), all.end(), [&](const ast::Comment& c) { return c.range.end <= begin; });
  auto first = last;
  uint32_t below = begin;
  while (first != all.begin()) {
    const ast::Comment& comment = *std::prev(first);
    const llvm::StringRef between = source_.slice(comment.range.end, below);
    if (!comment.is_doc || !comment.own_line || between.size() > 1000 || between.count('\n') != 1 ||
        !between.trim(" \t\r\n").empty()) {
      break;
    }
    below = comment.range.begin;
    --first;
  }
  return first == last ? llvm::StringRef() : DocText({&*first, static_cast<size_t>(last - first)});
}

// The `##` comment at the end of this line, after closing brackets, a comma, or the brace that
// opens a body.
llvm::StringRef AstBuilder::TrailingDoc(uint32_t end) {
  const std::vector<ast::Comment>& all = ast_->comments;
  const auto next = std::partition_point(
      all.begin(), all.end(), [&](const ast::Comment& c) { return c.range.begin < end; });
  if (next == all.end() || !next->is_doc || next->own_line) return {};
  const llvm::StringRef between = source_.slice(end, next->range.begin);
  if (between.size() > 1000 || !between.trim(" \t,){").empty()) return {};
  return DocText(*next);
}

// ---------------------------------------------------------------------------------------------
// Parts of statements

void AstBuilder::OpenStatement() {
  StatementFrame& opened = frames_.emplace_back();
  opened.begin = stream_->next().range().begin;
  opened.identifiers = identifiers_.size();
  opened.values = values_.size();
  opened.arguments = arguments_.size();
  opened.branches = branches_.size();
}

template <typename T>
T* AstBuilder::NewStatement(StatementKind kind) {
  T* statement = New<T>();
  statement->kind = kind;
  return statement;
}

void AstBuilder::Finish(ast::Statement* statement) {
  statement->range = {frame().begin, last().range().end};
  if (!ast_->comments.empty()) {
    statement->doc = LeadingDoc(statement->range.begin);
    if (statement->doc.empty()) statement->doc = TrailingDoc(statement->range.end);
  }
  identifiers_.resize(frame().identifiers);
  frames_.pop_back();
  statements_.push_back(statement);
}

void AstBuilder::Identifier() { identifiers_.push_back(LastIdentifier()); }

ast::Identifier AstBuilder::Declared(size_t index) const {
  return identifiers_[frames_.back().identifiers + index];
}

// `a.b.c` as one name.
ast::Identifier AstBuilder::DeclaredPath() {
  const llvm::ArrayRef<ast::Identifier> parts =
      llvm::ArrayRef<ast::Identifier>(identifiers_).drop_front(frame().identifiers);
  return Joined(parts);
}

ast::Identifier AstBuilder::Joined(llvm::ArrayRef<ast::Identifier> parts) {
  if (parts.size() == 1) return parts.front();
  scratch_.clear();
  for (const ast::Identifier& part : parts) {
    if (!scratch_.empty()) scratch_ += '.';
    scratch_ += part.text;
  }
  return {Keep(scratch_), Span(parts.front().range, parts.back().range)};
}

// The expression as a name: `a`, or `a.b.c`.
std::optional<ast::Identifier> AstBuilder::AsPath(const ast::Expr* expr) {
  llvm::SmallVector<ast::Identifier, 4> parts;
  while (const auto* member = llvm::dyn_cast<ast::MemberExpr>(expr)) {
    parts.push_back(member->member);
    expr = member->base;
  }
  const auto* name = llvm::dyn_cast<ast::NameExpr>(expr);
  if (name == nullptr) return std::nullopt;
  parts.push_back({name->name, name->range});
  std::reverse(parts.begin(), parts.end());
  return Joined(parts);
}

void AstBuilder::Default() { frame().default_value = Pop(); }
void AstBuilder::With() { frame().with = Pop(); }
void AstBuilder::Over() { frame().over = Pop(); }
void AstBuilder::Every() { frame().every = Pop(); }
void AstBuilder::Near() { frame().near = Pop(); }
void AstBuilder::Tolerance() { frame().tolerance = Pop(); }
void AstBuilder::DeclaredType() { frame().type = type_; }
void AstBuilder::Text() { frame().text = {LastString(), last().range()}; }
void AstBuilder::OpenWhere() {}
void AstBuilder::CloseWhere() { frame().where = Take(&values_, frame().values); }

// ---------------------------------------------------------------------------------------------
// Statements

void AstBuilder::Attr() {
  auto* statement = NewStatement<ast::AttrStatement>(StatementKind::kAttr);
  statement->name = Declared();
  statement->type = type_;
  statement->default_value = frame().default_value;
  Finish(statement);
}

void AstBuilder::Input() {
  auto* statement = NewStatement<ast::InputStatement>(StatementKind::kInput);
  statement->name = DeclaredPath();
  statement->type = type_;
  statement->where = frame().where;
  Finish(statement);
}

void AstBuilder::Variable(StatementKind kind) {
  auto* statement = NewStatement<ast::VariableStatement>(kind);
  statement->name = DeclaredPath();
  statement->type = frame().type;
  statement->initial = frame().default_value;
  statement->with = frame().with;
  Finish(statement);
}

void AstBuilder::Param() { Variable(StatementKind::kParam); }
void AstBuilder::State() { Variable(StatementKind::kState); }

void AstBuilder::Update() {
  auto* statement = NewStatement<ast::UpdateStatement>(StatementKind::kUpdate);
  statement->name = DeclaredPath();
  statement->value = frame().default_value;
  Finish(statement);
}

void AstBuilder::OpenBindings() {}

void AstBuilder::Bindings(StatementKind kind) {
  auto* statement = NewStatement<ast::OutputStatement>(kind);
  statement->bindings = Take(&arguments_, frame().arguments);
  for (const ast::Argument& binding : statement->bindings) {
    if (binding.is_spread) {
      Fail(Code::kSyntax, binding.value->range, "only a list or a call takes '...'");
    } else if (kind == StatementKind::kReturn && binding.name.text.contains('.')) {
      Fail(Code::kSyntax, binding.name.range, "only a name can appear before '=' here");
    } else if (kind == StatementKind::kOutput && !binding.is_named() &&
               binding.value->kind != ast::ExprKind::kName) {
      Fail(Code::kSyntax, binding.value->range, "an output needs a name: output y = expression");
    }
  }
  Finish(statement);
}

void AstBuilder::Output() { Bindings(StatementKind::kOutput); }
void AstBuilder::Return() { Bindings(StatementKind::kReturn); }

void AstBuilder::OpenLayer() { parameters_.clear(); }

void AstBuilder::Repeatable() { is_repeatable_ = true; }

void AstBuilder::Parameter() {
  ast::Parameter parameter{};
  parameter.name = identifiers_.back();
  identifiers_.pop_back();
  parameter.is_repeatable = is_repeatable_;
  parameter.type = type_;
  parameter.default_value = frame().default_value;
  parameter.range = {parameter.name.range.begin, last().range().end};
  if (!ast_->comments.empty()) {
    parameter.doc = LeadingDoc(parameter.range.begin);
    if (parameter.doc.empty()) parameter.doc = TrailingDoc(parameter.range.end);
  }
  is_repeatable_ = false;
  frame().default_value = nullptr;
  parameters_.push_back(parameter);
}

void AstBuilder::LayerHead() {
  // The formatter puts the comment of the last parameter after the brace that opens the body.
  if (!parameters_.empty() && parameters_.back().doc.empty() && !ast_->comments.empty()) {
    parameters_.back().doc = TrailingDoc(last().range().end);
  }
  frame().parameters = Copy(llvm::ArrayRef<ast::Parameter>(parameters_));
}

void AstBuilder::Layer() {
  auto* statement = NewStatement<ast::LayerStatement>(StatementKind::kLayer);
  statement->name = Declared();
  statement->parameters = frame().parameters;
  statement->where = frame().where;
  statement->body = frame().block;
  Finish(statement);
}

void AstBuilder::LayerInstance() {
  auto* statement = NewStatement<ast::LayerInstanceStatement>(StatementKind::kLayerInstance);
  statement->name = Declared();
  statement->value = Pop();
  Finish(statement);
}

void AstBuilder::Import() {
  auto* statement = NewStatement<ast::ImportStatement>(StatementKind::kImport);
  statement->path = frame().text;
  if (identifiers_.size() > frame().identifiers) statement->as = Declared();
  Finish(statement);
}

void AstBuilder::Load() {
  auto* statement = NewStatement<ast::LoadStatement>(StatementKind::kLoad);
  statement->path = frame().text;
  statement->into = Take(&identifiers_, frame().identifiers);
  statement->with = frame().with;
  Finish(statement);
}

void AstBuilder::Minimize() {
  auto* statement = NewStatement<ast::MinimizeStatement>(StatementKind::kMinimize);
  statement->loss = Pop();
  statement->over = frame().over;
  statement->with = frame().with;
  statement->every = frame().every;
  Finish(statement);
}

void AstBuilder::Assert() {
  auto* statement = NewStatement<ast::AssertStatement>(StatementKind::kAssert);
  statement->condition = Pop();
  statement->message = frame().text;
  Finish(statement);
}

void AstBuilder::Feed() {
  auto* statement = NewStatement<ast::FeedStatement>(StatementKind::kFeed);
  statement->path = Take(&identifiers_, frame().identifiers);
  statement->value = Pop();
  Finish(statement);
}

void AstBuilder::ExpectTrue() {
  auto* statement = NewStatement<ast::ExpectStatement>(StatementKind::kExpect);
  statement->expect = ast::ExpectKind::kTrue;
  statement->value = Pop();
  Finish(statement);
}

void AstBuilder::ExpectNear() {
  auto* statement = NewStatement<ast::ExpectStatement>(StatementKind::kExpect);
  statement->expect = ast::ExpectKind::kNear;
  statement->value = Pop();
  statement->near = frame().near;
  statement->tolerance = frame().tolerance;
  Finish(statement);
}

void AstBuilder::ExpectError() {
  auto* statement = NewStatement<ast::ExpectStatement>(StatementKind::kExpect);
  statement->expect = ast::ExpectKind::kError;
  statement->value = Pop();
  statement->message = frame().text;
  Finish(statement);
}

void AstBuilder::OpenTargets() {}
void AstBuilder::Target() {}

void AstBuilder::Assign() {
  auto* statement = NewStatement<ast::AssignStatement>(StatementKind::kAssign);
  const llvm::ArrayRef<const ast::Expr*> left =
      llvm::ArrayRef<const ast::Expr*>(values_).drop_front(frame().values);
  statement->type = frame().type;
  if (frame().default_value == nullptr) {
    statement->value = left.front();
    if (left.size() > 1) {
      Fail(Code::kSyntax, left[1]->range, "an expression statement gives one value");
    } else if (statement->type != nullptr) {
      Fail(Code::kSyntax, statement->type->range,
           "a type on its own declares nothing; expected '='");
    }
  } else {
    statement->value = frame().default_value;
    ast::Identifier* targets = ast_->arena.Allocate<ast::Identifier>(left.size());
    for (size_t i = 0; i < left.size(); ++i) {
      const std::optional<ast::Identifier> name = AsPath(left[i]);
      if (!name) {
        Diagnostic* diagnostic =
            Fail(Code::kBadTarget, left[i]->range, "only a name can be assigned");
        if (diagnostic != nullptr && llvm::isa<ast::IndexExpr>(left[i]))
          diagnostic->Note("a tensor with another part is a new one: y = write(y, part, at)");
      }
      targets[i] = name ? *name : ast::Identifier();
    }
    statement->targets = {targets, left.size()};
    if (statement->type != nullptr && left.size() > 1) {
      Fail(Code::kSyntax, statement->type->range, "a declared type goes with one name");
    }
  }
  values_.resize(frame().values);
  Finish(statement);
}

// ---------------------------------------------------------------------------------------------
// Blocks

void AstBuilder::OpenBlock() {
  frame().block_statements = statements_.size();
  frame().block_begin = last().range().begin;
}

void AstBuilder::CloseBlock() {
  frame().block.statements = Take(&statements_, frame().block_statements);
  frame().block.range = {frame().block_begin, last().range().end};
  if (branches_.size() > frame().branches) branches_.back().block = frame().block;
}

void AstBuilder::If() { branches_.push_back({Pop(), {}}); }
void AstBuilder::ElseIf() { branches_.push_back({Pop(), {}}); }
void AstBuilder::Else() { branches_.push_back({nullptr, {}}); }

void AstBuilder::CloseIf() {
  auto* statement = NewStatement<ast::IfStatement>(StatementKind::kIf);
  statement->branches = Take(&branches_, frame().branches);
  Finish(statement);
}

void AstBuilder::For() {}

void AstBuilder::CloseFor() {
  auto* statement = NewStatement<ast::ForStatement>(StatementKind::kFor);
  statement->names = Take(&identifiers_, frame().identifiers);
  statement->over = Pop();
  statement->body = frame().block;
  Finish(statement);
}

void AstBuilder::TestHead() {}

void AstBuilder::Test() {
  auto* statement = NewStatement<ast::TestStatement>(StatementKind::kTest);
  statement->name = frame().text;
  statement->with = frame().with;
  statement->body = frame().block;
  Finish(statement);
}

// ---------------------------------------------------------------------------------------------

const ast::Statement* AstBuilder::Broken(const std::vector<Token>& tokens) {
  auto* statement = NewStatement<ast::BrokenStatement>(StatementKind::kBroken);
  statement->range = {tokens.front().range().begin, tokens.back().range().end};
  std::vector<ast::Identifier> names;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    const size_t before = i == 0 ? size_t{PdlParser::NL} : tokens[i - 1].type();
    if (before != PdlParser::NL && before != PdlParser::LBRACE) continue;
    size_t at = i;
    switch (tokens[at].type()) {
      case PdlParser::ATTR:
      case PdlParser::INPUT:
      case PdlParser::LAYER:
      case PdlParser::OUTPUT:
      case PdlParser::PARAM:
      case PdlParser::STATE:
        ++at;
        break;
      default:
        break;
    }
    while (tokens[at].type() == PdlParser::NAME) {
      names.push_back({Spelling(tokens[at]), tokens[at].range()});
      if (tokens[++at].type() != PdlParser::COMMA) break;
      ++at;
    }
  }
  statement->names = Copy(llvm::ArrayRef<ast::Identifier>(names));
  return statement;
}

}  // namespace pdl
