#include "frontend/elaborate/outputs.h"

#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/literals.h"
#include "frontend/elaborate/name_table.h"
#include "frontend/elaborate/output_docs.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/unused_names.h"
#include "llvm/ADT/STLExtras.h"

namespace pdl {

void Outputs::ElaborateOutput(const ast::OutputStatement* statement) {
  const std::vector<std::string> names = ResultNames(*statement);
  for (const auto& [index, binding] : llvm::enumerate(statement->bindings)) {
    const auto* as_name = llvm::dyn_cast<ast::NameExpr>(binding.value);
    const ast::Identifier name =
        binding.is_named() ? binding.name : ast::Identifier{as_name->name, as_name->range};
    at_.frame->base = name.text.str();
    const std::string full = at_.frame->FullName(name.text);
    const Targets targets = binding.is_named() ? Targets(full) : Targets();
    const Datum datum = expressions_.Evaluate(binding.value, targets);
    if (at_.frame->arguments != nullptr) {  // a result of a called file
      at_.frame->results.push_back({name.text.str(), datum, binding.value->range});
      if (binding.is_named()) names_.Assign(name.text, datum);
      continue;
    }
    auto [entry, is_new] = places_.try_emplace(name.text, name.range);
    if (!is_new) {
      report_.Error(Code::kRedefined, name.range, "there is an output '" + name.text + "' already")
          .Note("first on line " + std::to_string(at_.file->LineOf(entry->second.begin)));
      continue;
    }
    Value* value = literals_.AsTensor(datum, binding.value->range, std::nullopt, full);
    if (value == nullptr) {
      if (binding.is_named()) names_.Poison(binding.name);
      continue;
    }
    at_.Observe(name.range, Datum(value));
    graph_.AddOutput(name.text, value, DocOfResult(statement->doc, names, index));
    if (binding.is_named()) names_.Assign(name.text, Datum(value));
  }
}

void Outputs::ElaborateReturn(const ast::OutputStatement* statement) {
  at_.frame->returned = at_.frame->saw_return = true;
  std::vector<std::string> names = ResultNames(*statement);
  for (const auto& [index, binding] : llvm::enumerate(statement->bindings)) {
    std::string& name = names[index];
    at_.frame->base.clear();
    std::string target =
        index < at_.frame->result_names.size() ? at_.frame->result_names[index] : std::string("_");
    const Datum datum =
        expressions_.Evaluate(binding.value, target == "_" ? Targets() : Targets(target));
    for (const CallResult& result : at_.frame->results) {
      if (result.name != name) continue;
      report_.Error(Code::kRedefined, binding.range(), "there is a result '" + name + "' already")
          .Note("results get names of their own by: return a=" + name + ", b=" + name);
      break;
    }
    unused_.AddResult(datum);
    if (binding.is_named()) at_.Observe(binding.name.range, datum);
    at_.frame->results.push_back({std::move(name), datum, binding.value->range});
  }
}

void Outputs::CheckOutputNames() {
  for (const GraphOutput& output : graph_.outputs()) {
    const Value* kept = graph_.FindValue(output.name);
    const auto place = places_.find(output.name);
    if (kept == nullptr || place == places_.end()) continue;
    const bool is_state = kept->kind() == ValueKind::kState;
    if (!is_state && kept->kind() != ValueKind::kParameter) continue;
    const Value* last = kept;
    for (const GraphUpdate& update : graph_.updates())
      if (update.state == kept) last = update.value;
    if (output.value == last) continue;
    // Without an update, an assignment to the name was probably meant to be one.
    const bool lacks_update = is_state && last == kept;
    report_
        .Error(Code::kRedefined, place->second,
               "the output '" + output.name + "' is another value than the " +
                   (is_state ? "state" : "parameter") + " of that name when a run ends")
        .Note(lacks_update
                  ? "to change the state: update " + output.name + " = ..."
                  : "give it a name of its own: output " + output.name + "_now = " + output.name);
  }
}

}  // namespace pdl
