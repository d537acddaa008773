#include <filesystem>

#include "gtest/gtest.h"
#include "llvm/Support/MemoryBuffer.h"
#include "pdl/compiler/emit.h"
#include "pdl/compiler/serialize.h"
#include "pdl/op/op_registry.h"

// Networks stored by released versions: golden/v1/NAME.pdlc and so on, which never change. NAME.pdl
// has the source of each, and NAME.ir its output of EmitIr: the meaning of a file must not depend
// on the defaults of later versions.

namespace pdl {
namespace {

namespace fs = std::filesystem;

std::string Read(const fs::path& path) {
  auto buffer = llvm::MemoryBuffer::getFile(path.string());
  if (buffer) return (*buffer)->getBuffer().str();
  ADD_FAILURE() << path << ": " << buffer.getError().message();
  return "";
}

TEST(Golden, StoredNetworksLoadForEver) {
  int networks = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator("golden")) {
    if (entry.path().extension() != ".pdlc") continue;
    ++networks;
    SCOPED_TRACE(entry.path().string());
    std::string bytes = Read(entry.path());
    llvm::Expected<Graph> graph =
        DeserializeNetwork(bytes, entry.path().string(), GlobalRegistry());
    if (!graph) {
      ADD_FAILURE() << llvm::toString(graph.takeError());
      continue;
    }
    EXPECT_EQ(EmitIr(*graph), Read(fs::path(entry.path()).replace_extension(".ir")));
    EXPECT_TRUE(fs::exists(fs::path(entry.path()).replace_extension(".pdl")));
    // Serialized again, they have the same meaning.
    llvm::Expected<std::string> again = SerializeNetwork(*graph);
    ASSERT_TRUE(static_cast<bool>(again)) << llvm::toString(again.takeError());
    llvm::Expected<Graph> reread = DeserializeNetwork(*again, "again", GlobalRegistry());
    ASSERT_TRUE(static_cast<bool>(reread)) << llvm::toString(reread.takeError());
    EXPECT_EQ(EmitIr(*reread), EmitIr(*graph));
  }
  EXPECT_GT(networks, 0);
}

}  // namespace
}  // namespace pdl
