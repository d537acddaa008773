// Replays what fuzzing found, and mutates the golden networks a little: without clang, in all
// builds.
#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "message_mutator.h"
#include "properties.h"
#include "target.h"

namespace pdl::fuzz {
namespace {

namespace fs = std::filesystem;

const fs::path kFindings = "fuzz/findings";

class FindingTest : public testing::TestWithParam<std::string> {};

// A finding that is not fixed aborts; the name of the test is printed above.
TEST_P(FindingTest, Holds) {
  const fs::path path = kFindings / GetParam();
  const Target* target = FindTarget(path.parent_path().filename().string());
  ASSERT_NE(target, nullptr);
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  target->run(bytes.str());
}

std::vector<std::string> Findings() {
  std::vector<std::string> names;
  for (const Target& target : Targets())
    if (fs::exists(kFindings / target.name))
      for (const auto& entry : fs::directory_iterator(kFindings / target.name))
        names.push_back(std::string(target.name) + "/" + entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string TestName(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name)
    if (isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Fuzz, FindingTest, testing::ValuesIn(Findings()), TestName);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FindingTest);

class MutationTest : public testing::TestWithParam<const char*> {};

// Each target takes some hundred changes of its seeds, the same ones in each run.
// PDL_FUZZ_MUTATIONS says how many, PDL_FUZZ_SEED which; PDL_FUZZ_KEEP names a file that each input
// is written to first.
TEST_P(MutationTest, Holds) {
  google::protobuf::SetLogHandler(nullptr);
  const Target* target = FindTarget(GetParam());
  ASSERT_NE(target, nullptr);
  const char* const count = std::getenv("PDL_FUZZ_MUTATIONS");
  const char* const seed = std::getenv("PDL_FUZZ_SEED");
  const char* const keep = std::getenv("PDL_FUZZ_KEEP");
  std::mt19937_64 random(seed == nullptr ? 1 : std::stoull(seed));
  auto change_bytes = [&](std::string* bytes) {
    if (bytes->empty()) return bytes->push_back('x');
    (*bytes)[random() % bytes->size()] = static_cast<char>(random());
  };
  const std::vector<std::string> seeds = target->seeds("..");
  // Those of ONNX are the ONNX project's test cases, which a machine may lack.
  if (seeds.empty()) GTEST_SKIP() << "there are no seeds";
  for (int i = 0; i < (count == nullptr ? 300 : std::stoi(count)); ++i) {
    std::string bytes = seeds[random() % seeds.size()];
    std::unique_ptr<google::protobuf::Message> message(
        target->message != nullptr ? target->message->New() : nullptr);
    // Some seeds are broken files.
    if (message != nullptr && message->ParsePartialFromString(bytes)) {
      MessageMutator(random(), change_bytes).Mutate(message.get());
      bytes = message->SerializePartialAsString();
    } else {
      change_bytes(&bytes);
    }
    if (keep != nullptr) std::ofstream(keep, std::ios::binary) << bytes;
    target->run(bytes);
  }
}

std::vector<const char*> Names() {
  std::vector<const char*> names;
  for (const Target& target : Targets()) names.push_back(target.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Fuzz, MutationTest, testing::ValuesIn(Names()),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace pdl::fuzz
