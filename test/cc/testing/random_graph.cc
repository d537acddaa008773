#include "test/cc/testing/random_graph.h"

#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/compiler.h"
#include "pdl/compiler/layers.h"
#include "pdl/compiler/pipeline.h"
#include "pdl/op/op_registry.h"
#include "test/cc/testing/random_call.h"
#include "test/cc/testing/random_constant.h"
#include "test/cc/testing/random_network.h"

namespace pdl {
namespace {

bool IsConstant(const Type& type) {
  return llvm::all_of(type.dims, [](const Dim& dim) { return dim.is_constant(); });
}

std::vector<int64_t> SizesOf(llvm::ArrayRef<Dim> dims) {
  std::vector<int64_t> sizes;
  for (const Dim& dim : dims) {
    llvm::Expected<int64_t> size = dim.Evaluate(
        [](llvm::StringRef symbol) -> std::optional<int64_t> { return RandomGraphSize(symbol); });
    sizes.push_back(size ? *size : (llvm::consumeError(size.takeError()), 1));
  }
  return sizes;
}

bool IsSmall(const Type& type) {
  if (!type.is_plain()) return false;
  int64_t elements = 1;
  for (const int64_t size : SizesOf(type.dims)) elements *= size;
  return elements <= kMaxElements;
}

class GraphGenerator {
 public:
  GraphGenerator(CallCorpus& corpus, RandomSource& random) : corpus_(corpus), random_(random) {}

  RandomGraph Make() {
    Begin();
    for (unsigned i = 1 + random_.Below(6); i > 0; --i) {
      const uint32_t kind = random_.Below(100);
      if (kind < 60) {
        AddCall();
      } else if (kind < 80) {
        AddChain();
      } else if (kind < 90) {
        AddGradient();
      } else {
        AddState();
      }
    }
    if (random_.Chance(12)) AddTraining();
    AddOutputs();
    for (const Value* input : result_.graph.inputs())
      if (!result_.inputs.contains(input->name())) Feed(input, std::nullopt);
    return std::move(result_);
  }

 private:
  Graph& graph() { return result_.graph; }
  std::string NewName(const char* base) {
    return graph().NewName(base + std::to_string(++last_name_));
  }

  // --- The network to begin with --------------------------------------------------------------
  void Begin() {
    const uint32_t kind = random_.Below(100);
    if (kind < 20) {
      BeginWith(RandomNetwork(random_.Below(1 << 16), 3 + random_.Below(8)));
    } else if (kind < 40) {
      if (std::optional<Graph> network = corpus_.PickNetwork(random_)) BeginWithTest(*network);
    }
    for (const Value* value : graph().inputs())
      if (!result_.inputs.contains(value->name())) Feed(value, std::nullopt);
    for (Value* value : graph().inputs()) pool_.push_back(value);
    for (Value* value : graph().parameters()) pool_.push_back(value);
    for (const Op* op : graph().ops())
      for (Value* value : op->results()) pool_.push_back(value);
  }

  void BeginWith(const std::string& text) {
    CompileRequest request;
    request.file = std::make_shared<SourceFile>("r.pdl", text);
    request.registry = &GlobalRegistry();
    request.library = StandardLayers();
    CompileResult compiled = Compile(request);
    if (!compiled.graph) return;
    graph() = std::move(*compiled.graph);
    graph().ClearTrainings();
  }

  void BeginWithTest(Graph& network) {
    // The outputs of a test have names that are none in the language.
    const std::vector<GraphUpdate> updates = network.updates().vec();
    network.ClearOutputs();
    for (const GraphUpdate& update : updates) network.AddUpdate(update.state, update.value);
    // Literals become inputs, so that calls are not all evaluated by the compiler.
    if (random_.Chance(50)) UnfoldLiterals(network);
    std::string text = EmitPdl(network);
    // So have the calls in `expect` statements.
    for (const char after : llvm::StringRef("., )"))
      for (size_t at; (at = text.find(std::string("expect") + after)) != std::string::npos;)
        text.replace(at, 6, "ex_");
    // A loop that ends for the values of the test may not end for others.
    constexpr llvm::StringLiteral kSteps = "max_steps=[";
    constexpr size_t kMostDigits = 3;
    for (size_t at = 0; (at = text.find(kSteps.str(), at)) != std::string::npos;) {
      at += kSteps.size();
      const size_t digits = text.find_first_not_of("0123456789", at) - at;
      if (digits > kMostDigits) text.replace(at, digits, std::string(kMostDigits, '9'));
    }
    BeginWith(text);
  }

  void UnfoldLiterals(Graph& network) {
    for (const Op* op : network.ops()) {
      if (op->type() != "constant" || !op->result()->type().is_plain() || random_.Chance(30) ||
          IsKnownSize(*op->result()))
        continue;
      const auto* value = std::get_if<Constant>(&op->attribute_values().front());
      if (value == nullptr || value->dtype() != op->result()->type().dtype) continue;
      Value* input = network.AddInput(network.NewName("literal"), op->result()->type());
      result_.inputs[input->name()] = *value;
      network.ReplaceAllUses(op->result(), input);
    }
  }

  // Whether a call requires the value before the run.
  static bool IsKnownSize(const Value& value) {
    return !kFloats.Contains(value.type().dtype) ||
           llvm::any_of(value.uses(), [](const Value::Use& use) {
             return use.op->def().properties().is_plan_select ||
                    use.op->def().signature.BlockAttribute() >= 0;
           });
  }

  // --- Operands -------------------------------------------------------------------------------
  void Feed(const Value* input, std::optional<PackedConstant> value) {
    const Type& type = input->type();
    if (!value) value = RandomValue(type);
    result_.inputs[input->name()] = std::move(*value);
  }

  PackedConstant RandomValue(const Type& type) {
    int64_t bound = 0;
    if (type.index_bound) bound = std::max<int64_t>(SizesOf({*type.index_bound})[0], 1);
    if (type.is_plain()) return RandomConstant(type.dtype, SizesOf(type.dims), bound, random_);
    if (type.is_sparse() && type.ragged_levels() == 0)
      return ToSparse(RandomConstant(type.dtype, SizesOf(type.dims), bound, random_), type);
    PackedConstant packed;
    int64_t rows = SizesOf(type.dims[0])[0];
    for (unsigned level = 0; level < type.ragged_levels(); ++level) {
      std::vector<int64_t> offsets = {0};
      for (int64_t row = 0; row < rows; ++row)
        offsets.push_back(offsets.back() + (row * 2 + 2) % 5);
      packed.offsets.push_back(
          Constant::Copy(DType::kI64, {static_cast<int64_t>(offsets.size())}, offsets.data()));
      rows = offsets.back();
    }
    std::vector<int64_t> sizes =
        SizesOf(llvm::ArrayRef(type.dims).drop_front(1 + type.ragged_levels()));
    sizes.insert(sizes.begin(), rows);
    if (type.is_sparse()) {
      Type rows_type(type.dtype, {Dim(rows), type.dims.back()});
      rows_type.storage = Storage::kSparse;
      const PackedConstant sparse =
          ToSparse(RandomConstant(type.dtype, sizes, bound, random_), rows_type);
      packed.values = sparse.values;
      packed.indices = sparse.indices;
      packed.offsets.push_back(sparse.offsets[0]);
    } else {
      packed.values = RandomConstant(type.dtype, sizes, bound, random_);
    }
    packed.type = TypeWithSizes(type, packed.values.sizes(), packed.offsets[0].sizes());
    return packed;
  }

  bool MentionsDataSymbol(const Type& type) {
    bool mentions = false;
    for (const Dim& dim : type.dims)
      dim.ForEachSymbol([&](llvm::StringRef symbol) { mentions |= graph().IsDataSymbol(symbol); });
    return mentions;
  }

  Value* MakeOperand(const WantedOperand& wanted) {
    std::vector<Value*> same;
    for (Value* value : pool_)
      if (value->type() == wanted.type) same.push_back(value);
    const bool needs_value = wanted.value.has_value();
    if (!same.empty() && random_.Chance(needs_value ? 20 : 70))
      return same[random_.Below(same.size())];
    // An input cannot have a size that data decide.
    if (MentionsDataSymbol(wanted.type)) return same.empty() ? nullptr : same.front();
    const bool may_store = wanted.type.is_plain() && IsConstant(wanted.type);
    const uint32_t kind = random_.Below(may_store ? 4 : 1);
    PackedConstant value = wanted.value ? *wanted.value : RandomValue(wanted.type);
    Value* made = nullptr;
    if (kind == 0 || (kind > 1 && !kFloats.Contains(wanted.type.dtype))) {
      made = graph().AddInput(NewName("in"), wanted.type);
      Feed(made, std::move(value));
    } else if (kind == 1) {
      made = Literal(value.values, {});
    } else {
      Type type = wanted.type;
      type.index_bound.reset();
      made = kind == 2 ? graph().AddParameter(NewName("p"), type, Initialized(value.values))
                       : graph().AddState(NewName("s"), type, Initialized(value.values));
    }
    if (made != nullptr) pool_.push_back(made);
    return made;
  }

  Value* Literal(const Constant& value, BlockId block) {
    CallOptions options;
    options.block = block;
    llvm::Expected<Op*> op =
        graph().AddOp(*GlobalRegistry().Find("constant"), {},
                      {{"value", value}, {"dtype", value.dtype()}}, {NewName("c")}, options);
    if (op) return (*op)->result();
    llvm::consumeError(op.takeError());
    return nullptr;
  }

  VariableInfo Initialized(const Constant& value) {
    VariableInfo info;
    const BlockId block = graph().AddBlock();
    graph().SetBlockOutputs(block, {Literal(value, block)});
    info.initializer = block;
    return info;
  }

  Value* SomeFloat(bool is_small = true) {
    std::vector<Value*> floats;
    for (Value* value : pool_)
      if (kFloats.Contains(value->type().dtype) && value->type().is_plain() &&
          (!is_small || IsSmall(value->type())))
        floats.push_back(value);
    if (!floats.empty()) return floats[random_.Below(floats.size())];
    const Type type(DType::kF32, {Dim(1 + random_.Below(40)), Dim(1 + random_.Below(9))});
    return MakeOperand({type, std::nullopt});
  }

  // --- Statements -----------------------------------------------------------------------------
  /// Adds the call; the results that no one has to know before the run go to the pool.
  Op* Add(const OpDef& def, llvm::ArrayRef<Value*> operands,
          llvm::ArrayRef<AttributeValue> attributes) {
    if (llvm::is_contained(operands, nullptr)) return nullptr;
    std::vector<NamedAttribute> given;
    for (size_t i = 0; i < attributes.size(); ++i)
      if (!IsNone(attributes[i]))
        given.push_back({def.signature.attributes[i].name, attributes[i]});
    return AddNamed(def, operands, given);
  }

  Op* AddNamed(const OpDef& def, llvm::ArrayRef<Value*> operands,
               llvm::ArrayRef<NamedAttribute> given) {
    auto complete = CompleteAttributes(def.signature, given);
    if (!complete) return llvm::consumeError(complete.takeError()), nullptr;
    std::vector<std::string> names;
    for (size_t i = 0; i < def.signature.NumResults(*complete); ++i) names.push_back(NewName("v"));
    llvm::Expected<Op*> op = graph().AddOpWithValues(def, operands, *complete, names);
    if (!op) return llvm::consumeError(op.takeError()), nullptr;
    for (Value* result : (*op)->results()) pool_.push_back(result);
    return *op;
  }

  void AddCall() {
    static const std::vector<const OpDef*> defs = GlobalRegistry().All();
    const OpDef& def = *defs[random_.Below(defs.size())];
    const std::optional<CorpusCall> call = corpus_.PickCall(def, random_);
    if (!call || def.signature.BlockAttribute() >= 0 || def.properties().defines_size) return;
    const WantedCall wanted = ChangeCall(*call, random_);
    llvm::SmallVector<Value*, 4> operands;
    for (const WantedOperand& operand : wanted.operands) operands.push_back(MakeOperand(operand));
    Add(def, operands, wanted.attributes);
  }

  /// Some elementwise calls, one on the results of the other.
  void AddChain() {
    static const std::vector<const OpDef*> defs = [] {
      std::vector<const OpDef*> all = GlobalRegistry().All();
      llvm::erase_if(all, [](const OpDef* def) {
        return !def->properties().elementwise || def->properties().has_side_effect;
      });
      return all;
    }();
    Value* value = SomeFloat();
    for (unsigned i = 1 + random_.Below(6); i > 0 && value != nullptr; --i) {
      const OpDef& def = *defs[random_.Below(defs.size())];
      const unsigned count =
          std::min(def.signature.MaxOperands(), def.signature.MinOperands() + random_.Below(2));
      llvm::SmallVector<Value*, 4> operands(count, nullptr);
      const unsigned at = random_.Below(std::max(count, 1u));
      for (unsigned k = 0; k < count; ++k) operands[k] = k == at ? value : Partner(*value, def, k);
      std::vector<NamedAttribute> given;
      for (const AttributeDecl& decl : def.signature.attributes)
        if (decl.required() || random_.Chance(25))
          if (AttributeValue attribute = RandomAttribute(decl, random_); !IsNone(attribute))
            given.push_back({decl.name, attribute});
      if (llvm::is_contained(operands, nullptr)) continue;
      const Op* op = AddNamed(def, operands, given);
      if (op != nullptr && kFloats.Contains(op->result()->type().dtype)) value = op->result();
    }
  }

  /// Another operand of an elementwise call: with the same dims, some of them 1, or a scalar.
  Value* Partner(const Value& value, const OpDef& def, unsigned index) {
    Type type = value.type();
    const auto& inputs = def.signature.inputs;
    const InputDecl& input = inputs[std::min<size_t>(index, inputs.size() - 1)];
    if (!input.dtypes.Contains(type.dtype)) type.dtype = DType::kBool;
    if (random_.Chance(50)) {
      for (Dim& dim : type.dims)
        if (random_.Chance(40)) dim = Dim(1);
      while (!type.dims.empty() && random_.Chance(30)) type.dims.erase(type.dims.begin());
    }
    return MakeOperand({type, std::nullopt});
  }

  void AddGradient() {
    Value* y = SomeFloat();
    if (y == nullptr || y->producer() == nullptr) return;
    std::vector<Value*> sources;
    for (Value* value : pool_)
      if (kFloats.Contains(value->type().dtype) && value->producer() == nullptr &&
          !value->type().is_sparse())
        sources.push_back(value);
    if (sources.empty()) return;
    llvm::SmallVector<Value*, 4> operands = {y, MakeOperand({y->type(), std::nullopt})};
    const unsigned count = 1 + random_.Below(2);
    for (unsigned i = 0; i < count; ++i) operands.push_back(sources[random_.Below(sources.size())]);
    Graph before = graph().Clone();
    const std::vector<std::string> names = Names();
    if (llvm::is_contained(operands, nullptr)) return;
    AddNamed(*GlobalRegistry().Find("gradient"), operands,
             {{"count", static_cast<int64_t>(count)}});
    Graph trial = graph().Clone();
    PassContext context{.registry = GlobalRegistry()};
    if (llvm::Error error = CheckPipeline().Run(trial, context)) {
      llvm::consumeError(std::move(error));
      graph() = std::move(before);
      pool_.clear();
      for (const std::string& name : names)
        if (Value* value = graph().FindValue(name)) pool_.push_back(value);
    }
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const Value* value : pool_) names.push_back(value->name());
    return names;
  }

  /// A state that a run changes.
  void AddState() {
    Value* value = SomeFloat();
    if (value == nullptr || !IsConstant(value->type())) return;
    Value* state = graph().AddState(
        NewName("s"), value->type(),
        Initialized(RandomConstant(value->type().dtype, SizesOf(value->type().dims), 0, random_)));
    pool_.push_back(state);
    constexpr const char* kSteps[] = {"add", "mul", "maximum", "sub"};
    const Op* op =
        AddNamed(*GlobalRegistry().Find(random_.Pick(llvm::ArrayRef(kSteps))), {state, value}, {});
    if (op != nullptr) graph().AddUpdate(state, op->result());
  }

  void AddTraining() {
    constexpr const char* kOptimizers[] = {"sgd(lr=0.1)",
                                           "adam(lr=0.01)",
                                           "adamw(lr=0.01, weight_decay=0.1)",
                                           "adagrad(lr=0.1)",
                                           "rmsprop(lr=0.01)",
                                           "ftrl(lr=0.1)",
                                           "lamb(lr=0.01)",
                                           "sgd(lr=0.1, momentum=0.9)"};
    Value* value = SomeFloat();
    if (value == nullptr || graph().parameters().empty()) return;
    const Op* sum = AddNamed(*GlobalRegistry().Find("sum"), {value}, {});
    if (sum == nullptr || !sum->result()->type().is_scalar()) return;
    result_.optimizer = random_.Pick(llvm::ArrayRef(kOptimizers));
    result_.loss = sum->result()->name();
  }

  void AddOutputs() {
    unsigned added = 0;
    for (size_t i = pool_.size(); i-- > 0 && added < 10;) {
      Value* value = pool_[i];
      if (value->producer() == nullptr || (added > 3 && random_.Chance(50))) continue;
      ++added;
      graph().AddOutput("r" + std::to_string(i), value);
    }
    if (graph().outputs().empty() && !pool_.empty()) graph().AddOutput("r", pool_.back());
  }

  CallCorpus& corpus_;
  RandomSource& random_;
  RandomGraph result_;
  std::vector<Value*> pool_;
  unsigned last_name_ = 0;
};

}  // namespace

RandomGraph MakeRandomGraph(CallCorpus& corpus, RandomSource& random) {
  return GraphGenerator(corpus, random).Make();
}

int64_t RandomGraphSize(llvm::StringRef symbol) {
  int64_t size = 0;
  if (!symbol.drop_front().getAsInteger(10, size)) return size;
  return RandomNetworkSize(symbol.empty() ? 'N' : symbol[0]);
}

}  // namespace pdl
