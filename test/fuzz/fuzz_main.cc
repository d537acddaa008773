// The fuzzer: pdl_fuzz --target=NAME [--root=FOLDER] [OPTIONS OF libFuzzer] CORPUS...
//
// With --write-seeds=FOLDER it writes the target's seeds and a dictionary (FOLDER.dict), and exits.
#include <google/protobuf/stubs/logging.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"
#include "message_mutator.h"
#include "properties.h"
#include "target.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace pdl::fuzz {
namespace {

const Target* target = nullptr;

[[noreturn]] void Usage() {
  std::fprintf(
      stderr, "pdl_fuzz --target=NAME [--root=FOLDER --write-seeds=FOLDER] [OPTION]... CORPUS\n\n");
  for (const Target& t : Targets()) std::fprintf(stderr, "  %-16s %s\n", t.name, t.description);
  std::exit(2);
}

void WriteSeeds(const std::string& root, const std::string& folder) {
  std::filesystem::create_directories(folder);
  for (const std::string& seed : target->seeds(root)) {
    // The fuzzer would cut it.
    if (seed.size() > target->max_size) continue;
    const std::string name = llvm::utohexstr(llvm::xxHash64(seed));
    std::ofstream(folder + "/" + name, std::ios::binary) << seed;
  }
  if (target->words == nullptr) return;
  std::ofstream dictionary(folder + ".dict");
  for (const std::string& word : target->words()) dictionary << '"' << word << "\"\n";
}

}  // namespace
}  // namespace pdl::fuzz

using pdl::fuzz::target;

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  std::string name, root = ".", seeds;
  for (int i = 1; i < *argc; ++i) {
    const llvm::StringRef argument = (*argv)[i];
    if (argument.starts_with("--target=")) name = argument.substr(9).str();
    if (argument.starts_with("--root=")) root = argument.substr(7).str();
    if (argument.starts_with("--write-seeds=")) seeds = argument.substr(14).str();
  }
  target = pdl::fuzz::FindTarget(name);
  if (target == nullptr) pdl::fuzz::Usage();
  pdl::fuzz::samples_expensive_checks = true;
  // Messages that are no messages are an ordinary input here.
  google::protobuf::SetLogHandler(nullptr);
  if (!seeds.empty()) {
    pdl::fuzz::WriteSeeds(root, seeds);
    std::exit(0);
  }
  // libFuzzer reads its options afterwards; the last of two counts.
  static std::string max_size = "-max_len=" + std::to_string(target->max_size);
  static std::vector<char*> arguments(*argv, *argv + *argc);
  arguments.insert(arguments.begin() + 1, max_size.data());
  arguments.push_back(nullptr);
  *argc = static_cast<int>(arguments.size()) - 1;
  *argv = arguments.data();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  target->run({reinterpret_cast<const char*>(data), size});
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  if (target->message == nullptr || seed % 16 == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::unique_ptr<google::protobuf::Message> message(target->message->New());
  if (!message->ParsePartialFromArray(data, static_cast<int>(size)))
    return LLVMFuzzerMutate(data, size, max_size);
  pdl::fuzz::MessageMutator mutator(seed, [](std::string* bytes) {
    const size_t old_size = bytes->size(), new_max = old_size + 16;
    bytes->resize(new_max);
    bytes->resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(bytes->data()), old_size, new_max));
  });
  mutator.Mutate(message.get());
  const std::string bytes = message->SerializePartialAsString();
  if (bytes.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}
