#include "message_mutator.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace pdl::fuzz {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

/// Calls `visit` for `message` and all messages in it.
void ForEachMessage(Message* message, const std::function<void(Message*)>& visit) {
  visit(message);
  std::vector<const FieldDescriptor*> fields;
  const Reflection* reflection = message->GetReflection();
  reflection->ListFields(*message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      ForEachMessage(reflection->MutableMessage(message, field), visit);
      continue;
    }
    for (int i = 0; i < reflection->FieldSize(*message, field); ++i)
      ForEachMessage(reflection->MutableRepeatedMessage(message, field, i), visit);
  }
}

std::vector<std::string> Strings(Message* root) {
  std::vector<std::string> strings;
  ForEachMessage(root, [&](Message* message) {
    std::vector<const FieldDescriptor*> fields;
    const Reflection* reflection = message->GetReflection();
    reflection->ListFields(*message, &fields);
    for (const FieldDescriptor* field : fields) {
      if (field->cpp_type() != FieldDescriptor::CPPTYPE_STRING) continue;
      if (!field->is_repeated()) {
        strings.push_back(reflection->GetString(*message, field));
        continue;
      }
      for (int i = 0; i < reflection->FieldSize(*message, field); ++i)
        strings.push_back(reflection->GetRepeatedString(*message, field, i));
    }
  });
  return strings;
}

}  // namespace

void MessageMutator::Mutate(Message* message) {
  root_ = message;
  for (size_t changes = 1 + Below(4); changes > 0; --changes) {
    std::vector<Message*> messages;
    ForEachMessage(message, [&](Message* m) { messages.push_back(m); });
    Message* chosen = messages[Below(messages.size())];
    const int fields = chosen->GetDescriptor()->field_count();
    if (fields == 0) continue;
    MutateField(chosen, chosen->GetDescriptor()->field(
                            static_cast<int>(Below(static_cast<size_t>(fields)))));
  }
}

void MessageMutator::MutateField(Message* message, const Field* field) {
  const Reflection* reflection = message->GetReflection();
  if (field->is_repeated()) return MutateRepeated(message, field);
  if (reflection->HasField(*message, field) && OneIn(6))
    return reflection->ClearField(message, field);
  SetSingle(message, field);
}

void MessageMutator::MutateRepeated(Message* message, const Field* field) {
  const Reflection* reflection = message->GetReflection();
  const int size = reflection->FieldSize(*message, field);
  if (size == 0) return AddElement(message, field);
  const int index = static_cast<int>(Below(static_cast<size_t>(size)));
  switch (Below(5)) {
    case 0:
      return AddElement(message, field);
    case 1:
      reflection->SwapElements(message, field, index, size - 1);
      return reflection->RemoveLast(message, field);
    case 2:
      return reflection->SwapElements(message, field, index,
                                      static_cast<int>(Below(static_cast<size_t>(size))));
    default:
      return SetElement(message, field, index);
  }
}

void MessageMutator::SetSingle(Message* message, const Field* field) {
  const Reflection* r = message->GetReflection();
  switch (field->cpp_type()) {
    case Field::CPPTYPE_INT32:
      return r->SetInt32(message, field,
                         static_cast<int32_t>(Integer(r->GetInt32(*message, field))));
    case Field::CPPTYPE_UINT32:
      return r->SetUInt32(message, field,
                          static_cast<uint32_t>(Integer(r->GetUInt32(*message, field))));
    case Field::CPPTYPE_INT64:
      return r->SetInt64(message, field, Integer(r->GetInt64(*message, field)));
    case Field::CPPTYPE_UINT64:
      return r->SetUInt64(
          message, field,
          static_cast<uint64_t>(Integer(static_cast<int64_t>(r->GetUInt64(*message, field)))));
    case Field::CPPTYPE_DOUBLE:
      return r->SetDouble(message, field, Real(r->GetDouble(*message, field)));
    case Field::CPPTYPE_FLOAT:
      return r->SetFloat(message, field, static_cast<float>(Real(r->GetFloat(*message, field))));
    case Field::CPPTYPE_BOOL:
      return r->SetBool(message, field, !r->GetBool(*message, field));
    case Field::CPPTYPE_ENUM:
      return r->SetEnumValue(message, field, Enum(field));
    case Field::CPPTYPE_STRING:
      return r->SetString(message, field, String(r->GetString(*message, field)));
    case Field::CPPTYPE_MESSAGE:
      return CopyFromRoot(r->MutableMessage(message, field));
  }
}

void MessageMutator::SetElement(Message* message, const Field* field, int i) {
  const Reflection* r = message->GetReflection();
  switch (field->cpp_type()) {
    case Field::CPPTYPE_INT32:
      return r->SetRepeatedInt32(
          message, field, i,
          static_cast<int32_t>(Integer(r->GetRepeatedInt32(*message, field, i))));
    case Field::CPPTYPE_UINT32:
      return r->SetRepeatedUInt32(
          message, field, i,
          static_cast<uint32_t>(Integer(r->GetRepeatedUInt32(*message, field, i))));
    case Field::CPPTYPE_INT64:
      return r->SetRepeatedInt64(message, field, i,
                                 Integer(r->GetRepeatedInt64(*message, field, i)));
    case Field::CPPTYPE_UINT64:
      return r->SetRepeatedUInt64(message, field, i,
                                  static_cast<uint64_t>(Integer(static_cast<int64_t>(
                                      r->GetRepeatedUInt64(*message, field, i)))));
    case Field::CPPTYPE_DOUBLE:
      return r->SetRepeatedDouble(message, field, i,
                                  Real(r->GetRepeatedDouble(*message, field, i)));
    case Field::CPPTYPE_FLOAT:
      return r->SetRepeatedFloat(message, field, i,
                                 static_cast<float>(Real(r->GetRepeatedFloat(*message, field, i))));
    case Field::CPPTYPE_BOOL:
      return r->SetRepeatedBool(message, field, i, !r->GetRepeatedBool(*message, field, i));
    case Field::CPPTYPE_ENUM:
      return r->SetRepeatedEnumValue(message, field, i, Enum(field));
    case Field::CPPTYPE_STRING:
      return r->SetRepeatedString(message, field, i,
                                  String(r->GetRepeatedString(*message, field, i)));
    case Field::CPPTYPE_MESSAGE:
      return CopyFromRoot(r->MutableRepeatedMessage(message, field, i));
  }
}

void MessageMutator::AddElement(Message* message, const Field* field) {
  const Reflection* r = message->GetReflection();
  switch (field->cpp_type()) {
    case Field::CPPTYPE_INT32:
      return r->AddInt32(message, field, static_cast<int32_t>(Integer(1)));
    case Field::CPPTYPE_UINT32:
      return r->AddUInt32(message, field, static_cast<uint32_t>(Integer(1)));
    case Field::CPPTYPE_INT64:
      return r->AddInt64(message, field, Integer(1));
    case Field::CPPTYPE_UINT64:
      return r->AddUInt64(message, field, static_cast<uint64_t>(Integer(1)));
    case Field::CPPTYPE_DOUBLE:
      return r->AddDouble(message, field, Real(1));
    case Field::CPPTYPE_FLOAT:
      return r->AddFloat(message, field, static_cast<float>(Real(1)));
    case Field::CPPTYPE_BOOL:
      return r->AddBool(message, field, OneIn(2));
    case Field::CPPTYPE_ENUM:
      return r->AddEnumValue(message, field, Enum(field));
    case Field::CPPTYPE_STRING:
      return r->AddString(message, field, String(""));
    case Field::CPPTYPE_MESSAGE:
      return CopyFromRoot(r->AddMessage(message, field));
  }
}

int64_t MessageMutator::Integer(int64_t old) {
  static constexpr int64_t kEdges[] = {0,
                                       1,
                                       -1,
                                       2,
                                       3,
                                       4,
                                       5,
                                       7,
                                       8,
                                       16,
                                       127,
                                       128,
                                       255,
                                       256,
                                       1000,
                                       32767,
                                       65536,
                                       1 << 20,
                                       INT32_MAX,
                                       INT32_MIN,
                                       int64_t{UINT32_MAX},
                                       int64_t{UINT32_MAX} + 1,
                                       int64_t{1} << 40,
                                       int64_t{1} << 62,
                                       INT64_MAX,
                                       INT64_MAX - 1,
                                       INT64_MIN,
                                       INT64_MIN + 1,
                                       INT64_MAX / 8 + 1};
  switch (Below(4)) {
    case 0:
      return static_cast<int64_t>(static_cast<uint64_t>(old) + Below(9) - 4);
    case 1:
      return static_cast<int64_t>(Below(10));
    case 2:
      return OneIn(4) ? static_cast<int64_t>(random_()) : -1 - static_cast<int64_t>(Below(5));
    default:
      return kEdges[Below(std::size(kEdges))];
  }
}

double MessageMutator::Real(double old) {
  const double edges[] = {0.0,
                          -0.0,
                          1.0,
                          -1.0,
                          0.5,
                          2.0,
                          1e-320,
                          1e-45,
                          1e300,
                          -1e300,
                          1e30,
                          std::numeric_limits<double>::infinity(),
                          -std::numeric_limits<double>::infinity(),
                          std::nan(""),
                          old + 1,
                          -old};
  return edges[Below(std::size(edges))];
}

int MessageMutator::Enum(const Field* field) {
  const auto* type = field->enum_type();
  if (OneIn(10)) return static_cast<int>(Integer(0));
  return type->value(static_cast<int>(Below(static_cast<size_t>(type->value_count()))))->number();
}

std::string MessageMutator::String(std::string old) {
  switch (Below(5)) {
    case 0:
    case 1: {
      const std::vector<std::string> strings = Strings(root_);
      if (!strings.empty()) return strings[Below(strings.size())];
      return old;
    }
    case 2:
      return old + old.substr(0, Below(old.size() + 1));
    case 3: {
      static const char* const kTexts[] = {"",   "x",    "N", "y",   ".",  "x.0", "~T",
                                           "\0", "../x", "1", "a b", "if", "\xff"};
      return kTexts[Below(std::size(kTexts))];
    }
    default:
      mutate_bytes_(&old);
      return old;
  }
}

void MessageMutator::CopyFromRoot(Message* to) {
  std::vector<const Message*> same;
  ForEachMessage(root_, [&](Message* message) {
    if (message != to && message->GetDescriptor() == to->GetDescriptor()) same.push_back(message);
  });
  if (same.empty()) return;
  // `to` may contain the copied message, or be contained in it.
  const std::string bytes = same[Below(same.size())]->SerializePartialAsString();
  to->ParsePartialFromString(bytes);
}

}  // namespace pdl::fuzz
