#include <cstring>

#include "gtest/gtest.h"
#include "pdl/runtime/io.h"
#include "test/cc/testing/runtime_testing.h"

namespace pdl {
namespace {

/// A version 1.0 file with that header, unpadded, and `data` after it.
std::string Npy(const std::string& header, const std::string& data = "") {
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  return file + header + data;
}

/// The error of reading such a file, without the file's name and the code.
std::string NpyError(const std::string& bytes) {
  TemporaryFolder folder;
  std::string path = WriteBytes(folder / "x.npy", bytes);
  std::string message = Message(ReadNpy(path));
  llvm::StringRef text = message;
  EXPECT_TRUE(text.consume_front("cannot read '" + path + "': ")) << message;
  EXPECT_TRUE(text.consume_back(" [PDL0401]")) << message;
  return text.str();
}

std::string OfShape(const std::string& shape) {
  return NpyError(Npy("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}"));
}

TEST(ReadNpy, WhatNumPyWrote) {
  EXPECT_EQ(TensorToString(Unwrap(ReadNpy(DataFile("f32.npy")))),
            "[[0.0 , 0.25, 0.5 ],\n [0.75, 1.0 , 1.25]]");
  Tensor big_endian = Unwrap(ReadNpy(DataFile("f64_big_endian.npy")));
  EXPECT_EQ(big_endian.TypeString(), "f64[2, 3]");
  EXPECT_EQ(big_endian.data<double>()[5], 1.25);
  Tensor fortran = Unwrap(ReadNpy(DataFile("i16_big_endian_fortran.npy")));
  EXPECT_EQ(fortran.TypeString(), "i16[2, 3]");
  EXPECT_EQ(TensorToString(fortran), "[[0, 1, 2],\n [3, 4, 5]]");
  Tensor three_dims = Unwrap(ReadNpy(DataFile("u8_fortran_3d.npy")));
  for (int i = 0; i < 24; ++i) EXPECT_EQ(three_dims.data<uint8_t>()[i], i);
  Tensor flags = Unwrap(ReadNpy(DataFile("bool.npy")));
  EXPECT_EQ(flags.TypeString(), "bool[2, 3]");
  EXPECT_TRUE(flags.data<bool>()[1]);
  EXPECT_EQ(TensorToString(Unwrap(ReadNpy(DataFile("f16_scalar.npy")))), "1.5");
  EXPECT_EQ(Unwrap(ReadNpy(DataFile("i64_version_2.npy"))).data<int64_t>()[5], 5);
  EXPECT_EQ(Unwrap(ReadNpy(DataFile("u32_version_3.npy"))).data<uint32_t>()[5], 5u);
}

TEST(ReadNpy, RefusesWhatIsNoTensor) {
  EXPECT_EQ(Message(ReadNpy(DataFile("complex.npy"))),
            "cannot read 'cc/data/complex.npy': it holds complex numbers, which are not supported "
            "(dtype '<c8') [PDL0401]");
  EXPECT_EQ(
      Message(ReadNpy(DataFile("text.npy"))),
      "cannot read 'cc/data/text.npy': it holds strings, not numbers (dtype '<U1') [PDL0401]");
  EXPECT_EQ(Message(ReadNpy(DataFile("records.npy"))),
            "cannot read 'cc/data/records.npy': it contains records, not numbers of one dtype "
            "[PDL0401]");
  EXPECT_EQ(NpyError(Npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}")),
            "it holds Python objects, which are not supported (dtype '|O')");
  EXPECT_EQ(NpyError(Npy("{'descr': '<f3', 'fortran_order': False, 'shape': (1,)}")),
            "it holds elements of an unknown type (dtype '<f3')");
}

TEST(ReadNpy, MissingFile) {
  EXPECT_EQ(Message(ReadNpy("no/such.npy")),
            "cannot read 'no/such.npy': No such file or directory [PDL0401]");
  EXPECT_EQ(Message(ReadNpy("cc")), "cannot read 'cc': Is a directory [PDL0401]");
}

TEST(ReadNpy, BrokenFiles) {
  EXPECT_EQ(NpyError(""), "it is not a .npy file: it does not begin with \"\\x93NUMPY\"");
  EXPECT_EQ(NpyError("PK\x03\x04"), "it is not a .npy file: it does not begin with \"\\x93NUMPY\"");
  EXPECT_EQ(NpyError("\x93NUMPY\x01"), "its header is truncated; the file has 7 bytes");
  EXPECT_EQ(NpyError(std::string("\x93NUMPY\x04\x00\x01\x00\x00\x00", 12)),
            "it has format version 4; 1 to 3 are supported");
  EXPECT_EQ(NpyError(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff{", 13)),
            "its header is truncated; the file has 13 bytes");
  EXPECT_EQ(NpyError(Npy("")), "its header is malformed at \"\"");
  EXPECT_EQ(NpyError(Npy("{'descr': '<f4', 'fortran_order': 0, 'shape': ()}")),
            "its header is malformed at \"0, 'shape': ()}\"");
  EXPECT_EQ(NpyError(Npy("{'descr': '<f4', 'fortran_order': False}")), "its header has no 'shape'");
  EXPECT_EQ(NpyError(Npy("{'shape': (), 'shape': ()}")), "its header has 'shape' twice");
  EXPECT_EQ(NpyError(Npy("{'colour': 1}")), "its header has an unknown key 'colour'");
  std::string whole = ReadBytes(DataFile("f32.npy"));
  EXPECT_EQ(NpyError(whole.substr(0, whole.size() - 1)),
            "its header states f32[2, 3], 24 bytes, but 23 bytes follow");
  EXPECT_EQ(NpyError(whole + "x"), "its header states f32[2, 3], 24 bytes, but 25 bytes follow");
  EXPECT_EQ(NpyError(Npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}", "\x01\x02")),
            "element 1 is a bool of value 2");
}

TEST(ReadNpy, AbsurdShapes) {
  EXPECT_EQ(OfShape("(1000000000000,)"),
            "its header states f32[1000000000000], 3.6 TiB, but 0 bytes follow");
  EXPECT_EQ(OfShape("(3000000000, 3000000000)"),
            "its header states f32[3000000000, 3000000000], which is too large");
  EXPECT_EQ(OfShape("(0, 9223372036854775807)"),
            "its header states f32[0, 9223372036854775807], which is too large");
  EXPECT_EQ(OfShape("(99999999999999999999,)"), "it has a size of 99999999999999999999");
  EXPECT_EQ(OfShape("(-1,)"), "its header is malformed at \"-1,)}\"");
  std::string ones = "(";
  for (int i = 0; i < 65; ++i) ones += "1,";
  EXPECT_EQ(OfShape(ones + ")"), "it has more than 64 dims");
}

TEST(ReadNpy, EveryPrefixIsRefused) {
  std::string whole = ReadBytes(DataFile("i64_version_2.npy"));
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(NpyError(whole.substr(0, size)), "") << size;
}

TEST(ReadNpy, WritingToTheTensorLeavesTheFile) {
  TemporaryFolder folder;
  std::string path = WriteBytes(folder / "x.npy", ReadBytes(DataFile("f32.npy")));
  Tensor tensor = Unwrap(ReadNpy(path));
  tensor.data<float>()[0] = 7;
  EXPECT_EQ(ReadBytes(path), ReadBytes(DataFile("f32.npy")));
}

TEST(WriteNpy, TheBytesThatNumPyWrites) {
  TemporaryFolder folder;
  EXPECT_EQ(Message(WriteNpy(folder / "x.npy", Unwrap(ReadNpy(DataFile("f32.npy"))))), "");
  EXPECT_EQ(ReadBytes(folder / "x.npy"), ReadBytes(DataFile("f32.npy")));
  EXPECT_EQ(Message(WriteNpy(folder / "x.npy", Unwrap(ReadNpy(DataFile("f16_scalar.npy"))))), "");
  EXPECT_EQ(ReadBytes(folder / "x.npy"), ReadBytes(DataFile("f16_scalar.npy")));
}

TEST(WriteNpy, RoundTripOfEveryDType) {
  TemporaryFolder folder;
  for (int number = 1; number < kNumDTypes; ++number) {
    auto dtype = static_cast<DType>(number);
    for (const Sizes& sizes : {Sizes{}, Sizes{3}, Sizes{2, 0}, Sizes{2, 1, 2}}) {
      Tensor tensor = Unwrap(Tensor::Allocate(dtype, sizes));
      for (int64_t i = 0; i < tensor.num_bytes(); ++i) tensor.data<char>()[i] = i % 2;
      std::string path = folder / "x.npy";
      if (dtype == DType::kBF16) {
        EXPECT_EQ(Message(WriteNpy(path, tensor)),
                  "cannot write '" + path +
                      "': NumPy has no dtype for bf16; cast to f32, or write .safetensors "
                      "[PDL0401]");
        continue;
      }
      EXPECT_EQ(Message(WriteNpy(path, tensor)), "");
      EXPECT_TRUE(Unwrap(ReadNpy(path)).ToConstant() == tensor.ToConstant()) << tensor.TypeString();
    }
  }
  EXPECT_EQ(folder.CountFiles(), 1u);
}

}  // namespace
}  // namespace pdl
