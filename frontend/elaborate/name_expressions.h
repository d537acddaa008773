#ifndef PDL_FRONTEND_ELABORATE_NAME_EXPRESSIONS_H_
#define PDL_FRONTEND_ELABORATE_NAME_EXPRESSIONS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class CalleeTable;
class LayerCopies;
class NameTable;
class Reporter;
class TrainingValues;
class TypeReader;

/// Names in expressions: values, symbols, dtypes, `training` and `step`.
class NameExpressions {
 public:
  NameExpressions(Position& at, Graph& graph, Reporter& report, NameTable& names,
                  CalleeTable& callees, TypeReader& types, LayerCopies& copies,
                  TrainingValues& training_values)
      : at_(at),
        graph_(graph),
        report_(report),
        names_(names),
        callees_(callees),
        types_(types),
        copies_(copies),
        training_values_(training_values) {}

  /// The value of a name; reports an unknown name and returns poison.
  Datum EvaluateName(const ast::NameExpr* name);
  /// `~T` among dims: a ragged dim of a known type, or one that depends on data.
  Datum EvaluateRagged(const ast::RaggedExpr* ragged);
  /// Reports an undefined name, with a suggestion.
  void ReportUnknownName(const ast::NameExpr* name);

 private:
  /// While the parameters of a copied layer are updated, the parameter that the name of a layer
  /// refers to; poison if it has none, nullopt for another name.
  std::optional<Datum> MemberOfLayer(const ast::NameExpr* name);

  Position& at_;
  Graph& graph_;
  Reporter& report_;
  NameTable& names_;
  CalleeTable& callees_;
  TypeReader& types_;
  LayerCopies& copies_;
  TrainingValues& training_values_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_NAME_EXPRESSIONS_H_
