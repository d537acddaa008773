#ifndef PDL_FRONTEND_ELABORATE_GIVEN_PARAMETERS_H_
#define PDL_FRONTEND_ELABORATE_GIVEN_PARAMETERS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Expressions;
class Literals;
class Reporter;
class TypeReader;

/// Values that a layer call uses instead of the layer's own parameters: `net(x, params=values)`.
///
/// They replace the parameters that earlier calls of the instance created, in the order of
/// `params(net)`. If there are none, they replace the parameters in the order in which the call
/// declares them. States, and parameters with a name of their own, are not replaced.
class GivenParameters {
 public:
  GivenParameters(Position& at, Graph& graph, Reporter& report, TypeReader& types,
                  Literals& literals, Expressions& expressions)
      : at_(at),
        graph_(graph),
        report_(report),
        types_(types),
        literals_(literals),
        expressions_(expressions) {}

  /// Reads the argument `params=`. Reports an error and makes the call poison if it is not a list.
  void Read(const ast::Argument& argument, LayerArguments* arguments);
  /// The values for a call whose parameters are at `path`; nullopt if an error was reported.
  std::optional<ParameterValues> Begin(const GivenValues& given, llvm::StringRef callee,
                                       llvm::StringRef path);
  /// Reports an error and returns false if the call did not take all values.
  bool End(const ParameterValues& values);
  /// The value of the parameter of that name; nullopt if it is not replaced, poison if an error was
  /// reported.
  std::optional<Datum> Find(const std::string& parameter, const Type& type);
  /// The value that a parameter which exists has in the current frame: its own, or a given one.
  Value* Replace(Value* parameter);

 private:
  void Report(const ParameterValues& values, Code code, const llvm::Twine& message);

  Position& at_;
  Graph& graph_;
  Reporter& report_;
  TypeReader& types_;
  Literals& literals_;
  Expressions& expressions_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_GIVEN_PARAMETERS_H_
