// Weights in external files of malicious models: no file outside of the model's folder is read.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "onnx/export/export.h"
#include "onnx/import/import.h"
#include "test/conformance/onnx/hostile_testing.h"

namespace pdl {
namespace {

namespace fs = std::filesystem;

using testing::AddNode;
using testing::AddTensor;
using testing::AddValue;
using testing::EmptyModel;
using testing::GoodModel;
using testing::PeakBytes;
using testing::Say;

class OnnxExternalDataTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "pdl_onnx_XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    fs::create_directory(root_ / "model");
    std::ofstream(root_ / "secret") << std::string(144, 's');
    std::ofstream(root_ / "model" / "data") << std::string(144, 'd');
  }
  void TearDown() override { fs::remove_all(root_); }

  using Entries = std::vector<std::pair<std::string, std::string>>;

  /// A model with external weights.
  onnx::ModelProto WithFile(const Entries& entries) {
    onnx::ModelProto model = GoodModel();
    onnx::TensorProto* tensor = model.mutable_graph()->mutable_initializer(0);
    tensor->clear_raw_data();
    tensor->set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] : entries) {
      auto* entry = tensor->add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    return model;
  }
  std::string SayOf(const Entries& entries) {
    return Say(WithFile(entries), (root_ / "model").string());
  }
  void ExpectSays(const Entries& entries, const std::string& wanted) {
    const std::string said = SayOf(entries);
    EXPECT_TRUE(llvm::StringRef(said).contains(wanted)) << "said: " << said;
  }
  fs::path root_;
};

TEST_F(OnnxExternalDataTest, BelowTheFolderIsGood) {
  EXPECT_EQ(SayOf({{"location", "data"}}), "");
  EXPECT_EQ(SayOf({{"location", "data"}, {"offset", "0"}, {"length", "144"}}), "");
}

TEST_F(OnnxExternalDataTest, NoWayOutOfTheFolder) {
  for (const std::string& location :
       {std::string("../secret"), std::string("x/../../secret"), (root_ / "secret").string(),
        std::string("./../secret"), std::string("..\\secret"), std::string("/etc/passwd"),
        std::string(), std::string("."), std::string("data\0x", 6), std::string("missing")}) {
    EXPECT_NE(SayOf({{"location", location}}), "") << location;
  }
  EXPECT_NE(SayOf({}), "");
}

TEST_F(OnnxExternalDataTest, NoLinkOutOfTheFolder) {
  fs::create_symlink(root_ / "secret", root_ / "model" / "symlink");
  EXPECT_NE(SayOf({{"location", "symlink"}}), "");
  fs::create_directory_symlink(root_, root_ / "model" / "folder");
  EXPECT_NE(SayOf({{"location", "folder/secret"}}), "");
  fs::create_hard_link(root_ / "secret", root_ / "model" / "hardlink");
  EXPECT_NE(SayOf({{"location", "hardlink"}}), "");
  ASSERT_EQ(::mkfifo((root_ / "model" / "fifo").c_str(), 0600), 0);
  EXPECT_NE(SayOf({{"location", "fifo"}}), "");
}

TEST_F(OnnxExternalDataTest, NoByteBeyondTheFile) {
  for (const char* offset : {"1", "144", "-1", "9223372036854775807", "99999999999999999999", "x"})
    EXPECT_NE(SayOf({{"location", "data"}, {"offset", offset}}), "") << offset;
  for (const char* length : {"143", "145", "0", "-144", "9223372036854775807"})
    EXPECT_NE(SayOf({{"location", "data"}, {"length", length}}), "") << length;
}

TEST_F(OnnxExternalDataTest, WhatIsSaidOfAFile) {
  EXPECT_EQ(SayOf({{"location", "data"}, {"checksum", "0"}, {"basepath", "/"}}), "");
  ExpectSays({{"location", "data"}, {"location", "../secret"}}, "sets its 'location' twice");
  ExpectSays({{"location", "data"}, {"offset", "0"}, {"offset", "1"}}, "sets its 'offset' twice");
}

// --- Vulnerabilities of ONNX's own library -------------------------------------------------------

// CVE-2022-25882: a location outside of the model's folder is read.
TEST_F(OnnxExternalDataTest, Cve2022_25882) {
  for (const std::string& location :
       {std::string("../secret"), std::string("../../../../../../etc/passwd"),
        std::string("../model/data"), (root_ / "secret").string(), std::string("/etc/passwd")})
    ExpectSays({{"location", location}}, "is not in the network's folder");
}

// CVE-2024-27318: so is one that only begins inside.
TEST_F(OnnxExternalDataTest, Cve2024_27318) {
  fs::create_directory(root_ / "model" / "sub");
  for (const char* location : {"sub/../../secret", "./../secret", "nothing/../../secret",
                               "sub/./../.././secret", "sub//..//..//secret"})
    ExpectSays({{"location", location}}, "is not in the network's folder");
  EXPECT_EQ(SayOf({{"location", "sub/../data"}}), "");
}

// CVE-2024-5187: an archive with members outside of its folder. We do not unpack archives.
TEST_F(OnnxExternalDataTest, Cve2024_5187) {
  std::string tar(1024, '\0');
  const std::string name = "../../unpacked", mode = "0000644", size = "00000000004";
  tar.replace(0, name.size(), name);
  tar.replace(100, mode.size(), mode);
  tar.replace(124, size.size(), size);
  tar.replace(257, 5, "ustar");
  tar.replace(512, 4, "evil");
  const std::string gzip = "\x1f\x8b\x08" + std::string(40, '\0');
  const std::string zip = "PK\x03\x04" + std::string(26, '\0') + name;
  for (const std::string& archive : {tar, gzip, zip}) {
    const fs::path path = root_ / "model" / "m.onnx";
    std::ofstream(path, std::ios::binary) << archive;
    llvm::Expected<OnnxModel> model = OnnxModel::Read(path.string());
    ASSERT_FALSE(static_cast<bool>(model));
    const std::string said = llvm::toString(model.takeError());
    EXPECT_TRUE(llvm::StringRef(said).contains("is not an ONNX model, or is truncated")) << said;
  }
  for (const fs::path& at : {root_, root_.parent_path(), fs::current_path().parent_path()})
    EXPECT_FALSE(fs::exists(at / "unpacked")) << at;
}

// CVE-2025-51480: files are written to the locations in the model. We write where the caller
// specifies.
TEST_F(OnnxExternalDataTest, Cve2025_51480) {
  ExpectSays({{"location", "../victim"}}, "is not in the network's folder");
  EXPECT_FALSE(fs::exists(root_ / "victim"));
  // A valid location is read, but not used for exports.
  llvm::Expected<OnnxModel> model = OnnxModel::Parse(
      WithFile({{"location", "data"}}).SerializeAsString(), "m.onnx", (root_ / "model").string());
  ASSERT_TRUE(static_cast<bool>(model));
  llvm::Expected<ImportedModel> imported = ImportOnnx(*model);
  ASSERT_TRUE(static_cast<bool>(imported));
  OnnxExportOptions options;
  options.value = [&](llvm::StringRef name) -> llvm::Expected<Tensor> {
    return Tensor::FromConstant(imported->weights.find(name)->second);
  };
  auto exported = ExportOnnx(imported->graph, GlobalRegistry(), options);
  ASSERT_TRUE(static_cast<bool>(exported));
  ASSERT_GT(exported->graph().initializer_size(), 0);
  for (const onnx::TensorProto& tensor : exported->graph().initializer())
    EXPECT_EQ(tensor.external_data_size(), 0) << tensor.name();
}

// CVE-2026-27489: a symlink in the path, or a hard link (2026-34446), refers to a file outside of
// the folder.
TEST_F(OnnxExternalDataTest, Cve2026_27489) {
  fs::create_directory(root_ / "outside");
  std::ofstream(root_ / "outside" / "real") << std::string(144, 's');
  fs::create_directory_symlink("../outside", root_ / "model" / "folder");
  fs::create_symlink("../secret", root_ / "model" / "file");
  fs::create_symlink("file", root_ / "model" / "file_of_file");
  for (const char* location : {"folder/real", "file", "file_of_file", "folder/../secret"})
    ExpectSays({{"location", location}}, "is not in the network's folder");
  fs::create_hard_link(root_ / "secret", root_ / "model" / "hard");
  ExpectSays({{"location", "hard"}}, "has a hard link");
}

// CVE-2026-34445: keys of any name are used as properties, and sizes are not checked.
TEST_F(OnnxExternalDataTest, Cve2026_34445) {
  for (const char* key : {"__class__", "__dict__", "data_type", "raw_data", "", "Location"})
    ExpectSays({{"location", "data"}, {key, "x"}}, "has an unknown key of external data");
  for (const char* size : {"-1", "x", "1e9", "99999999999999999999", "0x10", "", " 1"}) {
    ExpectSays({{"location", "data"}, {"length", size}}, "has the length '");
    ExpectSays({{"location", "data"}, {"offset", size}}, "has the offset '");
  }
  const int64_t before = PeakBytes();
  ExpectSays({{"location", "data"}, {"length", "9223372036854775807"}},
             "has 9223372036854775807 bytes");
  ExpectSays({{"location", "data"}, {"offset", "9223372036854775807"}}, "which has 144");
  onnx::ModelProto model = WithFile({{"location", "data"}});
  onnx::TensorProto* tensor = model.mutable_graph()->mutable_initializer(0);
  tensor->clear_dims();
  tensor->add_dims(int64_t{1} << 40);
  const std::string said = Say(model, (root_ / "model").string());
  EXPECT_TRUE(llvm::StringRef(said).contains("requires 4398046511104 bytes")) << said;
  EXPECT_LT(PeakBytes() - before, int64_t{64} << 20);
}

}  // namespace
}  // namespace pdl
