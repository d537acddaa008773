#include "frontend/elaborator.h"

#include <cassert>

#include "frontend/argument_binder.h"
#include "frontend/assignments.h"
#include "frontend/attribute_checker.h"
#include "frontend/attrs.h"
#include "frontend/bodies.h"
#include "frontend/branches.h"
#include "frontend/budget.h"
#include "frontend/builtins.h"
#include "frontend/call_emitter.h"
#include "frontend/callee_table.h"
#include "frontend/calls.h"
#include "frontend/expectations.h"
#include "frontend/expressions.h"
#include "frontend/for_loops.h"
#include "frontend/functions.h"
#include "frontend/gradients.h"
#include "frontend/initializers.h"
#include "frontend/inputs.h"
#include "frontend/layer_argument_reader.h"
#include "frontend/layer_attributes.h"
#include "frontend/layer_calls.h"
#include "frontend/layer_checks.h"
#include "frontend/layer_conditions.h"
#include "frontend/layer_inputs.h"
#include "frontend/literals.h"
#include "frontend/members.h"
#include "frontend/minimize.h"
#include "frontend/modules.h"
#include "frontend/name_expressions.h"
#include "frontend/name_table.h"
#include "frontend/operator_expressions.h"
#include "frontend/outputs.h"
#include "frontend/parameter_names.h"
#include "frontend/reporter.h"
#include "frontend/size_conditions.h"
#include "frontend/size_constraints.h"
#include "frontend/statements.h"
#include "frontend/subscripts.h"
#include "frontend/test_blocks.h"
#include "frontend/test_outputs.h"
#include "frontend/training_step.h"
#include "frontend/training_values.h"
#include "frontend/type_matcher.h"
#include "frontend/type_reader.h"
#include "frontend/variables.h"
#include "frontend/weight_loads.h"

namespace pdl {

struct Elaborator::Parts {
  const CompileRequest& request;
  const Ast& ast;
  Diagnostics* diagnostics;
  Position& at;
  ElaborationState& state;

  Reporter report{diagnostics, ast, at, state.graph, state.files, state.reported};
  Budget budget{request, at, state.graph, state.spent, report};
  NameTable names{at, state.graph, state.values, state.saved, report};
  CalleeTable callees{request, at, state.files, report, names};
  Modules modules{request, at, state.files, report, callees, layer_checks};
  LayerChecks layer_checks{at, report, callees, attributes, functions};
  SizeConstraints constraints{at, state.graph, state.known, budget};
  SizeConditions conditions{at, report, budget, constraints, types, expressions};
  TypeReader types{at, state.graph, report, constraints, expressions};
  CallEmitter emitter{at, state.graph, report, budget, callees, literals, bodies};
  Literals literals{at, report, budget, callees, emitter};
  Bodies bodies{at,    state.graph, state.values, state.training, report,
                names, literals,    expressions,  functions};
  Expressions expressions{at,      report,     budget, name_expressions, operators,
                          members, subscripts, calls,  attributes};
  NameExpressions name_expressions{at, state.graph, report, names, callees, types, training_values};
  OperatorExpressions operators{at,          state.graph, report,   budget,      callees,
                                constraints, emitter,     literals, expressions, calls};
  Members members{at, state.graph, report, names, callees, expressions, parameter_names};
  Subscripts subscripts{at, report, callees, types, emitter, expressions};
  Calls calls{at,     names,     callees, emitter,         expressions, builtins,
              binder, functions, layers,  argument_reader, gradients};
  Builtins builtins{at, report, budget, types, expressions, parameter_names};
  ArgumentBinder binder{report, budget, expressions, functions};
  AttributeChecker attributes{state.settings, report, budget, expressions, functions};
  Functions functions{at,      state.values, report, budget, names,          callees,
                      emitter, expressions,  binder, layers, argument_reader};
  LayerCalls layers{request,          at,           state.graph,      state.values, report, budget,
                    layer_attributes, layer_inputs, layer_conditions, statements};
  LayerArgumentReader argument_reader{at, report, budget, expressions, attributes, functions};
  LayerAttributes layer_attributes{at, report, names, attributes, functions};
  LayerInputs layer_inputs{at, report, names, literals, expressions, matcher};
  LayerConditions layer_conditions{at, report, constraints, conditions, expressions};
  TypeMatcher matcher{at, report, names, constraints, types, expressions};
  Branches branches{at,       state.graph, state.values, report,     budget,
                    names,    callees,     constraints,  conditions, emitter,
                    literals, expressions, operators,    statements};
  ForLoops loops{request, at, report, budget, names, expressions, statements};
  Gradients gradients{at,    state.graph, report,   budget,     callees,
                      types, emitter,     literals, expressions};
  TrainingValues training_values{request, at,      state.graph, state.training,
                                 budget,  callees, emitter};
  ParameterNames parameter_names{at,     state.graph, state.values, report,
                                 budget, callees,     expressions,  name_expressions};
  Minimize minimize{request,     at,        state.graph, state.training,  report,
                    expressions, functions, gradients,   parameter_names, training_step};
  TrainingStep training_step{at,      state.graph, state.files,    state.training, report,
                             callees, types,       emitter,        expressions,    operators,
                             layers,  gradients,   training_values};
  TestBlocks test_blocks{at,       state.graph, state.test, report,      names,
                         literals, expressions, statements, test_outputs};
  Expectations expectations{at, state.test, report, literals, expressions, test_outputs};
  TestOutputs test_outputs{state.graph, report, budget, emitter};
  Attrs attrs{request, ast,         at,         state.settings,  report,
              names,   expressions, attributes, layer_attributes};
  Inputs inputs{at,         state.graph, report,       names,           constraints,
                conditions, types,       layer_inputs, layer_conditions};
  Variables variables{at, state.graph, report, names, types, expressions, initializers};
  Initializers initializers{request, at,      state.graph, state.reported,
                            report,  emitter, binder,      functions};
  Outputs outputs{at, state.graph, state.outputs, report, names, literals, expressions};
  Statements statements{at,        state.loads, state.last, report,     budget,       names,
                        functions, branches,    loops,      minimize,   expectations, attrs,
                        inputs,    variables,   outputs,    assignments};
  Assignments assignments{at,          state.graph, state.values, state.last, report,     names,
                          constraints, conditions,  types,        literals,   expressions};
  WeightLoads weight_loads{request, ast, at, state.graph, state.loads, report, parameter_names};
};

Elaborator::Elaborator(const CompileRequest& request, const Ast& ast, Diagnostics* diagnostics)
    : request_(request),
      ast_(ast),
      state_(request.limits),
      parts_(new Parts{request, ast, diagnostics, at_, state_}) {
  at_.file = ast.file;
}

Elaborator::~Elaborator() = default;

void Elaborator::Begin() {
  Module* main = parts_->modules.AddModule(ast_, "", /*is_standard=*/false);
  state_.frame.module = main;
  at_.frame = &state_.frame;
  main->file_index = state_.graph.AddFile(main->file->name());
  parts_->names.CollectNames(ast_.statements);
  parts_->modules.AddStandardLayers();
  parts_->modules.EnterModule(main);
}

void Elaborator::CheckTestName(const ast::TestStatement& test) {
  auto [entry, is_new] = state_.tests.try_emplace(test.name.value, test.name.range);
  if (is_new) return;
  parts_->report.Error(Code::kRedefined, test.name.range, "there is a test of this name already")
      .Note("first on line " + std::to_string(at_.file->LineOf(entry->second.begin)));
}

void Elaborator::Finish() {
  parts_->weight_loads.ElaborateLoads();
  parts_->inputs.CheckSymbolsSolvable();
}

Graph Elaborator::Run() {
  Begin();
  for (const ast::Statement* statement : ast_.statements) {
    parts_->statements.Elaborate(statement);
    if (const auto* test = llvm::dyn_cast<ast::TestStatement>(statement)) CheckTestName(*test);
    assert(at_.IsBetweenStatements());
  }
  if (request_.training_step && !state_.graph.trainings().empty())
    parts_->training_step.CountStep();
  Finish();
  parts_->outputs.CheckOutputNames();
  parts_->attrs.CheckSettingsUsed();
  for (const auto& entry : state_.frame.scope) {
    const Value* value = entry.second.tensor();
    names_.emplace_back(entry.first().str(), value == nullptr ? "" : value->name());
  }
  at_.frame = nullptr;
  return std::move(state_.graph);
}

TestRun Elaborator::RunTest(const ast::TestStatement& test, unsigned run,
                            llvm::ArrayRef<TestValue> earlier) {
  Begin();
  parts_->attrs.TakeSettingsOf(test);
  for (const ast::Statement* statement : ast_.statements) {
    if (statement->kind != ast::StatementKind::kTest) parts_->statements.Elaborate(statement);
  }
  Finish();
  parts_->attrs.CheckSettingsUsed();
  parts_->test_blocks.ElaborateRuns(test, run, earlier);
  at_.frame = nullptr;
  state_.test.graph = std::move(state_.graph);
  return std::move(state_.test);
}

}  // namespace pdl
