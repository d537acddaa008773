#include "onnx/import/importer.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <numeric>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "onnx/import/node.h"
#include "onnx/import/rules.h"
#include "onnx/import/simplify.h"
#include "onnx/model/pdl_names.h"
#include "pdl/compiler/graph_walk.h"
#include "pdl/compiler/pipeline.h"
#include "pdl/op/op_registry.h"

namespace pdl {
namespace {

/// Maximum depth of nested function calls and subgraphs.
constexpr int kMaxCallDepth = 32;

llvm::StringRef PlainDomain(llvm::StringRef domain) { return domain == "ai.onnx" ? "" : domain; }

std::string Described(const onnx::NodeProto& node) {
  return node.domain().empty() || node.domain() == "ai.onnx" ? node.op_type()
                                                             : node.domain() + "." + node.op_type();
}

llvm::StringMap<int64_t> OperatorSets(
    const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& sets) {
  llvm::StringMap<int64_t> opsets;
  for (const onnx::OperatorSetIdProto& set : sets)
    opsets[PlainDomain(set.domain())] = set.version();
  return opsets;
}

/// Longer names are shortened in the middle in messages and locations.
constexpr size_t kMaxShownName = 200;

/// A name for messages and locations, which is valid UTF-8 whatever bytes the model contains.
std::string Shortened(llvm::StringRef name) {
  constexpr size_t kEach = kMaxShownName / 2 - 2;
  std::string text = name.size() <= kMaxShownName
                         ? name.str()
                         : (name.take_front(kEach) + "..." + name.take_back(kEach)).str();
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return llvm::json::isUTF8(text) ? text : llvm::json::fixUTF8(text);
}

/// The default values of a function's attributes: field 11, attribute_proto, which may be missing
/// in the onnx.proto that is compiled here.
std::vector<onnx::AttributeProto> DefaultsOf(const onnx::FunctionProto& function) {
  using Wire = google::protobuf::internal::WireFormatLite;
  constexpr int kAttributeProto = 11;
  std::vector<onnx::AttributeProto> defaults;
  const std::string& fields = function.unknown_fields();
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(fields.data()),
                                                static_cast<int>(fields.size()));
  while (const uint32_t tag = stream.ReadTag()) {
    if (tag != Wire::MakeTag(kAttributeProto, Wire::WIRETYPE_LENGTH_DELIMITED)) {
      if (!Wire::SkipField(&stream, tag)) break;
      continue;
    }
    std::string bytes;
    if (!Wire::ReadBytes(&stream, &bytes)) break;
    if (onnx::AttributeProto attribute; attribute.ParseFromString(bytes))
      defaults.push_back(std::move(attribute));
  }
  return defaults;
}

/// Counts the nodes that functions expand to.
class ExpansionCounter {
 public:
  using Functions = std::map<std::pair<std::string, std::string>, const onnx::FunctionProto*>;
  explicit ExpansionCounter(const Functions& functions) : functions_(functions) {}

  llvm::Expected<int64_t> Count(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) {
    int64_t count = 0;
    for (const onnx::NodeProto& node : nodes) {
      ++count;
      auto add = [&](llvm::Expected<int64_t> more) -> llvm::Error {
        if (!more) return more.takeError();
        count = std::min(count + *more, kMany);
        return llvm::Error::success();
      };
      for (const onnx::AttributeProto& attribute : node.attribute())
        if (attribute.has_g())
          if (llvm::Error error = add(Count(attribute.g().node()))) return error;
      auto called = functions_.find({PlainDomain(node.domain()).str(), node.op_type()});
      if (called == functions_.end()) continue;
      if (llvm::Error error = add(CountFunction(*called->second))) return error;
    }
    return count;
  }

 private:
  /// Counts saturate here.
  static constexpr int64_t kMany = int64_t{1} << 60;

  llvm::Expected<int64_t> CountFunction(const onnx::FunctionProto& function) {
    auto [entry, is_new] = counts_.try_emplace(&function, kOpen);
    const std::string name = Shortened(
        function.domain().empty() ? function.name() : function.domain() + "." + function.name());
    if (!is_new) {
      if (entry->second == kOpen)
        return MakeUserError(Code::kBadNetwork, "function '{0}' calls itself", name);
      return entry->second;
    }
    if (++depth_ > kMaxCallDepth)
      return MakeUserError(Code::kBadNetwork, "function calls are nested more than {0} deep",
                           kMaxCallDepth);
    llvm::Expected<int64_t> count = Count(function.node());
    if (!count) return count;
    --depth_;
    if (*count > OnnxModel::kMaxNodes) {
      return MakeUserError(Code::kBadNetwork,
                           "function '{0}' expands to {1}{2} nodes of the functions that it calls, "
                           "but a model may have {3}",
                           name, *count == kMany ? "more than " : "", *count, OnnxModel::kMaxNodes);
    }
    return counts_[&function] = *count;
  }

  static constexpr int64_t kOpen = -1;
  const Functions& functions_;
  llvm::DenseMap<const onnx::FunctionProto*, int64_t> counts_;
  int depth_ = 0;
};

}  // namespace

char UnknownInputs::ID = 0;

Importer::Importer(const OnnxModel& model, const ImportOptions& options)
    : model_(model), options_(options) {
  opsets_ = OperatorSets(model.proto().opset_import());
  scope_.opsets = &opsets_;
  for (const onnx::FunctionProto& function : model.proto().functions())
    functions_[{PlainDomain(function.domain()).str(), function.name()}] = &function;
}

const onnx::AttributeProto* ResolveAttribute(const onnx::AttributeProto& attribute,
                                             const OnnxFunctionCall* call) {
  const onnx::AttributeProto* found = &attribute;
  for (; found != nullptr && !found->ref_attr_name().empty(); call = call->outer) {
    if (call == nullptr) return nullptr;
    const std::string& name = found->ref_attr_name();
    auto find = [&](const auto& attributes) -> const onnx::AttributeProto* {
      auto at = llvm::find_if(attributes, [&](const auto& each) { return each.name() == name; });
      return at == attributes.end() ? nullptr : &*at;
    };
    found = find(call->node.attribute());
    // A default value of the function does not refer to another attribute.
    if (found == nullptr) return find(call->defaults);
  }
  return found;
}

std::string OnnxScope::PathTo(const onnx::NodeProto& node) const {
  const bool by_output = node.name().empty() && node.output_size() > 0;
  return Shortened(path + (by_output ? node.output(0) : node.name()));
}

llvm::Error Importer::Spend(int64_t count) {
  spent_ += count;
  const int64_t most = kMaxCalls + kCallsOfANode * model_.proto().graph().node_size();
  if (spent_ <= most) return llvm::Error::success();
  return MakeUserError(Code::kBadNetwork,
                       "the model has more than {0} calls when its functions, loops and lists "
                       "are expanded",
                       most);
}

LocationId Importer::LocationOf(llvm::StringRef node) {
  Location location;
  auto [entry, is_new] = files_.try_emplace(Shortened(node));
  if (is_new) entry->second = graph_.AddFile(model_.name() + ":" + entry->first().str());
  location.file = entry->second;
  return graph_.AddLocation(location);
}

// --- Operators and functions ------------------------------------------------------------------

const onnx::FunctionProto* Importer::FindFunction(const onnx::NodeProto& node) const {
  auto found = functions_.find({PlainDomain(node.domain()).str(), node.op_type()});
  return found == functions_.end() ? nullptr : found->second;
}

void Importer::CountUnknown(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes,
                            const llvm::StringMap<int64_t>& opsets) {
  for (const onnx::NodeProto& node : nodes) {
    for (const onnx::AttributeProto& attribute : node.attribute())
      if (attribute.has_g()) CountUnknown(attribute.g().node(), opsets);
    if (FindFunction(node) != nullptr) continue;
    const llvm::StringRef domain = PlainDomain(node.domain());
    const int64_t version = opsets.lookup(domain);
    if (FindOnnxRule(domain, node.op_type(), std::max<int64_t>(version, 1)) == nullptr)
      ++unknown_[Described(node)];
  }
}

llvm::Error Importer::CheckOperators() {
  CountUnknown(model_.proto().graph().node(), opsets_);
  for (const onnx::FunctionProto& function : model_.proto().functions())
    CountUnknown(function.node(), OperatorSets(function.opset_import()));
  if (unknown_.empty()) return llvm::Error::success();
  std::vector<std::string> texts;
  for (const auto& [name, count] : unknown_)
    texts.push_back(llvm::formatv("{0} ({1} {2})", name, count, count == 1 ? "node" : "nodes"));
  return MakeUserError(Code::kNotSupported, "operators that are not supported: {0}",
                       llvm::join(texts, ", "));
}

llvm::Error Importer::CheckExpansion() {
  if (functions_.empty()) return llvm::Error::success();
  llvm::Expected<int64_t> count = ExpansionCounter(functions_).Count(model_.proto().graph().node());
  if (!count) return count.takeError();
  if (*count <= OnnxModel::kMaxNodes) return llvm::Error::success();
  return MakeUserError(
      Code::kBadNetwork,
      "it has {0} nodes after its functions are expanded, but a model may have {1}", *count,
      OnnxModel::kMaxNodes);
}

// --- Inputs ---------------------------------------------------------------------------------

llvm::Expected<Type> Importer::TypeOfInput(const onnx::ValueInfoProto& info) {
  const std::string& name = info.name();
  if (info.type().has_sequence_type() || info.type().has_optional_type() ||
      info.type().has_map_type() || info.type().has_sparse_tensor_type()) {
    return MakeUserError(Code::kNotSupported,
                         "input '{0}' is not a dense tensor (a list, an optional value, a map or a "
                         "sparse tensor)",
                         name);
  }
  const auto& tensor = info.type().tensor_type();
  llvm::Expected<DType> dtype = DTypeFromOnnx(tensor.elem_type());
  if (!dtype) {
    return MakeUserError(Code::kNotSupported, "input '{0}': {1}", name,
                         llvm::toString(dtype.takeError()));
  }
  if (!tensor.has_shape())
    return MakeUserError(Code::kNotSupported, "input '{0}' may have any number of dims", name);
  Type type;
  type.dtype = *dtype;
  for (const auto& dim : tensor.shape().dim()) {
    if (dim.has_dim_value()) {
      // Some exporters write -1 for any size.
      if (dim.dim_value() == -1) {
        type.dims.push_back(SizeOf(""));
        continue;
      }
      if (dim.dim_value() < 0)
        return MakeUserError(Code::kBadNetwork, "input '{0}' has a dim of size {1}", name,
                             dim.dim_value());
      type.dims.emplace_back(dim.dim_value());
      continue;
    }
    type.dims.push_back(SizeOf(dim.dim_param()));
  }
  return type;
}

std::optional<Dim> Importer::DeclaredSize(const onnx::TensorShapeProto::Dimension& dim) {
  if (dim.has_dim_value() && dim.dim_value() >= 0) return Dim(dim.dim_value());
  if (dim.dim_param().empty() || !symbols_.contains(dim.dim_param())) return std::nullopt;
  return SizeOf(dim.dim_param());
}

Dim Importer::SizeOf(const std::string& name) {
  // Dims with the same name have the same size; a dim without a name has its own size.
  auto [entry, is_new] =
      symbols_.try_emplace(name.empty() ? "\n" + std::to_string(symbols_.size()) : name);
  std::string& symbol = entry->second;
  if (is_new) {
    symbol =
        graph_.NewName(ToIdentifier(name.empty() ? "D" + std::to_string(symbols_.size()) : name));
    graph_.ReserveName(symbol);
  }
  for (const std::string& known : {name, symbol}) {
    auto fixed = options_.fixed_sizes.find(known);
    if (known.empty() || fixed == options_.fixed_sizes.end()) continue;
    known_sizes_.insert(known);
    return fixed->second;
  }
  return Dim::Symbol(symbol);
}

llvm::Error Importer::AddInputs() {
  const onnx::GraphProto& graph = model_.proto().graph();
  for (const onnx::ValueInfoProto& info : graph.output())
    graph_.ReserveName(OutputName(info.name()));
  for (const onnx::ValueInfoProto& info : graph.input())
    if (InputName(info.name()) == info.name()) graph_.ReserveName(info.name());
  for (const onnx::ValueInfoProto& info : graph.input()) {
    if (scope_.initializers.contains(info.name()))
      continue;  // a default value, which is always used
    if (scope_.values.contains(info.name()))
      return MakeUserError(Code::kBadNetwork, "there are two inputs '{0}'", info.name());
    if (auto fixed = options_.fixed_inputs.find(info.name());
        fixed != options_.fixed_inputs.end()) {
      llvm::Expected<Value*> value = AddConstant(fixed->second, info.name());
      if (!value) return value.takeError();
      scope_.values[info.name()] = *value;
      continue;
    }
    llvm::Expected<Type> type = TypeOfInput(info);
    if (!type) return type.takeError();
    const std::string base = InputName(info.name());
    const bool keeps = base == info.name() && !graph_.FindValue(base);
    Value* value = graph_.AddInput(keeps ? base : graph_.NewName(base), std::move(*type),
                                   LocationOf(info.name()));
    scope_.values[info.name()] = value;
    inputs_.emplace_back(info.name(), value);
  }
  return llvm::Error::success();
}

llvm::Error Importer::AddInitializers(const onnx::GraphProto& graph, OnnxScope& scope) {
  auto add = [&](const onnx::TensorProto& tensor) -> llvm::Error {
    if (scope.initializers.try_emplace(tensor.name(), &tensor).second)
      return llvm::Error::success();
    return MakeUserError(Code::kBadNetwork, "there are two initializers '{0}'", tensor.name());
  };
  for (const onnx::TensorProto& tensor : graph.initializer())
    if (llvm::Error error = add(tensor)) return error;
  for (const onnx::SparseTensorProto& tensor : graph.sparse_initializer()) {
    if (llvm::Error error = add(tensor.values())) return error;
    scope.sparse[tensor.values().name()] = &tensor;
  }
  return llvm::Error::success();
}

// --- Nodes ----------------------------------------------------------------------------------

llvm::Error Importer::ImportFunction(const onnx::FunctionProto& function,
                                     const onnx::NodeProto& node, OnnxScope& scope) {
  if (++depth_ > kMaxCallDepth)
    return MakeUserError(Code::kBadNetwork, "function calls are nested more than {0} deep",
                         kMaxCallDepth);
  std::unique_ptr<FunctionInfo>& info = function_infos_[&function];
  if (info == nullptr)
    info = std::make_unique<FunctionInfo>(
        FunctionInfo{OperatorSets(function.opset_import()), DefaultsOf(function)});
  const OnnxFunctionCall call{node, info->defaults, scope.call};
  OnnxScope inner;
  inner.opsets = &info->opsets;
  inner.call = &call;
  inner.path = Shortened(scope.path + (node.name().empty() ? node.op_type() : node.name())) + "/";
  for (int i = 0; i < function.input_size(); ++i) {
    const std::string& parameter = function.input(i);
    if (i >= node.input_size() || node.input(i).empty() || IsMissing(scope, node.input(i))) {
      inner.missing.insert(parameter);
      continue;
    }
    llvm::Expected<Value*> value = Find(scope, node.input(i));
    if (!value) return value.takeError();
    if (*value != nullptr) {
      inner.values[parameter] = *value;
    } else if (const auto* sequence = FindSequence(scope, node.input(i))) {
      if (llvm::Error error = Spend(static_cast<int64_t>(sequence->size()))) return error;
      inner.sequences[parameter] = *sequence;
    } else {
      return MakeUserError(Code::kBadNetwork,
                           "node '{0}' reads '{1}', which no node before it computes",
                           scope.PathTo(node), node.input(i));
    }
  }
  if (llvm::Error error = ImportNodes(function.node(), inner)) return error;
  for (int i = 0; i < function.output_size() && i < node.output_size(); ++i) {
    if (node.output(i).empty()) continue;
    llvm::Expected<Value*> value = Find(inner, function.output(i));
    if (!value) return value.takeError();
    if (*value != nullptr) {
      scope.values[node.output(i)] = *value;
    } else if (const auto* sequence = FindSequence(inner, function.output(i))) {
      if (llvm::Error error = Spend(static_cast<int64_t>(sequence->size()))) return error;
      scope.sequences[node.output(i)] = *sequence;
    } else {
      return MakeUserError(Code::kBadNetwork, "function '{0}' does not compute its output '{1}'",
                           function.name(), function.output(i));
    }
  }
  --depth_;
  return llvm::Error::success();
}

void Importer::SuggestName(const Value* value, llvm::StringRef name) {
  suggested_.try_emplace(value, name.take_back(kMaxShownName).str());
}

void Importer::ForgetSharedNames() {
  llvm::StringMap<std::vector<const Value*>> alike;
  for (const Op* op : graph_.ops()) {
    if (op->type() != "constant" && op->type() != "fill") continue;
    std::string key = op->type();
    for (const AttributeValue& value : op->attribute_values())
      key += " " + AttributeToString(value);
    alike[key].push_back(op->result());
  }
  for (const auto& entry : alike) {
    const std::vector<const Value*>& values = entry.getValue();
    const std::string first = suggested_.lookup(values[0]);
    if (llvm::any_of(values, [&](const Value* v) { return suggested_.lookup(v) != first; }))
      for (const Value* value : values) suggested_.erase(value);
  }
}

llvm::Error Importer::ImportNode(const onnx::NodeProto& node, OnnxScope& scope) {
  // A node in a loop or a function counts even if it adds no calls.
  if (scope.parent != nullptr || scope.call != nullptr)
    if (llvm::Error error = Spend(1)) return error;
  if (const onnx::FunctionProto* function = FindFunction(node))
    return ImportFunction(*function, node, scope);
  const llvm::StringRef domain = PlainDomain(node.domain());
  const int64_t opset = std::max<int64_t>(scope.opsets->lookup(domain), 1);
  const OnnxRule* rule = FindOnnxRule(domain, node.op_type(), opset);
  if (rule == nullptr)
    return MakeUserError(Code::kNotSupported, "operators that are not supported: {0} (1 node)",
                         Described(node));
  Node context(*this, node, scope, opset);
  rule->convert(context);
  return context.TakeError();
}

llvm::Error Importer::ImportNodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes,
                                  OnnxScope& scope) {
  for (const onnx::NodeProto& node : nodes)
    if (llvm::Error error = ImportNode(node, scope)) return error;
  return llvm::Error::success();
}

llvm::Expected<std::vector<Value*>> Importer::ImportSubgraph(const onnx::GraphProto& graph,
                                                             const OnnxScope& outer,
                                                             llvm::ArrayRef<Value*> inputs) {
  if (++depth_ > kMaxCallDepth)
    return MakeUserError(Code::kBadNetwork, "subgraphs are nested more than {0} deep",
                         kMaxCallDepth);
  if (llvm::Error error = Spend(1 + graph.initializer_size())) return error;
  OnnxScope scope;
  scope.parent = &outer;
  scope.opsets = outer.opsets;
  scope.call = outer.call;
  scope.path = outer.path;
  if (llvm::Error error = AddInitializers(graph, scope)) return error;
  for (int i = 0; i < graph.input_size() && static_cast<size_t>(i) < inputs.size(); ++i)
    scope.values[graph.input(i).name()] = inputs[static_cast<size_t>(i)];
  if (llvm::Error error = ImportNodes(graph.node(), scope)) return error;
  std::vector<Value*> outputs;
  for (const onnx::ValueInfoProto& info : graph.output()) {
    llvm::Expected<Value*> value = Find(scope, info.name());
    if (!value) return value.takeError();
    if (*value == nullptr) {
      const bool is_list = FindSequence(scope, info.name()) != nullptr;
      return MakeUserError(is_list ? Code::kNotSupported : Code::kBadNetwork,
                           is_list ? "a subgraph returns '{0}', which is a list of tensors"
                                   : "a subgraph does not compute its output '{0}'",
                           info.name());
    }
    outputs.push_back(*value);
  }
  --depth_;
  return outputs;
}

// --- Outputs --------------------------------------------------------------------------------

llvm::Error Importer::AddOutputs() {
  const onnx::GraphProto& graph = model_.proto().graph();
  if (graph.output_size() == 0) return MakeUserError(Code::kBadNetwork, "it has no outputs");
  // The names that are kept come first.
  llvm::StringSet<> taken;
  for (const onnx::ValueInfoProto& info : graph.output())
    if (OutputName(info.name()) == info.name()) taken.insert(info.name());
  llvm::StringSet<> kept;
  llvm::StringMap<unsigned> last;  // suffix of a name
  for (const onnx::ValueInfoProto& info : graph.output()) {
    llvm::Expected<Value*> value = Find(scope_, info.name());
    if (!value) return value.takeError();
    std::vector<std::pair<std::string, Value*>> parts = {{info.name(), *value}};
    if (*value == nullptr) {
      const auto* sequence = FindSequence(scope_, info.name());
      if (sequence == nullptr)
        return MakeUserError(Code::kBadNetwork, "no node computes the output '{0}'", info.name());
      parts.clear();
      for (Value* part : *sequence)
        parts.emplace_back(info.name() + "_" + std::to_string(parts.size()), part);
    }
    for (const auto& [name, part] : parts) {
      const std::string base = OutputName(name);
      unsigned& suffix = last.try_emplace(base, 1).first->second;
      std::string unique = base;
      if (base != info.name() || !kept.insert(base).second)
        while (!taken.insert(unique).second) unique = base + "_" + std::to_string(++suffix);
      graph_.AddOutput(unique, part);
      outputs_.emplace_back(name, part);
    }
  }
  return llvm::Error::success();
}

llvm::Expected<ImportedModel> Importer::Import() {
  const onnx::GraphProto& graph = model_.proto().graph();
  if (llvm::Error error = CheckOperators()) return error;
  if (llvm::Error error = CheckExpansion()) return error;
  if (llvm::Error error = AddInitializers(graph, scope_)) return error;
  for (const auto& fixed : options_.fixed_inputs) {
    const bool is_input = llvm::any_of(
        graph.input(), [&](const auto& info) { return info.name() == fixed.getKey(); });
    if (!is_input)
      return MakeUserError(Code::kSurplusInput, "the model has no input '{0}'", fixed.getKey());
  }
  if (llvm::Error error = AddInputs()) return error;
  for (const auto& fixed : options_.fixed_sizes) {
    if (!known_sizes_.contains(fixed.getKey()))
      return MakeUserError(Code::kUnknownSetting, "it has no input or size '{0}'", fixed.getKey());
  }
  if (llvm::Error error = ImportNodes(graph.node(), scope_)) return error;
  if (llvm::Error error = AddOutputs()) return error;

  // Values that were computed at import become literals.
  auto evaluate =
      [&](const Op& op,
          llvm::ArrayRef<Constant>) -> llvm::Expected<std::optional<std::vector<Constant>>> {
    if (op.operands().empty()) return std::nullopt;
    std::vector<Constant> results;
    for (const Value* result : op.results()) {
      const Constant* constant = known_.FindConstant(result);
      if (constant == nullptr || !IsFoldable(*constant)) return std::nullopt;
      results.push_back(*constant);
    }
    return results;
  };
  PassContext context{GlobalRegistry()};
  context.evaluate = evaluate;
  if (llvm::Error error = ImportPipeline().Run(graph_, context)) return error;
  ForgetSharedNames();
  if (llvm::Error error = ImportMergePipeline().Run(graph_, context)) return error;

  std::vector<std::string> output_names;
  for (const GraphOutput& output : graph_.outputs()) output_names.push_back(output.name);
  llvm::DenseMap<const Value*, const Value*> copies;
  llvm::Expected<Graph> compact = CompactGraph(graph_, suggested_, &copies);
  if (!compact) return compact.takeError();
  ImportedModel imported;
  for (const auto& [value, constant] : weights_)
    if (const Value* copy = copies.lookup(value)) imported.weights[copy->name()] = constant;
  for (const auto& [name, value] : inputs_)
    imported.inputs.emplace_back(name, copies.lookup(value)->name());
  for (size_t i = 0; i < outputs_.size(); ++i)
    imported.outputs.emplace_back(outputs_[i].first, output_names[i]);
  imported.graph = std::move(*compact);
  if (const int64_t version = opsets_.lookup(""); version > kNewestOperatorSet) {
    imported.warnings.Warning(
        Code::kNotSupported, nullptr, {},
        llvm::formatv(
            "{0}: it uses version {1} of ONNX's operator set, but pdl knows versions up to "
            "{2}; operators that have changed since are computed as in version {2}",
            model_.name(), version, kNewestOperatorSet));
  }
  return imported;
}

llvm::Expected<ImportedModel> ImportOnnx(const OnnxModel& model, const ImportOptions& options) {
  llvm::Expected<ImportedModel> imported = Importer(model, options).Import();
  if (imported) return imported;
  // Every message names the model.
  llvm::Error named = llvm::Error::success();
  llvm::handleAllErrors(
      imported.takeError(),
      [&](const UnknownInputs& e) {
        named = llvm::make_error<UnknownInputs>(e.names(), model.name() + ": " + e.text());
      },
      [&](const UserError& e) {
        named = llvm::make_error<UserError>(e.code(), model.name() + ": " + e.text());
      },
      [&](const llvm::ErrorInfoBase& e) {
        named = llvm::make_error<UserError>(Code::kBadNetwork, model.name() + ": " + e.message());
      });
  return named;
}

}  // namespace pdl
