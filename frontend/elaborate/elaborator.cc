#include "frontend/elaborate/elaborator.h"

#include <cassert>

#include "frontend/elaborate/argument_binder.h"
#include "frontend/elaborate/assignments.h"
#include "frontend/elaborate/attribute_checker.h"
#include "frontend/elaborate/attrs.h"
#include "frontend/elaborate/bodies.h"
#include "frontend/elaborate/branches.h"
#include "frontend/elaborate/budget.h"
#include "frontend/elaborate/builtins.h"
#include "frontend/elaborate/call_emitter.h"
#include "frontend/elaborate/callee_table.h"
#include "frontend/elaborate/calls.h"
#include "frontend/elaborate/expectations.h"
#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/for_loops.h"
#include "frontend/elaborate/functions.h"
#include "frontend/elaborate/given_parameters.h"
#include "frontend/elaborate/gradients.h"
#include "frontend/elaborate/initializers.h"
#include "frontend/elaborate/inputs.h"
#include "frontend/elaborate/layer_argument_reader.h"
#include "frontend/elaborate/layer_attributes.h"
#include "frontend/elaborate/layer_calls.h"
#include "frontend/elaborate/layer_checks.h"
#include "frontend/elaborate/layer_conditions.h"
#include "frontend/elaborate/layer_copies.h"
#include "frontend/elaborate/layer_inputs.h"
#include "frontend/elaborate/literals.h"
#include "frontend/elaborate/load_calls.h"
#include "frontend/elaborate/members.h"
#include "frontend/elaborate/minimize.h"
#include "frontend/elaborate/modules.h"
#include "frontend/elaborate/name_expressions.h"
#include "frontend/elaborate/name_table.h"
#include "frontend/elaborate/operator_expressions.h"
#include "frontend/elaborate/outputs.h"
#include "frontend/elaborate/parameter_names.h"
#include "frontend/elaborate/parameter_records.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/run_checks.h"
#include "frontend/elaborate/size_conditions.h"
#include "frontend/elaborate/size_constraints.h"
#include "frontend/elaborate/statements.h"
#include "frontend/elaborate/subscripts.h"
#include "frontend/elaborate/test_blocks.h"
#include "frontend/elaborate/test_outputs.h"
#include "frontend/elaborate/training_step.h"
#include "frontend/elaborate/training_values.h"
#include "frontend/elaborate/type_matcher.h"
#include "frontend/elaborate/type_reader.h"
#include "frontend/elaborate/unused_names.h"
#include "frontend/elaborate/variables.h"
#include "frontend/elaborate/weight_loads.h"

namespace pdl {

struct Elaborator::Parts {
  const CompileRequest& request;
  const Ast& ast;
  Diagnostics* diagnostics;
  Position& at;
  ElaborationState& state;

  Reporter report{diagnostics, ast, at, state.graph, state.files, state.reported};
  Budget budget{request, at, state.graph, state.spent, report};
  UnusedNames unused{request, ast, at, state.graph, state.usage, report};
  NameTable names{at, state.graph, state.values, state.saved, report};
  CalleeTable callees{request, at, state.files, report, names};
  Modules modules{request, at, state.files, report, callees, layer_checks};
  LayerChecks layer_checks{at, report, callees, attributes, functions};
  SizeConstraints constraints{at, state.graph, state.sizes, budget};
  SizeConditions conditions{at,    report,  budget,      constraints,
                            types, emitter, expressions, operators};
  TypeReader types{at, state.graph, report, constraints, expressions};
  CallEmitter emitter{at, state.graph, report, budget, constraints, callees, literals, bodies};
  Literals literals{at, report, budget, callees, emitter};
  Bodies bodies{budget, at,      state.graph, state.values, state.training, report,
                names,  callees, literals,    expressions,  functions};
  Expressions expressions{at,      report,     budget, name_expressions, operators,
                          members, subscripts, calls,  records};
  NameExpressions name_expressions{at,      state.graph, report, names,
                                   callees, types,       copies, training_values};
  OperatorExpressions operators{at,          state.graph, report,   budget,      callees,
                                constraints, emitter,     literals, expressions, calls};
  Members members{at,      state.graph, report,          names,
                  callees, expressions, parameter_names, given_parameters};
  Subscripts subscripts{at, report, callees, types, emitter, expressions};
  Calls calls{at,     names,     callees, emitter,         expressions, builtins,
              binder, functions, layers,  argument_reader, gradients};
  Builtins builtins{at,     report,           budget, names, types, expressions, parameter_names,
                    copies, given_parameters, unused};
  ArgumentBinder binder{report, budget, expressions, functions};
  LoadCalls load_calls{at, report, expressions};
  ParameterRecords records{at, report, expressions, attributes, functions, load_calls};
  AttributeChecker attributes{state.settings, report, budget, expressions};
  Functions functions{at,      state.values, report, budget, names,           callees,
                      emitter, expressions,  binder, layers, argument_reader, given_parameters};
  LayerCalls layers{request,          at,        state.graph,      state.values, report,
                    budget,           names,     layer_attributes, layer_inputs, layer_conditions,
                    given_parameters, statements};
  LayerArgumentReader argument_reader{at,         report,    budget,          expressions,
                                      attributes, functions, given_parameters};
  GivenParameters given_parameters{at, state.graph, report, types, literals, expressions};
  LayerAttributes layer_attributes{at, report, names, attributes, functions};
  LayerInputs layer_inputs{at, report, names, literals, expressions, matcher};
  LayerConditions layer_conditions{at, report, constraints, conditions, expressions};
  TypeMatcher matcher{at, report, names, constraints, types, expressions};
  Branches branches{at,       state.graph, state.values, report,     budget,
                    names,    callees,     constraints,  conditions, emitter,
                    literals, expressions, operators,    run_checks, statements};
  RunChecks run_checks{at, state.graph, callees, emitter, literals};
  ForLoops loops{request, at, report, budget, names, expressions, statements};
  Gradients gradients{at,    state.graph, report,   budget,     callees,
                      types, emitter,     literals, expressions};
  TrainingValues training_values{request, at,      state.graph, state.training,
                                 budget,  callees, emitter};
  ParameterNames parameter_names{at,    state.graph, state.values, report,          budget,
                                 names, callees,     expressions,  name_expressions};
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
  Inputs inputs{at,    state.graph,  report,           names, constraints, conditions,
                types, layer_inputs, layer_conditions, unused};
  Variables variables{at,          state.graph,  state.values,     report, names, types,
                      expressions, initializers, given_parameters, copies, unused};
  LayerCopies copies{at,     state.graph, state.values, report,
                     budget, names,       expressions,  parameter_names};
  Initializers initializers{request, at,     state.graph, state.reported, report,
                            emitter, binder, functions,   load_calls,     copies};
  Outputs outputs{at, state.graph, state.outputs, report, names, literals, expressions, unused};
  Statements statements{at,        state.loads, state.last, report,      budget,       names,
                        functions, branches,    loops,      minimize,    expectations, attrs,
                        inputs,    variables,   outputs,    assignments, unused};
  Assignments assignments{at,          state.graph, state.values, state.last, report,
                          names,       constraints, conditions,   types,      literals,
                          expressions, run_checks,  copies,       unused};
  WeightLoads weight_loads{request,         ast,       at, state.graph, state.loads, report,
                           parameter_names, load_calls};
};

Elaborator::Elaborator(const CompileRequest& request, const Ast& ast, Diagnostics* diagnostics,
                       ElaborationObserver* observer)
    : request_(request),
      ast_(ast),
      state_(request.limits),
      parts_(new Parts{request, ast, diagnostics, at_, state_}) {
  at_.file = ast.file;
  at_.observer = observer;
}

Elaborator::~Elaborator() = default;

void Elaborator::Begin() {
  Module* main = parts_->modules.AddModule(ast_, "", /*is_standard=*/false);
  state_.frame.module = main;
  at_.frame = &state_.frame;
  main->file_index = state_.graph.AddFile(main->file->name(), SourceFile::TextOf(main->file));
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

Graph Elaborator::Abandon() {
  at_.frame = nullptr;
  return std::move(state_.graph);
}

Graph Elaborator::Run() {
  Begin();
  for (const ast::Statement* statement : ast_.statements) {
    parts_->statements.Elaborate(statement);
    if (const auto* test = llvm::dyn_cast<ast::TestStatement>(statement)) CheckTestName(*test);
    assert(at_.IsBetweenStatements());
  }
  if (request_.is_cancelled()) return Abandon();
  if (request_.training_step && !state_.graph.trainings().empty())
    parts_->training_step.CountStep();
  Finish();
  parts_->outputs.CheckOutputNames();
  parts_->attrs.CheckSettingsUsed();
  parts_->unused.Report();
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
  if (request_.is_cancelled()) {
    state_.test.graph = Abandon();
    return std::move(state_.test);
  }
  Finish();
  parts_->attrs.CheckSettingsUsed();
  parts_->test_blocks.ElaborateRuns(test, run, earlier);
  at_.frame = nullptr;
  state_.test.graph = std::move(state_.graph);
  return std::move(state_.test);
}

}  // namespace pdl
