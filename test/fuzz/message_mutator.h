// Mutation of protobuf messages by reflection: the result is always a message of the same type, so
// the fuzzer gets past the parser.
#ifndef PDL_TEST_FUZZ_MESSAGE_MUTATOR_H_
#define PDL_TEST_FUZZ_MESSAGE_MUTATOR_H_

#include <google/protobuf/message.h>

#include <cstdint>
#include <functional>
#include <random>
#include <string>

namespace pdl::fuzz {

class MessageMutator {
 public:
  /// Changes some bytes of a string.
  using BytesMutator = std::function<void(std::string*)>;

  MessageMutator(uint64_t seed, BytesMutator mutate_bytes)
      : random_(seed), mutate_bytes_(std::move(mutate_bytes)) {}

  /// Changes one to four fields anywhere in `message`: sets a number to an edge value, takes a
  /// string or a message from elsewhere in `message`, adds, removes, repeats and swaps elements.
  void Mutate(google::protobuf::Message* message);

 private:
  using Message = google::protobuf::Message;
  using Field = google::protobuf::FieldDescriptor;

  void MutateField(Message* message, const Field* field);
  void MutateRepeated(Message* message, const Field* field);
  void SetSingle(Message* message, const Field* field);
  void AddElement(Message* message, const Field* field);
  void SetElement(Message* message, const Field* field, int index);

  size_t Below(size_t bound) {
    return std::uniform_int_distribution<size_t>(0, bound - 1)(random_);
  }
  bool OneIn(size_t n) { return Below(n) == 0; }
  /// A limit of an integer type, a number near `old`, or a random number.
  int64_t Integer(int64_t old);
  double Real(double old);
  int Enum(const Field* field);
  std::string String(std::string old);
  /// A copy of a message of that type somewhere in the root; empty where there is none.
  void CopyFromRoot(Message* to);

  std::mt19937_64 random_;
  BytesMutator mutate_bytes_;
  Message* root_ = nullptr;
};

}  // namespace pdl::fuzz

#endif  // PDL_TEST_FUZZ_MESSAGE_MUTATOR_H_
