#include "tools/pdl/test/scope.h"

#include "llvm/ADT/STLExtras.h"
#include "pdl/op/error.h"
#include "pdl/op/op_registry.h"

namespace pdl {

void AddPartNames(llvm::StringRef output, const Type& type, std::vector<std::string>* names) {
  for (const PartType& part : PartsOf(output, type)) names->push_back(PartName(output, part.part));
}

std::vector<std::string> OutputsOf(const TestRun& run) {
  std::vector<std::string> outputs;
  for (const TestExpect& expect : run.expects) {
    if (expect.kind == TestExpect::Kind::kError) continue;
    for (const std::string* output :
         {&expect.left, &expect.right, &expect.compared[0], &expect.compared[1]}) {
      if (!output->empty()) AddPartNames(*output, expect.type, &outputs);
    }
  }
  for (const TestValue& value : run.values) outputs.push_back(value.output);
  return outputs;
}

llvm::Expected<std::shared_ptr<const Network>> TestScope::Part(const Graph& graph,
                                                               llvm::ArrayRef<std::string> outputs,
                                                               bool keeps_updates) const {
  Graph part = graph.Clone();
  std::vector<std::pair<std::string, std::string>> requested;
  for (const GraphOutput& output : part.outputs()) {
    if (llvm::is_contained(outputs, output.name))
      requested.emplace_back(output.name, output.value->name());
  }
  const std::vector<GraphUpdate> updates = part.updates().vec();
  part.ClearOutputs();
  part.ClearTrainings();
  for (const auto& [name, value] : requested) part.AddOutput(name, part.FindValue(value));
  if (keeps_updates)
    for (const GraphUpdate& update : updates) part.AddUpdate(update.state, update.value);
  return Network::Create(std::move(part), options_, GlobalRegistry());
}

llvm::Error TestScope::Feed(const TestRun& run) {
  if (run.feeds.empty()) return llvm::Error::success();
  std::vector<std::string> outputs;
  for (const TestFeed& feed : run.feeds) AddPartNames(feed.output, feed.given, &outputs);
  auto network = Part(run.graph, outputs, /*keeps_updates=*/false);
  if (!network) return network.takeError();
  Scope scope(&scope_);
  RunOptions options;
  options.outputs = outputs;  // assertions on inputs, which have no values yet, are skipped
  if (llvm::Error error = (*network)->Run(&scope, context_, options)) return error;
  for (const TestFeed& feed : run.feeds) {
    llvm::Expected<PackedValue> value = PackedValue::Find(scope, feed.output, feed.given);
    if (!value) return value.takeError();
    if (feed.given.is_plain() && !feed.type.is_plain()) {
      llvm::Expected<PackedConstant> packed = Pack(value->values.ToConstant(), feed.type);
      if (!packed)
        return MakeUserError(Code::kInputType, "'{0}': {1}", feed.name,
                             llvm::toString(packed.takeError()));
      value = PackedValue::FromConstant(*packed);
    }
    value->Put(&scope_, feed.name);
  }
  return llvm::Error::success();
}

const Tensor* TestScope::Find(llvm::StringRef name) const {
  const Variable* variable = scope_.Find(name);
  return variable == nullptr ? nullptr : variable->Get<Tensor>();
}

llvm::Error TestScope::Keep(const TestRun& run) {
  for (const TestValue& computed : run.values) {
    llvm::Expected<PackedValue> found = FindPacked(computed.output, computed.type);
    if (!found) return found.takeError();
    TestValue value = computed;
    value.output = "#kept." + computed.name;
    value.type = found->SizedType();
    if (computed.type.index_bound && computed.type.index_bound->is_constant())
      value.type.index_bound = computed.type.index_bound;
    found->Put(&scope_, value.output);
    llvm::erase_if(values_, [&](const TestValue& old) { return old.name == value.name; });
    values_.push_back(std::move(value));
  }
  return llvm::Error::success();
}

}  // namespace pdl
