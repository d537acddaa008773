// Broken files.
#include <cmath>
#include <functional>

#include "test/cc/testing/serialize_testing.h"

namespace pdl {
namespace {

using networks::ErrorOf;
using networks::Sample;
using networks::Serialize;
using networks::Small;
using toy::Registry;

struct BrokenCase {
  const char* name;
  std::function<void(NetworkDesc&)> damage;
  const char* message;
};

void PrintTo(const BrokenCase& broken, std::ostream* os) { *os << broken.name; }

class Broken : public testing::TestWithParam<BrokenCase> {};

TEST_P(Broken, IsRefused) {
  NetworkDesc desc;
  ASSERT_TRUE(desc.ParseFromString(Serialize(Sample())));
  GetParam().damage(desc);
  EXPECT_EQ(ErrorOf(desc.SerializeAsString()), std::string("net.pdlc: ") + GetParam().message);
}

OpDesc& OpOf(NetworkDesc& desc, const std::string& result) {
  for (BlockDesc& block : *desc.mutable_blocks())
    for (OpDesc& op : *block.mutable_ops())
      if (op.outputs(0) == result) return op;
  std::abort();
}
VarDesc& VarOf(NetworkDesc& desc, const std::string& name) {
  for (VarDesc& var : *desc.mutable_variables())
    if (var.name() == name) return var;
  std::abort();
}
TensorValue& TensorOf(NetworkDesc& desc) {
  return *(*OpOf(desc, "e").mutable_attributes())["t"].mutable_tensor();
}
DimDesc& DimOf(NetworkDesc& desc) { return *VarOf(desc, "x").mutable_type()->mutable_dims(0); }

const BrokenCase kBroken[] = {
    {"NoVersion", [](NetworkDesc& d) { d.clear_format_version(); },
     "not a network file, or damaged [PDL0402]"},
    {"NewerVersion", [](NetworkDesc& d) { d.set_format_version(7); },
     "format version 7, but this version of pdl reads 1 to 2 [PDL0402]"},
    {"NoBlock", [](NetworkDesc& d) { d.clear_blocks(); }, "there is no block 0 [PDL0402]"},
    {"Block0Inputs", [](NetworkDesc& d) { d.mutable_blocks(0)->add_inputs("x"); },
     "block 0 has inputs or outputs of its own [PDL0402]"},
    {"SymbolTwice", [](NetworkDesc& d) { d.add_symbols("N"); },
     "two symbols have the name 'N' [PDL0402]"},
    {"SymbolOfInference", [](NetworkDesc& d) { d.add_symbols("?5"); },
     "a symbol has an invalid name [PDL0402]"},
    {"SymbolNobodyHas", [](NetworkDesc& d) { d.add_symbols("Q"); },
     "the inputs introduce the symbols [N, M], not [N, M, Q] [PDL0402]"},
    {"UnknownSymbol", [](NetworkDesc& d) { DimOf(d).set_symbol("Q"); },
     "variable 'x': no input introduces the symbol 'Q' [PDL0402]"},
    {"UndeterminedSymbol",
     [](NetworkDesc& d) {
       d.add_symbols("Q");
       VarDesc& extra = *d.add_variables();
       extra = VarOf(d, "label");
       extra.set_name("extra");
       DimDesc::Call& call = *extra.mutable_type()->mutable_dims(0)->mutable_call();
       call.set_function(DimDesc::Call::MOD);
       call.add_operands()->set_symbol("Q");
       call.add_operands()->set_constant(9);
     },
     "no input determines 'Q' [PDL0402]"},
    {"FileTwice", [](NetworkDesc& d) { d.add_files("model.pdl"); },
     "two source files have the name 'model.pdl' [PDL0402]"},
    {"FileNameWithEscape", [](NetworkDesc& d) { d.add_files("\x1b[2J"); },
     "a file's name has a control character [PDL0402]"},
    {"LocationInNoFile", [](NetworkDesc& d) { d.mutable_locations(1)->set_file(2); },
     "location 2 is in file 2 of 2 [PDL0402]"},
    {"LocationFromLater", [](NetworkDesc& d) { d.mutable_locations(1)->set_origin(2); },
     "location 2 comes from 2, which is not before it [PDL0402]"},
    {"NoLocation", [](NetworkDesc& d) { OpOf(d, "y").set_location(3); },
     "there is no location 3 [PDL0402]"},
    {"NoName", [](NetworkDesc& d) { VarOf(d, "x").clear_name(); },
     "'' is not a valid name for a variable [PDL0402]"},
    {"NameWithControl", [](NetworkDesc& d) { VarOf(d, "x").set_name("a\nb"); },
     "'a\\0Ab' is not a valid name for a variable [PDL0402]"},
    {"NameOfASymbol", [](NetworkDesc& d) { VarOf(d, "x").set_name("~T"); },
     "'~T' is not a valid name for a variable [PDL0402]"},
    {"NameOfAReservedWord", [](NetworkDesc& d) { VarOf(d, "x").set_name("for"); },
     "'for' is not a valid name for a variable [PDL0402]"},
    {"NameOfAReservedWordAndMore", [](NetworkDesc& d) { VarOf(d, "x").set_name("inf.b"); },
     "'inf.b' is not a valid name for a variable [PDL0402]"},
    {"NameTwice", [](NetworkDesc& d) { VarOf(d, "label").set_name("x"); },
     "two variables have the name 'x' [PDL0402]"},
    {"ResultTwice",
     [](NetworkDesc& d) {
       OpOf(d, "low").set_outputs(1, "low");
       VarOf(d, "high").set_name("low");
     },
     "two variables have the name 'low' [PDL0402]"},
    {"UnknownRole", [](NetworkDesc& d) { VarOf(d, "x").set_role(static_cast<VarDesc::Role>(9)); },
     "variable 'x': there is no role 9 [PDL0402]"},
    {"CommentWithControl", [](NetworkDesc& d) { VarOf(d, "x").set_comment("\x1b[2J"); },
     "variable 'x': a comment has a control character [PDL0402]"},
    {"UnknownDType",
     [](NetworkDesc& d) { VarOf(d, "x").mutable_type()->set_dtype(static_cast<DataType>(99)); },
     "variable 'x': there is no dtype 99 [PDL0402]"},
    {"NoType", [](NetworkDesc& d) { VarOf(d, "x").clear_type(); },
     "variable 'x': there is no dtype 0 [PDL0402]"},
    {"UnknownStorage",
     [](NetworkDesc& d) { VarOf(d, "x").mutable_type()->set_storage(static_cast<StorageKind>(4)); },
     "variable 'x': there is no storage 4 [PDL0402]"},
    {"SparseVector", [](NetworkDesc& d) { VarOf(d, "label").mutable_type()->set_storage(SPARSE); },
     "variable 'label': a sparse matrix has 2 dims, not 1 [PDL0402]"},
    {"RankTooHigh",
     [](NetworkDesc& d) {
       for (int i = 0; i < 100; ++i) VarOf(d, "x").mutable_type()->add_dims()->set_constant(1);
     },
     "variable 'x': a shape has 102 dims [PDL0402]"},
    {"NegativeSize", [](NetworkDesc& d) { DimOf(d).set_constant(-4); },
     "variable 'x': a size is negative: -4 [PDL0402]"},
    {"NoSize", [](NetworkDesc& d) { DimOf(d).Clear(); },
     "variable 'x': a size has no value [PDL0402]"},
    {"RaggedNumber",
     [](NetworkDesc& d) {
       DimOf(d).set_constant(3);
       DimOf(d).set_ragged(true);
     },
     "variable 'x': a ragged dim is not a symbol [PDL0402]"},
    {"RaggedNothing",
     [](NetworkDesc& d) {
       DimOf(d).Clear();
       DimOf(d).set_ragged(true);
     },
     "variable 'x': a ragged dim is not a symbol [PDL0402]"},
    {"RaggedUnknown",
     [](NetworkDesc& d) { VarOf(d, "x").mutable_type()->mutable_dims(0)->set_ragged(true); },
     "variable 'x': no input introduces the ragged dim '~N' [PDL0402]"},
    {"RaggedInFront",
     [](NetworkDesc& d) {
       d.add_symbols("~N");
       DimOf(d).set_ragged(true);
     },
     "variable 'x': the ragged dim ~N does not come right after the first dim or another ragged "
     "one [PDL0402]"},
    {"RaggedByItsName",
     [](NetworkDesc& d) {
       d.add_symbols("~N");
       DimOf(d).set_symbol("~N");
     },
     "variable 'x': a size is a symbol with an invalid name [PDL0402]"},
    {"RaggedBound",
     [](NetworkDesc& d) {
       d.add_symbols("~N");
       DimDesc* bound = VarOf(d, "label").mutable_type()->mutable_index_bound();
       bound->set_symbol("N");
       bound->set_ragged(true);
     },
     "variable 'label': a ragged dim where a size is required [PDL0402]"},
    {"RaggedInsideASize",
     [](NetworkDesc& d) {
       DimDesc::Call* call = DimOf(d).mutable_call();
       call->set_function(DimDesc::Call::SUM);
       call->add_operands()->set_symbol("N");
       call->mutable_operands(0)->set_ragged(true);
     },
     "variable 'x': a ragged dim where a size is required [PDL0402]"},
    {"RaggedConstraint",
     [](NetworkDesc& d) { d.mutable_constraints(0)->mutable_right()->set_ragged(true); },
     "a constraint: a ragged dim where a size is required [PDL0402]"},
    {"SparseParameter", [](NetworkDesc& d) { VarOf(d, "v").mutable_type()->set_storage(SPARSE); },
     "variable 'v': a parameter of the type sparse bf16[2, 0] [PDL0402]"},
    {"UnknownFunction",
     [](NetworkDesc& d) {
       DimDesc::Call* call = DimOf(d).mutable_call();
       call->set_function(static_cast<DimDesc::Call::Function>(77));
       call->add_operands()->set_constant(1);
       call->add_operands()->set_constant(1);
     },
     "variable 'x': a size has an unknown function (77) [PDL0402]"},
    {"SumOfNothing",
     [](NetworkDesc& d) { DimOf(d).mutable_call()->set_function(DimDesc::Call::SUM); },
     "variable 'x': a size has a function of 0 operands [PDL0402]"},
    {"DivisionByZero",
     [](NetworkDesc& d) {
       DimDesc::Call* call = DimOf(d).mutable_call();
       call->set_function(DimDesc::Call::FLOOR_DIV);
       call->add_operands()->set_symbol("N");
       call->add_operands()->set_constant(0);
     },
     "variable 'x': a size overflows 64 bits or divides by zero [PDL0402]"},
    {"IndexBoundOnFloats",
     [](NetworkDesc& d) { VarOf(d, "x").mutable_type()->mutable_index_bound()->set_constant(3); },
     "variable 'x': an index bound on f32 [PDL0402]"},
    {"ParameterWithSymbol",
     [](NetworkDesc& d) { VarOf(d, "w").mutable_type()->mutable_dims(0)->set_symbol("N"); },
     "variable 'w': a parameter of the type f32[N] [PDL0402]"},
    {"WeightOfAnotherType", [](NetworkDesc& d) { VarOf(d, "v").mutable_weight()->set_sizes(0, 5); },
     "the weight of 'v' has another type than bf16[2, 0] [PDL0402]"},
    {"WeightWithoutFile", [](NetworkDesc& d) { VarOf(d, "v").mutable_weight()->clear_file(); },
     "the weight of 'v' has no file or no name [PDL0402]"},
    {"ShortSha", [](NetworkDesc& d) { VarOf(d, "v").mutable_weight()->set_sha256("abc"); },
     "the weight of 'v' has a SHA-256 of 3 bytes [PDL0402]"},
    {"WeightDecayNaN", [](NetworkDesc& d) { VarOf(d, "w").set_weight_decay(std::nan("")); },
     "variable 'w': weight_decay must be in 0..=1, got nan [PDL0402]"},
    {"NeitherInitializerNorWeight", [](NetworkDesc& d) { VarOf(d, "w").clear_initializer(); },
     "parameter 'w' has neither an initializer nor a weight [PDL0402]"},
    {"StateWithNeither", [](NetworkDesc& d) { VarOf(d, "s").clear_initializer(); },
     "state 's' has neither an initializer nor a weight [PDL0402]"},
    {"CopyOfNothing",
     [](NetworkDesc& d) {
       VarOf(d, "s").clear_initializer();
       VarOf(d, "s").set_copy_of("nobody");
     },
     "variable 's': there is no parameter or state 'nobody' to copy [PDL0402]"},
    {"CopyOfAResult",
     [](NetworkDesc& d) {
       VarOf(d, "s").clear_initializer();
       VarOf(d, "s").set_copy_of("y");
     },
     "variable 's': there is no parameter or state 'y' to copy [PDL0402]"},
    {"CopyOfAnotherType",
     [](NetworkDesc& d) {
       VarOf(d, "s").clear_initializer();
       VarOf(d, "s").set_copy_of("w");
     },
     "variable 's' is f32[N, 2*M + 1], a copy of 'w', which is f32[3] [PDL0402]"},
    {"CopyOfItself",
     [](NetworkDesc& d) {
       VarOf(d, "s").clear_initializer();
       VarOf(d, "s").set_copy_of("s");
     },
     "variable 's' is a copy of itself [PDL0402]"},
    {"CopiesOfEachOther",
     [](NetworkDesc& d) {
       VarDesc& s = VarOf(d, "s");
       s.clear_initializer();
       s.set_copy_of("r");
       VarDesc r = s;
       r.set_name("r");
       r.set_copy_of("s");
       *d.add_variables() = r;
     },
     "variable 's' is a copy of itself [PDL0402]"},
    {"CopyWithAnInitializer", [](NetworkDesc& d) { VarOf(d, "s").set_copy_of("w"); },
     "variable 's': a copy has no other initial value [PDL0402]"},
    {"ParameterThatIsACopy", [](NetworkDesc& d) { VarOf(d, "w").set_copy_of("v"); },
     "variable 'w': a parameter is not a copy [PDL0402]"},
    {"NoInitializer", [](NetworkDesc& d) { VarOf(d, "w").set_initializer(77); },
     "variable 'w': there is no block 76 to compute it [PDL0402]"},
    {"InitializerOfAnotherType", [](NetworkDesc& d) { VarOf(d, "w").set_initializer(3); },
     "variable 'w': block 2 does not compute one f32[3] without inputs [PDL0402]"},
    {"UnknownOperator", [](NetworkDesc& d) { OpOf(d, "y").set_type("sine"); },
     "call of 'sine' for 'y' (block.pdl:7:11): no operator is called 'sine' [PDL0101]"},
    {"ResultCount", [](NetworkDesc& d) { OpOf(d, "y").add_outputs("more"); },
     "call of 'cos' for 'y' (block.pdl:7:11): 2 results, but 'cos' has 1 [PDL0402]"},
    {"InputOfLater", [](NetworkDesc& d) { OpOf(d, "y").set_inputs(0, "z"); },
     "call of 'cos' for 'y' (block.pdl:7:11): it reads 'z', which is not a variable before it "
     "[PDL0402]"},
    {"InputOfAnotherBlock", [](NetworkDesc& d) { OpOf(d, "y").set_inputs(0, "given"); },
     "call of 'cos' for 'y' (block.pdl:7:11): it reads 'given', which is not in its block "
     "[PDL0402]"},
    {"BlockReadsOutside", [](NetworkDesc& d) { OpOf(d, "taken").set_inputs(0, "x"); },
     "call of 'cos' for 'taken': it reads 'x', which is not in its block [PDL0402]"},
    {"InputCount", [](NetworkDesc& d) { OpOf(d, "y").clear_inputs(); },
     "call of 'cos' for 'y' (block.pdl:7:11): takes 1 input (x), got 0 [PDL0205]"},
    {"InputDType", [](NetworkDesc& d) { OpOf(d, "y").set_inputs(0, "label"); },
     "call of 'cos' for 'y' (block.pdl:7:11): 'x' must be f16, bf16, f32 or f64, got "
     "i64[N] in 0..10 [PDL0302]"},
    {"AttributeOutOfRange",
     [](NetworkDesc& d) { (*OpOf(d, "y").mutable_attributes())["scale"].set_float_(-5); },
     "call of 'cos' for 'y' (block.pdl:7:11): attribute 'scale' of 'cos' must be larger than 0, "
     "got -5.0 [PDL0203]"},
    {"AttributeType",
     [](NetworkDesc& d) { (*OpOf(d, "y").mutable_attributes())["scale"].set_string("x"); },
     "call of 'cos' for 'y' (block.pdl:7:11): attribute 'scale' of 'cos' must be a float, got the "
     "string \"x\" [PDL0204]"},
    {"UnknownAttribute",
     [](NetworkDesc& d) { (*OpOf(d, "y").mutable_attributes())["scal"].set_float_(1); },
     "call of 'cos' for 'y' (block.pdl:7:11): 'cos' has no attribute 'scal'; did you mean "
     "'scale'? [PDL0201]"},
    {"UnknownDTypeInList",
     [](NetworkDesc& d) {
       (*OpOf(d, "e").mutable_attributes())["ds"].mutable_dtypes()->add_values(
           static_cast<DataType>(14));
     },
     "call of 'every_kind' for 'e': attribute 'ds': there is no dtype 14 [PDL0402]"},
    {"TensorTooShort", [](NetworkDesc& d) { TensorOf(d).set_data("\1"); },
     "call of 'every_kind' for 'e': attribute 't': a tensor has 1 bytes where its sizes need 2 "
     "[PDL0402]"},
    {"TensorOverflow",
     [](NetworkDesc& d) {
       TensorOf(d).set_sizes(0, INT64_MAX / 2 + 1);
       TensorOf(d).set_sizes(1, 2);
     },
     "call of 'every_kind' for 'e': attribute 't': the sizes of a tensor overflow [PDL0402]"},
    {"TensorOfEmptyRows",
     [](NetworkDesc& d) {
       TensorOf(d).set_sizes(0, 1'000'000'000);
       TensorOf(d).set_sizes(1, 0);
       TensorOf(d).clear_data();
     },
     "call of 'every_kind' for 'e': attribute 't': tensors without elements have more than 5000000 "
     "rows [PDL0402]"},
    {"TensorNegative",
     [](NetworkDesc& d) {
       TensorOf(d).set_sizes(0, -1);
       TensorOf(d).set_sizes(1, -2);
     },
     "call of 'every_kind' for 'e': attribute 't': a tensor has the size -1 [PDL0402]"},
    {"NeitherTrueNorFalse", [](NetworkDesc& d) { TensorOf(d).set_data("\1\2"); },
     "call of 'every_kind' for 'e': attribute 't': a bool is neither 0 nor 1 [PDL0402]"},
    {"NoSuchBlock",
     [](NetworkDesc& d) { (*OpOf(d, "z").mutable_attributes())["body"].set_block(9); },
     "call of 'call' for 'z': attribute 'body': there is no block 9 to call [PDL0402]"},
    {"BlockCallsItself",
     [](NetworkDesc& d) {
       OpOf(d, "taken").set_type("call");
       OpOf(d, "taken").clear_attributes();
       (*OpOf(d, "taken").mutable_attributes())["body"].set_block(2);
     },
     "call of 'call' for 'z': attribute 'body': block 2 is the body of two calls [PDL0402]"},
    {"NobodyElseCallsBlock",
     [](NetworkDesc& d) {
       OpOf(d, "z").set_type("cos");
       OpOf(d, "z").clear_attributes();
       OpOf(d, "taken").set_type("call");
       OpOf(d, "taken").clear_attributes();
       (*OpOf(d, "taken").mutable_attributes())["body"].set_block(2);
     },
     "blocks call each other recursively [PDL0402]"},
    {"BlockInputTwice", [](NetworkDesc& d) { d.mutable_blocks(1)->add_inputs("given"); },
     "'given' is an input of blocks twice [PDL0402]"},
    {"BlockInputNoVariable", [](NetworkDesc& d) { d.mutable_blocks(1)->add_inputs("nothing"); },
     "the inputs of block 1 are not variables, in their order [PDL0402]"},
    {"BlockOutputOfAnother", [](NetworkDesc& d) { d.mutable_blocks(1)->set_outputs(0, "x"); },
     "variable 'x' is not in block 1 [PDL0402]"},
    {"TypeNotInferred",
     [](NetworkDesc& d) { VarOf(d, "y").mutable_type()->mutable_dims(0)->set_constant(3); },
     "call of 'cos' for 'y' (block.pdl:7:11): 'y' is stored as f32[3, 2*M + 1], but the call "
     "returns "
     "f32[N, 2*M + 1] [PDL0402]"},
    {"ResultIsNoVariable", [](NetworkDesc& d) { d.mutable_variables()->RemoveLast(); },
     "call of 'add' for 'loss': its results are not variables [PDL0402]"},
    {"NoCallForResult", [](NetworkDesc& d) { d.mutable_blocks(0)->mutable_ops()->RemoveLast(); },
     "variable 'loss': no call computes it, or the call is out of order [PDL0402]"},
    {"SecondResultIsNoVariable", [](NetworkDesc& d) { VarOf(d, "high").set_role(VarDesc::INPUT); },
     "call of 'halves' for 'low': its result 'high' is out of order among the variables "
     "[PDL0402]"},
    {"ConstraintRelation", [](NetworkDesc& d) { d.mutable_constraints(0)->clear_relation(); },
     "a constraint has an unknown relation (0) [PDL0402]"},
    {"ConstraintOfNoSizes",
     [](NetworkDesc& d) {
       DimConstraint& constraint = *d.add_constraints();
       constraint.mutable_left()->set_constant(-3);
       constraint.set_relation(DimConstraint::AT_LEAST);
       constraint.mutable_right()->set_symbol("N");
       constraint.set_message("N is small");
     },
     "no sizes satisfy the constraint 'N is small' [PDL0402]"},
    {"OutputTwice", [](NetworkDesc& d) { *d.add_outputs() = d.outputs(0); },
     "two outputs have the name 'probability' [PDL0402]"},
    {"OutputWithoutName", [](NetworkDesc& d) { d.mutable_outputs(0)->clear_name(); },
     "'' is not a valid name for an output [PDL0402]"},
    {"OutputThatIsNoName", [](NetworkDesc& d) { d.mutable_outputs(0)->set_name("a\nb"); },
     "'a\\0Ab' is not a valid name for an output [PDL0402]"},
    {"OutputWithAPointAtItsEnd", [](NetworkDesc& d) { d.mutable_outputs(0)->set_name("a."); },
     "'a.' is not a valid name for an output [PDL0402]"},
    {"OutputNamedAsAReservedWord", [](NetworkDesc& d) { d.mutable_outputs(0)->set_name("not"); },
     "'not' is not a valid name for an output [PDL0402]"},
    {"OutputNamedLikeAState", [](NetworkDesc& d) { d.mutable_outputs(0)->set_name("s"); },
     "output 's' is 'e', and there is another variable 's' that a run reads [PDL0402]"},
    {"OutputOfNothing", [](NetworkDesc& d) { d.mutable_outputs(0)->set_variable("q"); },
     "there is no variable 'q' [PDL0402]"},
    {"OutputOfABlock", [](NetworkDesc& d) { d.mutable_outputs(0)->set_variable("taken"); },
     "variable 'taken' is not in block 0 [PDL0402]"},
    {"UpdateOfAnInput", [](NetworkDesc& d) { d.mutable_updates(0)->set_state("x"); },
     "update of 'x', which is not a state [PDL0402]"},
    {"UpdateTwice", [](NetworkDesc& d) { *d.add_updates() = d.updates(0); },
     "two updates of 's' [PDL0402]"},
    {"UpdateOfAnotherType", [](NetworkDesc& d) { d.mutable_updates(0)->set_value("label"); },
     "update of 's', a f32[N, 2*M + 1], with 'label', a i64[N] in 0..10 [PDL0402]"},
    {"LossOfNothing", [](NetworkDesc& d) { d.mutable_training(0)->set_loss("q"); },
     "there is no variable 'q' [PDL0402]"},
    {"LossIsNoNumber", [](NetworkDesc& d) { d.mutable_training(0)->set_loss("y"); },
     "the loss 'y' must be a scalar of floats, got f32[N, 2*M + 1] [PDL0402]"},
    {"TrainingOfAnInput", [](NetworkDesc& d) { d.mutable_training(0)->set_parameters(0, "x"); },
     "training of 'x', which is not a parameter [PDL0402]"},
    {"TrainingTwice", [](NetworkDesc& d) { d.mutable_training(0)->add_parameters("w"); },
     "training of 'w' twice in one statement [PDL0402]"},
    {"TrainingByNextValues", [](NetworkDesc& d) { d.mutable_training(0)->add_next_values("y"); },
     "training of 'loss' by new values, which this version of pdl does not support [PDL0402]"},
    {"OptimizerOfControl", [](NetworkDesc& d) { d.mutable_training(0)->set_optimizer("\x1b[2J"); },
     "an optimizer has a control character [PDL0402]"},
};

INSTANTIATE_TEST_SUITE_P(Networks, Broken, testing::ValuesIn(kBroken),
                         [](const auto& info) { return std::string(info.param.name); });

/// The network without what follows from the rest.
NetworkDesc Incomplete(const std::string& bytes) {
  NetworkDesc desc;
  EXPECT_TRUE(desc.ParseFromString(bytes));
  desc.set_incomplete(true);
  desc.clear_symbols();
  google::protobuf::RepeatedPtrField<VarDesc> all;
  all.Swap(desc.mutable_variables());
  // In any order, and without results.
  for (int i = all.size() - 1; i >= 0; --i)
    if (all[i].role() != VarDesc::RESULT) *desc.add_variables() = all[i];
  return desc;
}

TEST(Deserialize, CompletesANetwork) {
  for (const Graph& graph : {Sample(), Small()}) {
    NetworkDesc complete;
    ASSERT_TRUE(complete.ParseFromString(Serialize(graph)));
    const NetworkDesc incomplete = Incomplete(Serialize(graph));
    llvm::Expected<Graph> read =
        DeserializeNetwork(incomplete.SerializeAsString(), "net.pdlc", Registry());
    ASSERT_TRUE(static_cast<bool>(read)) << llvm::toString(read.takeError());
    NetworkDesc again;
    ASSERT_TRUE(again.ParseFromString(Serialize(*read)));
    EXPECT_FALSE(again.incomplete());
    EXPECT_EQ(again.variables_size(), complete.variables_size());
    for (const VarDesc& variable : again.variables()) {
      const VarDesc& stored = VarOf(complete, variable.name());
      EXPECT_EQ(variable.type().SerializeAsString(), stored.type().SerializeAsString())
          << variable.name();
    }
    ASSERT_EQ(again.blocks_size(), complete.blocks_size());
    for (int i = 0; i < again.blocks_size(); ++i)
      EXPECT_EQ(again.blocks(i).ops_size(), complete.blocks(i).ops_size());
    // The graph that is read is complete, and stable.
    llvm::Expected<Graph> twice = DeserializeNetwork(Serialize(*read), "net.pdlc", Registry());
    ASSERT_TRUE(static_cast<bool>(twice)) << llvm::toString(twice.takeError());
    EXPECT_EQ(Serialize(*twice), Serialize(*read));
  }
}

TEST(Deserialize, KeepsWhatAnIncompleteNetworkSaysOfItsResults) {
  NetworkDesc desc = Incomplete(Serialize(Small()));
  VarDesc& result = *desc.add_variables();
  result.set_name("y");
  result.set_comment("A comment.");
  llvm::Expected<Graph> read = DeserializeNetwork(desc.SerializeAsString(), "net.pdlc", Registry());
  ASSERT_TRUE(static_cast<bool>(read)) << llvm::toString(read.takeError());
  EXPECT_EQ(read->FindValue("y")->comment(), "A comment.");
  EXPECT_EQ(read->FindValue("y")->type().ToString(), "f32[N]");
  // A type that is there must be right.
  result.mutable_type()->set_dtype(F64);
  EXPECT_EQ(ErrorOf(desc.SerializeAsString()),
            "net.pdlc: call of 'cos' for 'y': 'y' is stored as f64[], but the call returns f32[N] "
            "[PDL0402]");
}

TEST(Deserialize, MistakesInAnIncompleteNetwork) {
  const auto error_of = [](auto damage) {
    NetworkDesc desc = Incomplete(Serialize(Small()));
    damage(desc);
    return ErrorOf(desc.SerializeAsString());
  };
  EXPECT_EQ(error_of([](NetworkDesc& d) { d.set_incomplete(false); }),
            "net.pdlc: variable 'x': no input introduces the symbol 'N' [PDL0402]");
  EXPECT_EQ(error_of([](NetworkDesc& d) { d.add_variables()->set_name("w"); }),
            "net.pdlc: variable 'w': no call computes it, or the call is out of order [PDL0402]");
  EXPECT_EQ(error_of([](NetworkDesc& d) { OpOf(d, "y").set_inputs(0, "w"); }),
            "net.pdlc: call of 'cos' for 'y': it reads 'w', which is not a variable before it "
            "[PDL0402]");
  EXPECT_EQ(
      error_of(
          [](NetworkDesc& d) { (*OpOf(d, "y").mutable_attributes())["scale"].set_float_(-1); }),
      "net.pdlc: call of 'cos' for 'y': attribute 'scale' of 'cos' must be larger than 0, got "
      "-1.0 [PDL0203]");
  EXPECT_EQ(error_of([](NetworkDesc& d) { *d.mutable_blocks(0)->add_ops() = OpOf(d, "y"); }),
            "net.pdlc: two variables have the name 'y' [PDL0402]");
  // A block that is its own body ends the traversal.
  NetworkDesc loop = Incomplete(Serialize(Sample()));
  OpDesc& call = OpOf(loop, "taken");
  call = OpOf(loop, "z");
  call.set_inputs(0, "given");
  call.set_outputs(0, "taken");
  EXPECT_NE(ErrorOf(loop.SerializeAsString()), "");
}

TEST(Deserialize, NoNetworkAtAll) {
  EXPECT_EQ(ErrorOf("input x: f32[N]\n"), "net.pdlc: not a network file, or damaged [PDL0402]");
  EXPECT_EQ(ErrorOf(""), "net.pdlc: not a network file, or damaged [PDL0402]");
}

TEST(Deserialize, EveryTruncationIsRefused) {
  std::string bytes = Serialize(Sample());
  for (size_t size = 0; size < bytes.size(); ++size) {
    // The last message may be missing completely: the rest must be a valid file.
    llvm::Expected<Graph> graph =
        DeserializeNetwork(llvm::StringRef(bytes).take_front(size), "net.pdlc", Registry());
    if (graph) {
      EXPECT_LT(Serialize(*graph).size(), bytes.size());
      EXPECT_EQ(graph->ops().size(), 6u);
    } else {
      EXPECT_NE(llvm::toString(graph.takeError()).find("net.pdlc: "), std::string::npos);
    }
  }
}

TEST(Deserialize, EveryFlippedBitGivesAnErrorOrAGraph) {
  std::string bytes = Serialize(Sample());
  int accepted = 0;
  for (size_t i = 0; i < bytes.size() * 8; ++i) {
    std::string flipped = bytes;
    flipped[i / 8] = static_cast<char>(flipped[i / 8] ^ (1 << (i % 8)));
    llvm::Expected<Graph> graph = DeserializeNetwork(flipped, "net.pdlc", Registry());
    if (graph) {
      ++accepted;
      // An accepted file is a valid network.
      std::string stored = Serialize(*graph);
      llvm::Expected<Graph> again = DeserializeNetwork(stored, "net.pdlc", Registry());
      ASSERT_TRUE(static_cast<bool>(again)) << llvm::toString(again.takeError());
      ASSERT_TRUE(Serialize(*again) == stored);
    } else {
      EXPECT_EQ(llvm::toString(graph.takeError()).find("net.pdlc: "), 0u);
    }
  }
  EXPECT_GT(accepted, 0);
}

/// The bytes of a small network whose input has that first dim.
std::string WithDim(const std::function<void(DimDesc*)>& make) {
  NetworkDesc desc;
  EXPECT_TRUE(desc.ParseFromString(Serialize(Small())));
  make(VarOf(desc, "x").mutable_type()->mutable_dims(0));
  return desc.SerializeAsString();
}

TEST(Deserialize, DimsThatExplodeAreRefused) {
  // (N + 1) * (N + 1) * …: n + 1 terms for n factors, but 2^n before equal terms are merged.
  auto power = [](int factors) {
    return [factors](DimDesc* dim) {
      DimDesc::Call* product = dim->mutable_call();
      product->set_function(DimDesc::Call::PRODUCT);
      for (int i = 0; i < factors; ++i) {
        DimDesc::Call* sum = product->add_operands()->mutable_call();
        sum->set_function(DimDesc::Call::SUM);
        sum->add_operands()->set_symbol("N");
        sum->add_operands()->set_constant(1);
      }
    };
  };
  EXPECT_EQ(ErrorOf(WithDim(power(1000))),
            "net.pdlc: variable 'x': the expression of a size is too large [PDL0402]");
  // Even if each is small, their total cost is linear in the length of the file.
  EXPECT_EQ(ErrorOf(WithDim(power(9))),
            "net.pdlc: variable 'x': the expression of a size is too large [PDL0402]");
  auto nested = [](int depth) {
    return [depth](DimDesc* dim) {
      for (int i = 0; i < depth; ++i) {
        DimDesc::Call* call = dim->mutable_call();
        call->set_function(DimDesc::Call::FLOOR_DIV);
        DimDesc* inner = call->add_operands();
        call->add_operands()->set_symbol("N");
        dim = inner;
      }
      dim->set_symbol("N");
    };
  };
  EXPECT_EQ(ErrorOf(WithDim(nested(380))),
            "net.pdlc: variable 'x': a size overflows 64 bits or divides by zero [PDL0402]");
  EXPECT_EQ(ErrorOf(WithDim(nested(405))),
            "net.pdlc: variable 'x': the expression of a size is too large [PDL0402]");
  EXPECT_EQ(ErrorOf(WithDim(nested(2000))), "net.pdlc: not a network file, or damaged [PDL0402]");
}

}  // namespace
}  // namespace pdl
