#ifndef PDL_FRONTEND_ELABORATE_PARAMETER_RECORDS_H_
#define PDL_FRONTEND_ELABORATE_PARAMETER_RECORDS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class AttributeChecker;
class Expressions;
class Functions;
class LoadCalls;
class Reporter;

/// Records with the attributes of a parameter.
class ParameterRecords {
 public:
  ParameterRecords(Position& at, Reporter& report, Expressions& expressions,
                   AttributeChecker& attributes, Functions& functions, LoadCalls& load_calls)
      : at_(at),
        report_(report),
        expressions_(expressions),
        attributes_(attributes),
        functions_(functions),
        load_calls_(load_calls) {}

  /// Reads a record such as `{weight_decay=1e-4}`; poison if an error was reported.
  Datum ReadRecord(const ast::Expr* expr);

 private:
  bool ReadField(const ast::Argument& field, ParameterRecord* record);
  bool ReadInit(const ast::Expr* expr, ParameterRecord* record);
  bool ReadName(const ast::Argument& field, llvm::StringRef name, ParameterRecord* record);

  Position& at_;
  Reporter& report_;
  Expressions& expressions_;
  AttributeChecker& attributes_;
  Functions& functions_;
  LoadCalls& load_calls_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_PARAMETER_RECORDS_H_
