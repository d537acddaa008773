#include <cstring>

#include "gtest/gtest.h"
#include "pdl/runtime/io.h"
#include "test/cc/testing/runtime_testing.h"

namespace pdl {
namespace {

std::string File(const std::string& header, const std::string& data = "") {
  std::string file(8, '\0');
  uint64_t size = header.size();
  std::memcpy(file.data(), &size, 8);
  return file + header + data;
}

std::string SafetensorsError(const std::string& bytes) {
  TemporaryFolder folder;
  std::string path = WriteBytes(folder / "x.safetensors", bytes);
  std::string message = Message(SafetensorsFile::Open(path));
  llvm::StringRef text = message;
  EXPECT_TRUE(text.consume_front("cannot read '" + path + "': ")) << message;
  EXPECT_TRUE(text.consume_back(" [PDL0401]")) << message;
  return text.str();
}

/// A header with one tensor `w`.
std::string One(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"w":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets +
         "}}";
}

TEST(Safetensors, WhatTheReferenceWrote) {
  SafetensorsFile file = Unwrap(SafetensorsFile::Open(DataFile("three.safetensors")));
  ASSERT_EQ(file.entries().size(), 3u);
  const SafetensorsFile::Entry* weight = file.Find("b.w");
  ASSERT_NE(weight, nullptr);
  EXPECT_EQ(TensorTypeToString(weight->dtype, weight->sizes), "f32[2, 3]");
  Constant constant = file.Read(*weight);
  EXPECT_EQ(constant.values<float>()[5], 5);
  EXPECT_EQ(file.Read(*file.Find("a")).values<int64_t>()[2], 2);
  EXPECT_TRUE(file.Read(*file.Find("flag")).values<bool>()[0]);
  EXPECT_EQ(file.Find("c"), nullptr);
  file = SafetensorsFile();
  EXPECT_EQ(constant.values<float>()[4], 4) << "the constant keeps the mapping";
}

TEST(Safetensors, BrokenFiles) {
  EXPECT_EQ(SafetensorsError("1234567"), "it is not a .safetensors file: it has 7 bytes");
  EXPECT_EQ(
      SafetensorsError(std::string(8, '\xff')),
      "it is not a .safetensors file, or its header of 18446744073709551615 bytes is too large");
  EXPECT_EQ(SafetensorsError("PK\x03\x04\x14..........."),
            "weights are in .safetensors files, and it is a ZIP archive, such as .npz or .pt");
  EXPECT_EQ(SafetensorsError("\x93NUMPY\x01..........."),
            "weights are in .safetensors files, and it is a .npy file");
  EXPECT_EQ(SafetensorsError("GGUF\x03..........."),
            "weights are in .safetensors files, and it is a GGUF file");
  EXPECT_EQ(SafetensorsError(std::string("\xff\0\0\0\0\0\0\0{", 9)),
            "it is truncated: its header has 255 bytes, but the file has 9");
  EXPECT_EQ(SafetensorsError(File("{")).substr(0, 25), "its header is not JSON: [");
  EXPECT_EQ(SafetensorsError(File("[]")), "its header is not a JSON object");
  EXPECT_EQ(SafetensorsError(File(std::string(1 << 20, '['))), "its header is nested too deeply");
  EXPECT_EQ(SafetensorsError(File(R"({"w":1})")), "the header's 'w' is not a JSON object");
  EXPECT_EQ(SafetensorsError(File(R"({"w":{"dtype":"F32"}})")),
            "tensor 'w' lacks its dtype, shape or data_offsets");
}

TEST(Safetensors, LyingHeaders) {
  const std::string eight(8, '\0');
  EXPECT_EQ(SafetensorsError(File(One("F8_E5M2", "[8]", "[0,8]"), eight)),
            "tensor 'w' has the dtype F8_E5M2, which is not supported");
  EXPECT_EQ(SafetensorsError(File(One("f32", "[2]", "[0,8]"), eight)),
            "tensor 'w' has the dtype f32, which is not supported");
  EXPECT_EQ(SafetensorsError(File(One("F32", "[2]", "[0,9]"), eight)),
            "tensor 'w' ends at byte 9, but the file has 8 after the header");
  EXPECT_EQ(SafetensorsError(File(One("F32", "[3]", "[0,8]"), eight)),
            "tensor 'w' is f32[3], 12 bytes, but has 8");
  EXPECT_EQ(SafetensorsError(File(One("F32", "[4611686018427387904,4]", "[0,8]"), eight)),
            "tensor 'w' is f32[4611686018427387904, 4], which is too large");
  EXPECT_EQ(SafetensorsError(File(One("F32", "[-2]", "[0,8]"), eight)),
            "tensor 'w' has an invalid size");
  EXPECT_EQ(SafetensorsError(File(One("F32", "[1.5]", "[0,8]"), eight)),
            "tensor 'w' has an invalid size");
  EXPECT_EQ(SafetensorsError(File(One("F32", "[2]", "[8,0]"), eight)),
            "tensor 'w' has invalid offsets");
  EXPECT_EQ(SafetensorsError(File(One("BOOL", "[8]", "[0,8]"), std::string(8, '\7'))),
            "tensor 'w' has a bool that is neither 0 nor 1");
  EXPECT_EQ(SafetensorsError(File(One("F32", "[1]", "[4,8]"), eight)),
            "there are 4 unused bytes before 'w'");
  EXPECT_EQ(SafetensorsError(File(One("F32", "[1]", "[0,4]"), eight)),
            "there are 4 unused bytes after its last tensor");
  EXPECT_EQ(SafetensorsError(File(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                                  R"("b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                                  eight)),
            "tensors 'a' and 'b' overlap");
}

TEST(Safetensors, DuplicateNames) {
  const std::string two = R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  EXPECT_EQ(SafetensorsError(File("{" + two + "," + two + "}", "x")),
            "its header has a name twice");
  EXPECT_EQ(SafetensorsError(File(R"({"a":{"dtype":"U8","dtype":"U8","shape":[1],)"
                                  R"("data_offsets":[0,1]}})",
                                  "x")),
            "its header has a name twice");
}

TEST(Safetensors, ColonsAndBracketsInNamesAreOnlyNames) {
  TemporaryFolder folder;
  std::string path = folder / "x.safetensors";
  std::string name = "a:[{\\\"\":";
  Tensor tensor = Unwrap(Tensor::Allocate(DType::kF32, {2}));
  EXPECT_EQ(Message(WriteSafetensors(path, {{name, tensor}})), "");
  EXPECT_NE(Unwrap(SafetensorsFile::Open(path)).Find(name), nullptr);
}

TEST(Safetensors, RoundTripOfEveryDType) {
  TemporaryFolder folder;
  std::string path = folder / "x.safetensors";
  std::vector<NamedTensor> tensors;
  for (int number = 1; number < kNumDTypes; ++number) {
    auto dtype = static_cast<DType>(number);
    Tensor tensor = Unwrap(Tensor::Allocate(dtype, {3, 1}));
    for (int64_t i = 0; i < tensor.num_bytes(); ++i) tensor.data<char>()[i] = i % 2;
    tensors.emplace_back(DTypeName(dtype).str(), tensor);
  }
  tensors.emplace_back("empty", Unwrap(Tensor::Allocate(DType::kF32, {0, 3})));
  tensors.emplace_back("scalar", Unwrap(Tensor::Allocate(DType::kF32, {})));
  EXPECT_EQ(Message(WriteSafetensors(path, tensors)), "");

  SafetensorsFile file = Unwrap(SafetensorsFile::Open(path));
  ASSERT_EQ(file.entries().size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    const SafetensorsFile::Entry* entry = file.Find(name);
    ASSERT_NE(entry, nullptr) << name;
    Constant constant = file.Read(*entry);
    EXPECT_TRUE(constant == tensor.ToConstant()) << name;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(constant.data()) % DTypeSize(constant.dtype()), 0u);
  }
  std::string bytes = ReadBytes(path);
  std::reverse(tensors.begin(), tensors.end());
  EXPECT_EQ(Message(WriteSafetensors(path, tensors)), "");
  EXPECT_EQ(ReadBytes(path), bytes) << "the order given does not matter";
}

TEST(Safetensors, AMisalignedTensorIsCopied) {
  TemporaryFolder folder;
  std::string header = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                       R"("b":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}})";
  std::string path =
      WriteBytes(folder / "x.safetensors", File(header, std::string("\1\0\0\x80\x3f", 5)));
  SafetensorsFile file = Unwrap(SafetensorsFile::Open(path));
  EXPECT_EQ(file.Read(*file.Find("b")).values<float>()[0], 1.0f);
}

TEST(Safetensors, RefusesToWriteBadNames) {
  TemporaryFolder folder;
  std::string path = folder / "x";
  Tensor tensor = Unwrap(Tensor::Allocate(DType::kI8, {}));
  EXPECT_EQ(Message(WriteSafetensors(path, {{"a", tensor}, {"a", tensor}})),
            "cannot write '" + path + "': two tensors have the name 'a' [PDL0401]");
  EXPECT_EQ(Message(WriteSafetensors(path, {{"__metadata__", tensor}})),
            "cannot write '" + path + "': a tensor cannot have the name '__metadata__' [PDL0401]");
  EXPECT_NE(Message(WriteSafetensors(path, {{"\xff", tensor}})), "");
  EXPECT_EQ(folder.CountFiles(), 0u);
}

}  // namespace
}  // namespace pdl
