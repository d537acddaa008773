#include "pdl/train/event_file.h"

#include <cstring>

#include "test/cc/testing/runtime_testing.h"

namespace pdl {
namespace {

TEST(EventFile, Crc) {
  // RFC 3720, B.4.
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(""), 0u);
}

TEST(EventFile, Records) {
  TemporaryFolder folder;
  const std::string path = folder / "events.out.tfevents.1.pdl.2";
  {
    llvm::Expected<EventFile> file = EventFile::Create(path, 1.0);
    ASSERT_TRUE(static_cast<bool>(file)) << Message(file.takeError());
    ASSERT_EQ(Message(file->AddScalars(300, 2.0, {{"loss", 0.5}})), "");
    ASSERT_EQ(Message(file->AddRestart(7, 3.0)), "");
  }
  const std::string bytes = ReadBytes(path);
  std::vector<std::string> events;
  for (size_t at = 0; at < bytes.size();) {
    uint64_t length;
    uint32_t crc;
    std::memcpy(&length, bytes.data() + at, 8);
    std::memcpy(&crc, bytes.data() + at + 8, 4);
    auto masked = [](llvm::StringRef text) {
      const uint32_t plain = Crc32c(text);
      return (plain >> 15 | plain << 17) + 0xa282ead8u;
    };
    EXPECT_EQ(crc, masked(llvm::StringRef(bytes).substr(at, 8)));
    events.push_back(bytes.substr(at + 12, length));
    std::memcpy(&crc, bytes.data() + at + 12 + length, 4);
    EXPECT_EQ(crc, masked(events.back()));
    at += 16 + length;
  }
  auto bytes_of = [](auto value) {
    std::string text(sizeof value, '\0');
    std::memcpy(text.data(), &value, sizeof value);
    return text;
  };
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0], "\x09" + bytes_of(1.0) + "\x1a\x0d" + "brain.Event:2");
  EXPECT_EQ(events[1], "\x09" + bytes_of(2.0) + "\x10\xac\x02" +  // step 300
                           "\x2a\x0d" + "\x0a\x0b" + "\x0a\x04loss" + "\x15" + bytes_of(0.5f));
  EXPECT_EQ(events[2], "\x09" + bytes_of(3.0) + "\x10\x07" + "\x3a\x02\x08\x01");
}

TEST(EventFile, CannotBeWritten) {
  EXPECT_EQ(Message(EventFile::Create("nowhere/events", 0)),
            "cannot write 'nowhere/events': No such file or directory [PDL0401]");
}

}  // namespace
}  // namespace pdl
