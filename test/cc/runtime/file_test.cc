#include <sys/stat.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <sstream>

#include "gtest/gtest.h"
#include "pdl/runtime/io.h"
#include "runtime/io/file.h"
#include "test/cc/testing/runtime_testing.h"

namespace pdl {
namespace {

namespace fs = std::filesystem;

TEST(WriteFileAtomically, ReplacesTheWholeFile) {
  TemporaryFolder folder;
  std::string path = WriteBytes(folder / "f", "old and longer");
  chmod(path.c_str(), 0640);
  EXPECT_EQ(Message(WriteFileAtomically(path, "new")), "");
  EXPECT_EQ(ReadBytes(path), "new");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0640));
  EXPECT_EQ(folder.CountFiles(), 1u);
}

TEST(WriteFileAtomically, AFailureLeavesNothing) {
  TemporaryFolder folder;
  EXPECT_EQ(Message(WriteFileAtomically(folder / "none/f", "new")),
            "cannot write '" + (folder / "none/f") + "': No such file or directory [PDL0401]");
  EXPECT_EQ(Message(WriteFileAtomically(folder.path(), "new")),
            "cannot write '" + folder.path() + "': Is a directory [PDL0401]");
  std::string path = WriteBytes(folder / "f.npz", "old");
  Tensor bad = Unwrap(Tensor::Allocate(DType::kBF16, {1}));
  Tensor good = Unwrap(Tensor::Allocate(DType::kF32, {1}));
  EXPECT_NE(Message(WriteNpz(path, {{"good", good}, {"bad", bad}})), "");
  EXPECT_EQ(ReadBytes(path), "old");
  EXPECT_EQ(folder.CountFiles(), 1u);
}

TEST(WriteFileAtomically, WritesThroughASymlink) {
  TemporaryFolder folder;
  WriteBytes(folder / "target", "old");
  fs::create_symlink("target", folder / "link");
  EXPECT_EQ(Message(WriteFileAtomically(folder / "link", "new")), "");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(ReadBytes(folder / "target"), "new");
}

TEST(WriteFileAtomically, LeavesDevicesAndPipesInPlace) {
  EXPECT_EQ(Message(WriteFileAtomically("/dev/null", "new")), "");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_NE(Message(WriteFileAtomically("/dev/full", "new")), "");
}

// Reading a pipe without a writer would block, and a device has no end.
TEST(ReadNpy, ReadsRegularFilesAlone) {
  TemporaryFolder folder;
  const std::string pipe = folder / "pipe", socket = folder / "socket", link = folder / "link";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_EQ(mknod(socket.c_str(), S_IFSOCK | 0600, 0), 0);
  fs::create_symlink("nowhere", link);
  auto error = [](const std::string& path) { return Message(ReadNpy(path).takeError()); };
  auto expected = [](const std::string& path, const std::string& what) {
    return "cannot read '" + path + "': " + what + " [PDL0401]";
  };
  EXPECT_EQ(error(pipe), expected(pipe, "it is a pipe, expected a regular file"));
  EXPECT_EQ(error(socket), expected(socket, "it is a socket, expected a regular file"));
  EXPECT_EQ(error("/dev/zero"),
            expected("/dev/zero", "it is a character device, expected a regular file"));
  EXPECT_EQ(error(folder.path()), expected(folder.path(), "Is a directory"));
  EXPECT_EQ(error(link), expected(link, "No such file or directory"));
  EXPECT_EQ(Message(ReadFile(pipe).takeError()),
            expected(pipe, "it is a pipe, expected a regular file"));
  fs::create_symlink("/dev/zero", folder / "zero");
  EXPECT_EQ(Message(ReadFile(folder / "zero").takeError()),
            expected(folder / "zero", "it is a character device, expected a regular file"));
  EXPECT_EQ(Unwrap(ReadFile(WriteBytes(folder / "f", "text")))->getBuffer(), "text");
  EXPECT_EQ(Unwrap(ReadFile(WriteBytes(folder / "f", "")))->getBuffer(), "");
}

TEST(ResolveInFolder, StaysInside) {
  TemporaryFolder folder;
  fs::create_directories(folder / "net/sub");
  WriteBytes(folder / "net/sub/w", "");
  WriteBytes(folder / "outside", "");
  fs::create_symlink("sub/w", folder / "net/inner");
  fs::create_symlink("../outside", folder / "net/outer");
  fs::create_symlink("..", folder / "net/up");
  std::string root = folder / "net";
  std::string file = fs::canonical(root) / "sub/w";
  EXPECT_EQ(fs::canonical(Unwrap(ResolveInFolder(root, "sub/w"))), file);
  EXPECT_EQ(fs::canonical(Unwrap(ResolveInFolder(root, "./sub/../sub//w"))), file);
  EXPECT_EQ(fs::canonical(Unwrap(ResolveInFolder(root, "inner"))), file);
  for (const char* bad : {"../outside", "outer", "up/outside", "sub/../../outside",
                          "../no-such-file", "/etc/passwd", ""}) {
    EXPECT_EQ(Message(ResolveInFolder(root, bad)),
              "'" + std::string(bad) + "' is not in the network's folder '" + root + "' [PDL0403]");
  }
  EXPECT_EQ(Message(ResolveInFolder(root, "no-such-file")),
            "cannot read '" + root + "/no-such-file': No such file or directory [PDL0401]");
}

TEST(ResolveInFolder, ASiblingWithTheSamePrefixIsOutside) {
  TemporaryFolder folder;
  fs::create_directories(folder / "net");
  fs::create_directories(folder / "network");
  WriteBytes(folder / "network/w", "");
  fs::create_symlink("../network/w", folder / "net/w");
  EXPECT_NE(Message(ResolveInFolder(folder / "net", "w")), "");
}

TEST(Sha256, KnownDigests) {
  auto digest = [](const std::string& text) {
    return Sha256(Constant::Copy(DType::kU8, {static_cast<int64_t>(text.size())}, text.data()));
  };
  EXPECT_EQ(digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(digest(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(AtomicFile, NamesWithPercentSigns) {
  TemporaryFolder folder;
  const std::string path = folder / "a%b";
  fs::create_directories(path);
  fs::create_directories(folder / "a1b");
  for (const char* name : {"100%", "%%%%%%%%.tmp"}) {
    AtomicFile file = llvm::cantFail(AtomicFile::Create(path + "/" + name));
    ASSERT_EQ(Message(file.Write("text")), "");
    ASSERT_EQ(Message(file.Commit()), "");
    EXPECT_EQ(ReadBytes(path + "/" + name), "text");
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(path), fs::directory_iterator()), 2);
  EXPECT_TRUE(fs::is_empty(folder / "a1b"));
}

/// The bytes of physical memory of the mapping that contains the address.
int64_t ResidentBytes(const void* address) {
  std::istringstream lines(ReadBytes("/proc/self/smaps"));
  bool is_inside = false;
  for (std::string line; std::getline(lines, line);) {
    uintptr_t begin, end;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) == 2) {
      const auto at = reinterpret_cast<uintptr_t>(address);
      is_inside = begin <= at && at < end;
    }
    int64_t kilobytes;
    if (is_inside && std::sscanf(line.c_str(), "Rss: %" SCNd64, &kilobytes) == 1)
      return kilobytes << 10;
  }
  return -1;
}

TEST(File, ReleasesThePagesOfATensor) {
  TemporaryFolder folder;
  const std::string path = folder / "w.safetensors";
  constexpr int64_t kElements = 1 << 20;
  Tensor written = Unwrap(Tensor::Allocate(DType::kF32, {kElements}));
  for (int64_t i = 0; i < kElements; ++i) written.data<float>()[i] = static_cast<float>(i % 1000);
  ASSERT_EQ(Message(WriteSafetensors(path, {{"w", written}})), "");

  const SafetensorsFile file = Unwrap(SafetensorsFile::Open(path));
  const Tensor read = Tensor::FromConstant(file.Read(*file.Find("w")));
  EXPECT_TRUE(read.ToConstant() == written.ToConstant());
  EXPECT_GE(ResidentBytes(read.raw()), read.num_bytes());
  ReleaseFilePages(read);
  EXPECT_LT(ResidentBytes(read.raw()), 64 << 10);
  EXPECT_TRUE(read.ToConstant() == written.ToConstant());
  constexpr int64_t kQuarter = kElements;  // bytes
  ReleaseFilePages(read, 3 * kQuarter, kQuarter);
  EXPECT_LE(ResidentBytes(read.raw()), 3 * kQuarter);
  EXPECT_TRUE(read.ToConstant() == written.ToConstant());

  // Memory that may have been written is not released.
  ReleaseFilePages(written);
  EXPECT_TRUE(read.ToConstant() == written.ToConstant());
  ASSERT_EQ(Message(WriteNpy(folder / "w.npy", written)), "");
  Tensor array = Unwrap(ReadNpy(folder / "w.npy"));
  array.data<float>()[kElements / 2] = -1;
  ReleaseFilePages(array);
  EXPECT_EQ(array.data<float>()[kElements / 2], -1.0f);
  ReleaseFilePages(Tensor());
  ReleaseFilePages(Unwrap(Tensor::Allocate(DType::kF32, {0})));
}

}  // namespace
}  // namespace pdl
