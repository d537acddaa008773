// The grammar of one top-level statement. It does not depend on operators.
//
// Every choice is decided by one token, so the generated parser needs no lookahead search. The
// token source (frontend/syntax/lexer.h) makes that possible. It
//   - drops newlines inside ( ), [ ] and records, before a leading '|>' and after another NL, and
//     inserts an NL before the '}' of a block and at the end of the source;
//   - drops a comma before a closing bracket;
//   - returns REC for a '{' that opens a record: after '=', '(', ',', '[' and 'with';
//   - returns INPUT … FEED for those words at the start of a statement, before a name or a string;
//   - returns ERROR for `error` between 'expect' and a string, and ELSE_IF for 'else' 'if'.
// Expressions are flat sequences of operands and operators in this grammar. The actions build the
// tree according to precedences, without recursion for long sums.
grammar Pdl;

options { superClass = RuleParser; }

tokens { REC, INPUT, OUTPUT, PARAM, STATE, ATTR, UPDATE, LOAD, TEST_, FEED, ERROR, ELSE_IF }

@parser::postinclude {
#include "grammar/rule_parser.h"
}

@parser::context {
/// Receives the events of the parser while it recognizes a statement; "the token" is the last token
/// matched. Values are kept on stacks: an expression pushes one value, and composite values pop
/// their parts.
class PdlActions {
 public:
  virtual ~PdlActions() = default;

  // Expressions.
  virtual void OpenExpression() = 0;
  virtual void CloseExpression() = 0;
  virtual void Prefix() = 0;     // the token is '-' or 'not'
  virtual void Infix() = 0;      // the token is an infix operator
  virtual void Name() = 0;       // the token is a name, a number, … and becomes an operand
  virtual void RaggedSize() = 0;  // ~ name
  virtual void Number() = 0;
  virtual void String() = 0;
  virtual void Word() = 0;       // true, false, none
  virtual void OpenBracket() = 0;  // the token is the opening bracket
  virtual void Parenthesis() = 0;  // ( value )
  virtual void List() = 0;         // [ arguments ]
  virtual void Record() = 0;       // { arguments }
  virtual void Call() = 0;         // operand ( arguments )
  virtual void Index() = 0;        // operand [ subscripts ]
  virtual void Member() = 0;       // operand . name
  virtual void Argument() = 0;       // value
  virtual void Spread() = 0;         // the last argument is followed by '...'
  virtual void NamedArgument() = 0;  // the last argument is the name of the value on top
  virtual void TextArgument() = 0;   // the last argument is the string that names the value on top
  virtual void OpenSubscript() = 0;
  virtual void CloseSubscript() = 0;
  virtual void SkipAxes() = 0;       // the subscript is '...'
  virtual void Colon() = 0;          // the subscript has one more ':'
  virtual void Bound() = 0;          // a bound of a slice, before or after a colon

  // Types.
  virtual void OpenType() = 0;
  virtual void CloseType() = 0;
  virtual void OpenTypeTerm() = 0;
  virtual void CloseTypeTerm() = 0;
  virtual void Sparse() = 0;
  virtual void TypeName() = 0;
  virtual void ListTypeName() = 0;
  virtual void MaybeNone() = 0;
  virtual void OpenDims() = 0;
  virtual void CloseDims() = 0;
  virtual void AnyDims() = 0;
  virtual void Dim() = 0;
  virtual void RangeIn() = 0;        // 'in' value
  virtual void OpenRangeBound() = 0; // the token is a comparison operator
  virtual void NegativeBound() = 0;
  virtual void RangeBound() = 0;

  // Statements; each completes the corresponding Declare or Open… event.
  virtual void Identifier() = 0;  // the token is a name that is declared or referred to
  virtual void OpenStatement() = 0;
  virtual void Default() = 0;  // '=' value
  virtual void With() = 0;
  virtual void OpenWhere() = 0;
  virtual void CloseWhere() = 0;
  virtual void Attr() = 0;
  virtual void Input() = 0;
  virtual void Param() = 0;
  virtual void State() = 0;
  virtual void Update() = 0;
  virtual void OpenBindings() = 0;
  virtual void Output() = 0;
  virtual void Return() = 0;
  virtual void OpenLayer() = 0;
  virtual void Parameter() = 0;
  virtual void Repeatable() = 0;
  virtual void LayerHead() = 0;
  virtual void Layer() = 0;
  virtual void LayerInstance() = 0;
  virtual void Text() = 0;  // the token is the statement's string
  virtual void Import() = 0;
  virtual void Load() = 0;
  virtual void Over() = 0;
  virtual void Every() = 0;
  virtual void Minimize() = 0;
  virtual void Assert() = 0;
  virtual void Feed() = 0;
  virtual void ExpectTrue() = 0;
  virtual void Near() = 0;
  virtual void Tolerance() = 0;
  virtual void ExpectNear() = 0;
  virtual void ExpectError() = 0;
  virtual void OpenTargets() = 0;
  virtual void Target() = 0;
  virtual void DeclaredType() = 0;
  virtual void Assign() = 0;
  virtual void OpenBlock() = 0;
  virtual void CloseBlock() = 0;
  virtual void If() = 0;
  virtual void ElseIf() = 0;
  virtual void Else() = 0;
  virtual void CloseIf() = 0;
  virtual void For() = 0;
  virtual void CloseFor() = 0;
  virtual void TestHead() = 0;
  virtual void Test() = 0;
};
}

@parser::members {
/// Receives the events; must outlive the parser.
PdlActions* on = nullptr;
}

unit : statement NL EOF ;

statement
  : {on->OpenStatement();}
    ( ATTR name ':' type ('=' expr {on->Default();})? {on->Attr();}
    | INPUT path ':' type where? {on->Input();}
    | PARAM path ':' type {on->DeclaredType();} '=' expr {on->Default();}
      ('with' expr {on->With();})? {on->Param();}
    | STATE path (':' type {on->DeclaredType();})? '=' expr {on->Default();} {on->State();}
    | UPDATE path '=' expr {on->Default();} {on->Update();}
    | OUTPUT {on->OpenBindings();} argument (',' argument)* {on->Output();}
    | 'return' {on->OpenBindings();} argument (',' argument)* {on->Return();}
    | 'layer' name layerTail
    | 'import' STRING {on->Text();} ('as' name)? {on->Import();}
    | LOAD STRING {on->Text();} ('into' path)? ('with' expr {on->With();})? {on->Load();}
    | 'minimize' expr ('over' expr {on->Over();})? 'with' expr {on->With();}
      ('every' expr {on->Every();})? {on->Minimize();}
    | 'assert' expr (',' STRING {on->Text();})? {on->Assert();}
    | FEED path '=' expr {on->Feed();}
    | 'expect' expectTail
    | 'if' expr {on->If();} block ( ELSE_IF expr {on->ElseIf();} block )*
      ( 'else' {on->Else();} block )? {on->CloseIf();}
    | 'for' name (',' name)? 'in' expr {on->For();} block {on->CloseFor();}
    | TEST_ STRING {on->Text();} ('with' expr {on->With();})? {on->TestHead();} block {on->Test();}
    | {on->OpenTargets();} expr {on->Target();} (',' expr {on->Target();})*
      (':' type {on->DeclaredType();})? ('=' expr {on->Default();})? {on->Assign();}
    )
  ;

layerTail
  : '=' expr {on->LayerInstance();}
  | '(' {on->OpenLayer();} (parameter (',' parameter)*)? ')' where? {on->LayerHead();}
    block {on->Layer();}
  ;
parameter
  : name ('...' {on->Repeatable();})? ':' type ('=' expr {on->Default();})? {on->Parameter();} ;
where : 'where' {on->OpenWhere();} expr (',' expr)* {on->CloseWhere();} ;
expectTail
  : ERROR STRING {on->Text();} 'in' expr {on->ExpectError();}
  | expr ( '~=' expr {on->Near();} ('tol' expr {on->Tolerance();})? {on->ExpectNear();}
         | {on->ExpectTrue();} )
  ;
block : '{' {on->OpenBlock();} (NL | statement NL)* '}' {on->CloseBlock();} ;
path : name ('.' name)* ;
name
  : ( NAME | 'where' | 'as' | 'into' | 'over' | 'every' | 'tol' ) {on->Identifier();} ;

type
  : {on->OpenType();} typeTerm ('|' typeTerm)* {on->CloseType();} ;
typeTerm
  : {on->OpenTypeTerm();}
    ( ('sparse' {on->Sparse();})? NAME {on->TypeName();} ('?' {on->MaybeNone();})? dims? range?
    | '[' NAME {on->ListTypeName();} ']' range?
    )
    {on->CloseTypeTerm();}
  ;
dims : '[' {on->OpenDims();} (dim (',' dim)*)? ']' {on->CloseDims();} ;
dim
  : '...' {on->AnyDims();}
  | expr {on->Dim();}
  ;
range
  : 'in' expr {on->RangeIn();}
  | ('>' | '>=' | '<' | '<=') {on->OpenRangeBound();} ('-' {on->NegativeBound();})? bound
    {on->RangeBound();}
  ;
bound
  : {on->OpenExpression();}
    ( NUMBER {on->Number();} | NAME {on->Name();} | '(' {on->OpenBracket();} expr ')' {on->Parenthesis();} )
    {on->CloseExpression();}
  ;

expr
  : {on->OpenExpression();}
    ( ('-' | 'not') {on->Prefix();} )* operand
    ( ( '|>' | 'or' | 'and' | 'in' | '==' | '!=' | '<' | '<=' | '>' | '>=' | '..' | '..='
      | '+' | '-' | '*' | '/' | '//' | '%' | '@' | '**' ) {on->Infix();}
      ( ('-' | 'not') {on->Prefix();} )* operand )*
    {on->CloseExpression();}
  ;
operand
  : ( ( NAME | 'where' | 'as' | 'into' | 'over' | 'every' | 'tol' ) {on->Name();}
    | NUMBER {on->Number();}
    | STRING {on->String();}
    | ( 'true' | 'false' | 'none' ) {on->Word();}
    | '~' NAME {on->RaggedSize();}
    | '(' {on->OpenBracket();} expr ')' {on->Parenthesis();}
    | '[' {on->OpenBracket();} (argument (',' argument)*)? ']' {on->List();}
    | REC {on->OpenBracket();} (field (',' field)*)? '}' {on->Record();}
    )
    ( '(' {on->OpenBracket();} (argument (',' argument)*)? ')' {on->Call();}
    | '[' {on->OpenBracket();} subscript (',' subscript)* ']' {on->Index();}
    | '.' ( NAME | 'where' | 'as' | 'into' | 'over' | 'every' | 'tol' ) {on->Member();}
    )*
  ;
argument
  : expr {on->Argument();} ('...' {on->Spread();})? ('=' expr {on->NamedArgument();})? ;
field : argument (':' expr {on->TextArgument();})? ;
subscript
  : {on->OpenSubscript();}
    ( '...' {on->SkipAxes();}
    | expr {on->Bound();} slice?
    | slice
    )
    {on->CloseSubscript();}
  ;
slice
  : ':' {on->Colon();} (expr {on->Bound();})? (':' {on->Colon();} (expr {on->Bound();})?)? ;

// Keywords and punctuation. The compiler's own token source recognizes the same tokens faster; a
// test compares the two.
AND : 'and' ;
AS : 'as' ;
ASSERT : 'assert' ;
ELSE : 'else' ;
EVERY : 'every' ;
EXPECT : 'expect' ;
FALSE : 'false' ;
FOR : 'for' ;
IF : 'if' ;
IMPORT : 'import' ;
IN : 'in' ;
INTO : 'into' ;
LAYER : 'layer' ;
MINIMIZE : 'minimize' ;
NONE : 'none' ;
NOT : 'not' ;
OR : 'or' ;
OVER : 'over' ;
RETURN : 'return' ;
SPARSE : 'sparse' ;
TOL : 'tol' ;
TRUE : 'true' ;
WHERE : 'where' ;
WITH : 'with' ;

LPAREN : '(' ;
RPAREN : ')' ;
LBRACKET : '[' ;
RBRACKET : ']' ;
LBRACE : '{' ;
RBRACE : '}' ;
COMMA : ',' ;
COLON : ':' ;
DOT : '.' ;
RANGE : '..' ;
RANGE_TO : '..=' ;
ELLIPSIS : '...' ;
QUESTION : '?' ;
TILDE : '~' ;
NEAR : '~=' ;
BAR : '|' ;
PIPE : '|>' ;
ASSIGN : '=' ;
EQ : '==' ;
NE : '!=' ;
LT_ : '<' ;
LE : '<=' ;
GT : '>' ;
GE : '>=' ;
PLUS : '+' ;
MINUS : '-' ;
STAR : '*' ;
POWER : '**' ;
SLASH : '/' ;
FLOOR_DIV : '//' ;
PERCENT : '%' ;
AT : '@' ;

NUMBER : DIGITS ('.' DIGITS)? ([eE] [+-]? DIGITS)? | 'inf' | 'nan' ;
fragment DIGITS : [0-9] [0-9_]* ;
NAME : [A-Za-z_] [A-Za-z0-9_]* ;
STRING : '"' (~["\\\r\n] | '\\' ~[\r\n])* '"' ;
COMMENT : '#' ~[\r\n]* -> skip ;
NL : '\r'? '\n' ;
WS : [ \t\r]+ -> skip ;
