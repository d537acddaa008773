#include "test/conformance/onnx/mutate.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <iterator>
#include <limits>
#include <memory>
#include <vector>

namespace pdl::testing {
namespace {

namespace pb = google::protobuf;

constexpr int64_t kInts[] = {0,
                             1,
                             -1,
                             2,
                             -2,
                             3,
                             4,
                             5,
                             7,
                             8,
                             16,
                             255,
                             256,
                             65536,
                             int64_t{1} << 20,
                             INT32_MAX,
                             INT32_MIN,
                             int64_t{1} << 31,
                             int64_t{1} << 32,
                             int64_t{1} << 53,
                             int64_t{1} << 62,
                             INT64_MAX,
                             INT64_MAX - 1,
                             INT64_MIN};
constexpr double kReals[] = {0,
                             -0.0,
                             1,
                             -1,
                             0.5,
                             2,
                             1e-38,
                             1e38,
                             1e-5,
                             3.7,
                             std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()};
const std::string kNames[] = {"",
                              " ",
                              "a b",
                              "\n",
                              "x\ty",
                              "\"",
                              "}",
                              "$x",
                              "input",
                              "output",
                              "layer",
                              "f32",
                              "relu",
                              "fc",
                              "conv",
                              "and",
                              "1x",
                              "_",
                              "N",
                              "x",
                              "x_2",
                              "\xc3\xa9t\xc3\xa9",
                              "../x",
                              std::string("a\0b", 3),
                              "//",
                              "a.b.c",
                              "rows",
                              "training",
                              "0",
                              "-1",
                              "inf",
                              "ai.onnx.ml",
                              "SAME_UPPER",
                              "constant",
                              "edge",
                              "wrap",
                              "linear",
                              "cubic",
                              std::string(3000, 'n')};
// Operators with common signatures, which can replace many others.
const char* const kOperators[] = {"Relu",
                                  "Add",
                                  "Mul",
                                  "MatMul",
                                  "Gemm",
                                  "Conv",
                                  "Concat",
                                  "Slice",
                                  "Reshape",
                                  "Shape",
                                  "Gather",
                                  "Transpose",
                                  "Unsqueeze",
                                  "Squeeze",
                                  "Expand",
                                  "Tile",
                                  "Range",
                                  "Where",
                                  "Cast",
                                  "ReduceSum",
                                  "ReduceMean",
                                  "Softmax",
                                  "LSTM",
                                  "GRU",
                                  "Resize",
                                  "Pad",
                                  "Split",
                                  "TopK",
                                  "NonZero",
                                  "OneHot",
                                  "ScatterND",
                                  "GatherND",
                                  "Pow",
                                  "Div",
                                  "Mod",
                                  "ConstantOfShape",
                                  "BatchNormalization",
                                  "LayerNormalization",
                                  "MaxPool",
                                  "AveragePool",
                                  "Einsum",
                                  "CumSum",
                                  "Attention",
                                  "Identity",
                                  "Size",
                                  "Flatten",
                                  "Trilu",
                                  "SequenceConstruct",
                                  "SequenceAt",
                                  "SplitToSequence",
                                  "ConcatFromSequence",
                                  "Loop",
                                  "If",
                                  "Scan"};

struct Place {
  pb::Message* message;
  const pb::FieldDescriptor* field;
};

class Mutator {
 public:
  Mutator(const onnx_full::ModelProto& other, std::mt19937_64& random)
      : other_(other), random_(random) {}

  std::string Once(onnx_full::ModelProto* model);

 private:
  size_t Below(size_t n) { return n == 0 ? 0 : static_cast<size_t>(random_() % n); }
  bool Chance(size_t one_in) { return Below(one_in) == 0; }
  template <class List>
  const auto& Of(const List& list) {
    return list[Below(std::size(list))];
  }

  void Collect(pb::Message* message);
  std::string Name();
  std::string ChangeField(const Place& place);
  void SetScalar(const Place& place, int index);
  std::string ChangeList(const Place& place);
  std::string ChangeMessage(const Place& place);
  std::string MakeSymbol(onnx_full::ModelProto* model);
  std::string ChangeRank(onnx_full::ModelProto* model);
  std::string ChangeTensor(onnx_full::ModelProto* model);
  std::string ChangeNode(onnx_full::ModelProto* model);
  std::string ChangeOutputs(onnx_full::ModelProto* model);

  const onnx_full::ModelProto& other_;
  std::mt19937_64& random_;
  std::vector<Place> places_;
  std::vector<std::string> names_;
};

void Mutator::Collect(pb::Message* message) {
  const pb::Reflection* reflection = message->GetReflection();
  const pb::Descriptor* type = message->GetDescriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    const pb::FieldDescriptor* field = type->field(i);
    // Comments, and fields that only other programs use.
    if (field->name() == "doc_string" || field->name() == "metadata_props" ||
        field->name() == "training_info" || field->name() == "producer_name")
      continue;
    const bool is_set = field->is_repeated() ? reflection->FieldSize(*message, field) > 0
                                             : reflection->HasField(*message, field);
    if (is_set || Chance(12)) places_.push_back({message, field});
    if (!is_set) continue;
    if (field->cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE) {
      if (!field->is_repeated()) {
        Collect(reflection->MutableMessage(message, field));
        continue;
      }
      for (int k = 0; k < reflection->FieldSize(*message, field); ++k)
        Collect(reflection->MutableRepeatedMessage(message, field, k));
    } else if (field->cpp_type() == pb::FieldDescriptor::CPPTYPE_STRING &&
               field->type() == pb::FieldDescriptor::TYPE_STRING) {
      if (!field->is_repeated()) {
        names_.push_back(reflection->GetString(*message, field));
        continue;
      }
      for (int k = 0; k < reflection->FieldSize(*message, field); ++k)
        names_.push_back(reflection->GetRepeatedString(*message, field, k));
    }
  }
}

std::string Mutator::Name() {
  if (!names_.empty() && !Chance(3)) return Of(names_);
  return Of(kNames);
}

void Mutator::SetScalar(const Place& place, int index) {
  pb::Message* m = place.message;
  const pb::FieldDescriptor* f = place.field;
  const pb::Reflection* r = m->GetReflection();
  const bool is_list = index >= 0;
  const int64_t number = Of(kInts);
  const double real = Of(kReals);
  switch (f->cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_INT32: {
      // Enum values of types are small.
      const auto value = static_cast<int32_t>(Chance(2) ? number : static_cast<int64_t>(Below(28)));
      return is_list ? r->SetRepeatedInt32(m, f, index, value) : r->SetInt32(m, f, value);
    }
    case pb::FieldDescriptor::CPPTYPE_INT64: {
      const int64_t value = Chance(3) ? static_cast<int64_t>(Below(27)) - 2 : number;
      return is_list ? r->SetRepeatedInt64(m, f, index, value) : r->SetInt64(m, f, value);
    }
    case pb::FieldDescriptor::CPPTYPE_UINT64: {
      const auto value = static_cast<uint64_t>(number);
      return is_list ? r->SetRepeatedUInt64(m, f, index, value) : r->SetUInt64(m, f, value);
    }
    case pb::FieldDescriptor::CPPTYPE_FLOAT: {
      const auto value = static_cast<float>(real);
      return is_list ? r->SetRepeatedFloat(m, f, index, value) : r->SetFloat(m, f, value);
    }
    case pb::FieldDescriptor::CPPTYPE_DOUBLE:
      return is_list ? r->SetRepeatedDouble(m, f, index, real) : r->SetDouble(m, f, real);
    case pb::FieldDescriptor::CPPTYPE_ENUM: {
      const auto* value = f->enum_type()->value(
          static_cast<int>(Below(static_cast<size_t>(f->enum_type()->value_count()))));
      return is_list ? r->SetRepeatedEnum(m, f, index, value) : r->SetEnum(m, f, value);
    }
    case pb::FieldDescriptor::CPPTYPE_STRING: {
      std::string value = Name();
      if (f->type() == pb::FieldDescriptor::TYPE_BYTES && f->name() == "raw_data") {
        value = r->GetString(*m, f);
        if (Chance(2)) {
          value.resize(Chance(2) ? Below(value.size() + 9) : value.size() / 2);
        } else {
          for (size_t i = 0; i < 1 + Below(8) && !value.empty(); ++i)
            value[Below(value.size())] = static_cast<char>(random_());
        }
      }
      return is_list ? r->SetRepeatedString(m, f, index, value) : r->SetString(m, f, value);
    }
    default:
      return;
  }
}

std::string Mutator::ChangeMessage(const Place& place) {
  pb::Message* m = place.message;
  const pb::FieldDescriptor* f = place.field;
  const pb::Reflection* r = m->GetReflection();
  // The value of another field.
  std::vector<const Place*> like;
  for (const Place& each : places_)
    if (each.field->message_type() == f->message_type()) like.push_back(&each);
  if (!f->is_repeated()) {
    if (Chance(2) || like.empty()) {
      r->ClearField(m, f);
      return "cleared";
    }
  }
  const Place& from = *Of(like);
  const pb::Reflection* fr = from.message->GetReflection();
  if (from.field->is_repeated() && fr->FieldSize(*from.message, from.field) == 0) return "kept";
  const pb::Message& source =
      from.field->is_repeated()
          ? fr->GetRepeatedMessage(*from.message, from.field,
                                   static_cast<int>(Below(static_cast<size_t>(
                                       fr->FieldSize(*from.message, from.field)))))
          : fr->GetMessage(*from.message, from.field);
  const std::unique_ptr<pb::Message> copy(source.New());
  copy->CopyFrom(source);
  // Not a graph into itself, which would double the size.
  if (copy->ByteSizeLong() > 20000) return "kept";
  pb::Message* to = f->is_repeated() ? r->AddMessage(m, f) : r->MutableMessage(m, f);
  to->CopyFrom(*copy);
  return "copied";
}

std::string Mutator::ChangeList(const Place& place) {
  pb::Message* m = place.message;
  const pb::FieldDescriptor* f = place.field;
  const pb::Reflection* r = m->GetReflection();
  const int size = r->FieldSize(*m, f);
  const bool is_message = f->cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE;
  switch (size == 0 ? 0 : Below(6)) {
    case 0:  // one more
      if (is_message) return ChangeMessage(place);
      switch (f->cpp_type()) {
        case pb::FieldDescriptor::CPPTYPE_INT32:
          r->AddInt32(m, f, 0);
          break;
        case pb::FieldDescriptor::CPPTYPE_INT64:
          r->AddInt64(m, f, 0);
          break;
        case pb::FieldDescriptor::CPPTYPE_UINT64:
          r->AddUInt64(m, f, 0);
          break;
        case pb::FieldDescriptor::CPPTYPE_FLOAT:
          r->AddFloat(m, f, 0);
          break;
        case pb::FieldDescriptor::CPPTYPE_DOUBLE:
          r->AddDouble(m, f, 0);
          break;
        case pb::FieldDescriptor::CPPTYPE_STRING:
          r->AddString(m, f, "");
          break;
        default:
          return "kept";
      }
      SetScalar(place, size);
      return "one more";
    case 1:
      r->RemoveLast(m, f);
      return "one less";
    case 2: {
      const int a = static_cast<int>(Below(static_cast<size_t>(size)));
      r->SwapElements(m, f, a, static_cast<int>(Below(static_cast<size_t>(size))));
      return "swapped";
    }
    case 3: {
      const int at = static_cast<int>(Below(static_cast<size_t>(size)));
      r->SwapElements(m, f, at, size - 1);
      r->RemoveLast(m, f);
      return "deleted";
    }
    case 4:
      if (Chance(4)) {
        r->ClearField(m, f);
        return "cleared";
      }
      [[fallthrough]];
    default:
      if (is_message) return "kept";
      SetScalar(place, static_cast<int>(Below(static_cast<size_t>(size))));
      return "set";
  }
}

std::string Mutator::ChangeField(const Place& place) {
  const std::string name = std::string(place.field->full_name()) + " ";
  if (place.field->is_repeated()) return name + ChangeList(place);
  if (place.field->cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE)
    return name + ChangeMessage(place);
  if (Chance(8)) {
    place.message->GetReflection()->ClearField(place.message, place.field);
    return name + "cleared";
  }
  SetScalar(place, -1);
  return name + "set";
}

std::string Mutator::MakeSymbol(onnx_full::ModelProto* model) {
  onnx_full::GraphProto* graph = model->mutable_graph();
  if (graph->input_size() == 0) return "no input";
  auto* info =
      graph->mutable_input(static_cast<int>(Below(static_cast<size_t>(graph->input_size()))));
  auto* shape = info->mutable_type()->mutable_tensor_type()->mutable_shape();
  for (auto& dim : *shape->mutable_dim()) {
    if (Chance(2)) continue;
    if (Chance(8)) {
      dim.set_dim_value(static_cast<int64_t>(Below(4)));
    } else {
      static const char* const kSymbols[] = {"N", "M", "", "T", "a b"};
      dim.set_dim_param(Of(kSymbols));
    }
  }
  return "symbols of " + info->name();
}

std::string Mutator::ChangeRank(onnx_full::ModelProto* model) {
  onnx_full::GraphProto* graph = model->mutable_graph();
  if (graph->initializer_size() == 0) return "no initializer";
  auto* tensor = graph->mutable_initializer(
      static_cast<int>(Below(static_cast<size_t>(graph->initializer_size()))));
  int64_t count = 1;
  for (const int64_t size : tensor->dims())
    if (size < 0 || (count *= size) > (1 << 20)) return "kept";
  tensor->clear_dims();
  switch (Below(4)) {
    case 0:
      tensor->add_dims(count);
      break;
    case 1:
      tensor->add_dims(1);
      tensor->add_dims(count);
      break;
    case 2:
      tensor->add_dims(count);
      tensor->add_dims(1);
      break;
    default:
      for (int64_t i = 2; i <= count && tensor->dims_size() < 5; ++i)
        while (count % i == 0 && tensor->dims_size() < 5) {
          tensor->add_dims(i);
          count /= i;
        }
  }
  return "rank of " + tensor->name();
}

std::string Mutator::ChangeTensor(onnx_full::ModelProto* model) {
  onnx_full::GraphProto* graph = model->mutable_graph();
  // An input becomes a constant.
  if (graph->input_size() > 0 && Chance(2)) {
    const auto& info =
        graph->input(static_cast<int>(Below(static_cast<size_t>(graph->input_size()))));
    auto* tensor = graph->add_initializer();
    tensor->set_name(info.name());
    tensor->set_data_type(info.type().tensor_type().elem_type());
    int64_t count = 1;
    for (const auto& dim : info.type().tensor_type().shape().dim()) {
      const int64_t size = dim.dim_value() > 0 && dim.dim_value() < 64 ? dim.dim_value() : 2;
      tensor->add_dims(size);
      count = count < 4096 ? count * size : count;
    }
    for (int64_t i = 0; i < count; ++i) {
      const auto number = static_cast<int64_t>(Below(5)) - 1;
      if (tensor->data_type() == onnx_full::TensorProto::FLOAT)
        tensor->add_float_data(static_cast<float>(number));
      else if (tensor->data_type() == onnx_full::TensorProto::INT64)
        tensor->add_int64_data(number);
      else if (tensor->data_type() == onnx_full::TensorProto::DOUBLE)
        tensor->add_double_data(static_cast<double>(number));
      else
        tensor->add_int32_data(static_cast<int32_t>(number));
    }
    return "a constant in place of " + info.name();
  }
  if (graph->initializer_size() == 0) return "no initializer";
  auto* tensor = graph->mutable_initializer(
      static_cast<int>(Below(static_cast<size_t>(graph->initializer_size()))));
  tensor->set_data_location(onnx_full::TensorProto::EXTERNAL);
  static const char* const kKeys[] = {"location", "offset", "length", "checksum", "x"};
  for (size_t i = 0; i < 1 + Below(3); ++i) {
    auto* entry = tensor->add_external_data();
    entry->set_key(Of(kKeys));
    entry->set_value(Chance(2) ? std::to_string(Of(kInts)) : "model.onnx");
  }
  return "external data of " + tensor->name();
}

std::string Mutator::ChangeNode(onnx_full::ModelProto* model) {
  onnx_full::GraphProto* graph = model->mutable_graph();
  if (graph->node_size() == 0) return "no node";
  const int at = static_cast<int>(Below(static_cast<size_t>(graph->node_size())));
  auto* node = graph->mutable_node(at);
  switch (Below(4)) {
    case 0:
      node->set_op_type(Of(kOperators));
      return "operator " + node->op_type();
    case 1:
      if (other_.graph().node_size() > 0)
        node->set_op_type(
            other_.graph()
                .node(static_cast<int>(Below(static_cast<size_t>(other_.graph().node_size()))))
                .op_type());
      return "operator " + node->op_type();
    case 2: {
      // A node of another model, with names of this one.
      if (other_.graph().node_size() == 0) return "kept";
      onnx_full::NodeProto more = other_.graph().node(
          static_cast<int>(Below(static_cast<size_t>(other_.graph().node_size()))));
      if (more.ByteSizeLong() > 20000) return "kept";
      for (std::string& input : *more.mutable_input()) input = Name();
      if (more.output_size() > 0 && node->output_size() > 0 && Chance(2)) {
        // It replaces one.
        more.set_output(0, node->output(0));
        *node = more;
      } else {
        *graph->add_node() = more;
      }
      return "a node of another model: " + more.op_type();
    }
    default:
      for (std::string& input : *node->mutable_input())
        if (Chance(2)) input = Name();
      return "inputs of " + node->op_type();
  }
}

std::string Mutator::ChangeOutputs(onnx_full::ModelProto* model) {
  onnx_full::GraphProto* graph = model->mutable_graph();
  if (graph->node_size() == 0) return "no node";
  const auto& node = graph->node(static_cast<int>(Below(static_cast<size_t>(graph->node_size()))));
  if (Chance(3) && graph->input_size() > 0) {
    graph->add_output()->set_name(graph->input(0).name());
    return "an input as an output";
  }
  if (node.output_size() > 0) graph->add_output()->set_name(node.output(0));
  return "another output";
}

std::string Mutator::Once(onnx_full::ModelProto* model) {
  places_.clear();
  names_.clear();
  Collect(model);
  switch (Below(12)) {
    case 0:
    case 1:
      return MakeSymbol(model);
    case 2:
      return ChangeRank(model);
    case 3:
      return ChangeTensor(model);
    case 4:
    case 5:
      return ChangeNode(model);
    case 6:
      return ChangeOutputs(model);
    default:
      return ChangeField(Of(places_));
  }
}

}  // namespace

std::string Mutate(onnx_full::ModelProto* model, const onnx_full::ModelProto& other,
                   std::mt19937_64& random) {
  Mutator mutator(other, random);
  std::string done;
  for (size_t i = 0, count = 1 + random() % 4; i < count; ++i)
    done += (i == 0 ? "" : "; ") + mutator.Once(model);
  return done;
}

}  // namespace pdl::testing
