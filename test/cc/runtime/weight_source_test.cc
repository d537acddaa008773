#include "pdl/runtime/weight_source.h"

#include <limits>

#include "gtest/gtest.h"
#include "pdl/op/half.h"
#include "test/cc/testing/runtime_testing.h"

namespace pdl {
namespace {

Tensor Floats(Sizes sizes, std::vector<float> values) {
  return Tensor::FromValues<float>(DType::kF32, sizes, values);
}

/// A folder with a model in two files and an index.
struct Split {
  Split() {
    Write("model-1.safetensors", {{"a", Floats({2, 2}, {1, 2, 3, 4})}});
    Write("model-2.safetensors", {{"b", Floats({2}, {5, 6})}, {"c", Floats({0}, {})}});
  }
  void Write(const std::string& name, std::vector<NamedTensor> tensors) {
    EXPECT_EQ(Message(WriteSafetensors(folder / name, tensors)), "");
  }
  std::string Index(const std::string& json) {
    return WriteBytes(folder / "model.safetensors.index.json", json);
  }
  /// The error for an index, without the path in front.
  std::string MessageOf(const std::string& json) {
    const std::string path = Index(json);
    std::string message = Message(WeightSource::Open(path));
    llvm::StringRef text = message;
    text.consume_front("cannot read '" + path + "': ");
    return text.str();
  }
  TemporaryFolder folder;
};

TEST(WeightSource, AnIndexNamesTheParts) {
  Split split;
  const WeightSource source = Unwrap(WeightSource::Open(split.Index(
      R"({"metadata": {"total_size": 24}, "weight_map":
          {"b": "model-2.safetensors", "a": "model-1.safetensors"}})")));
  ASSERT_EQ(source.listing().entries.size(), 2u);
  EXPECT_EQ(source.listing().entries[0].file, "model-1.safetensors");
  EXPECT_EQ(source.ReadStored(*source.listing().Find("b")).values<float>()[1], 6);
  EXPECT_EQ(source.listing().Find("c"), nullptr) << "the index does not name it";
}

TEST(WeightSource, AHostileIndexIsAnError) {
  Split split;
  EXPECT_EQ(split.MessageOf("{").substr(0, 16), "it is not JSON: ");
  EXPECT_EQ(split.MessageOf("{\n  x"),
            "it is not JSON: [2:3, byte=5]: Expected object key [PDL0401]");
  EXPECT_EQ(split.MessageOf("[]"),
            "it is not an index of weights: it has no object \"weight_map\" that maps names of "
            "tensors to files [PDL0401]");
  EXPECT_EQ(split.MessageOf(std::string(1 << 20, '[')), "it is nested too deeply [PDL0401]");
  EXPECT_EQ(split.MessageOf(R"({"weight_map": {"a": 1}})"),
            "the file of \"weight_map\".\"a\" is not a string [PDL0401]");
  EXPECT_EQ(split.MessageOf(R"({"weight_map": {"a": "x", "a": "y"}})"),
            "it has a name twice [PDL0401]");
  EXPECT_EQ(split.MessageOf(R"({"weight_map": {"z": "model-1.safetensors"}})"),
            "'model-1.safetensors' has no tensor 'z' [PDL0401]");
  for (const char* file : {"../model-1.safetensors", "/etc/passwd", "..", ".", "", "x/y"}) {
    const std::string message =
        split.MessageOf(R"({"weight_map": {"a": ")" + std::string(file) + "\"}}");
    EXPECT_NE(message.find("is not a file in the index's folder [PDL0403]"), std::string::npos)
        << message;
  }
  EXPECT_NE(split.MessageOf(R"({"weight_map": {"a": "model-3.safetensors"}})")
                .find("model-3.safetensors': No such file"),
            std::string::npos);
}

TEST(WeightSource, APatternNamesFiles) {
  Split split;
  const WeightSource source =
      Unwrap(WeightSource::OpenInFolder(split.folder / "", "model-*.safetensors"));
  EXPECT_EQ(source.listing().entries.size(), 3u);
  EXPECT_NE(Message(WeightSource::Open(split.folder / "other-*.safetensors"))
                .find("no file has such a name [PDL0401]"),
            std::string::npos);
  split.Write("model-3.safetensors", {{"a", Floats({1}, {0})}});
  EXPECT_NE(Message(WeightSource::Open(split.folder / "model-*.safetensors"))
                .find("'a' is in 'model-1.safetensors' and in 'model-3.safetensors' [PDL0401]"),
            std::string::npos);
  EXPECT_NE(
      Message(WeightSource::OpenInFolder(split.folder / "", "../*.safetensors")).find("[PDL0403]"),
      std::string::npos);
}

TEST(WeightSource, OtherNamesOfAModel) {
  Split split;
  split.Index("{}");
  EXPECT_NE(Message(WeightSource::Open(split.folder / "model.safetensors"))
                .find("it does not exist, but its parts have an index: "
                      "\"model.safetensors.index.json\" [PDL0401]"),
            std::string::npos);
  EXPECT_NE(Message(WeightSource::Open(split.folder / "model.bin"))
                .find("PyTorch's files are programs (pickles), which only the Python package "
                      "reads"),
            std::string::npos);
}

TEST(ConvertWeight, EachPairOfDTypes) {
  const Constant stored = Floats({2, 3}, {1, -2, 0.5f, 65504, -0.0f, 3}).ToConstant();
  const DType dtypes[] = {DType::kF16, DType::kBF16, DType::kF32, DType::kF64};
  for (const DType from : dtypes) {
    const Constant first = Unwrap(ConvertWeight(stored, from, false));
    for (const DType to : dtypes) {
      for (const bool transpose : {false, true}) {
        const Constant made = Unwrap(ConvertWeight(first, to, transpose));
        EXPECT_EQ(made.dtype(), to);
        EXPECT_EQ(made.sizes()[0], transpose ? 3 : 2);
        for (int64_t i = 0; i < 2; ++i) {
          for (int64_t j = 0; j < 3; ++j) {
            // 65504 has no bf16.
            if (i == 1 && j == 0) continue;
            EXPECT_EQ(made.ElementAsDouble(transpose ? j * 2 + i : i * 3 + j),
                      stored.ElementAsDouble(i * 3 + j));
          }
        }
      }
    }
  }
}

TEST(ConvertWeight, RoundsAndKeepsNaN) {
  const float inf = std::numeric_limits<float>::infinity();
  const Constant stored =
      Floats({4}, {1.0f + 0x1p-9f, 1e6f, inf, std::numeric_limits<float>::quiet_NaN()})
          .ToConstant();
  const Constant bf16 = Unwrap(ConvertWeight(stored, DType::kBF16, false));
  EXPECT_EQ(bf16.ElementAsDouble(0), 1.0);
  const Constant f16 = Unwrap(ConvertWeight(stored, DType::kF16, false));
  EXPECT_EQ(f16.ElementAsDouble(1), inf);
  EXPECT_EQ(f16.ElementAsDouble(2), inf);
  EXPECT_NE(f16.ElementAsDouble(3), f16.ElementAsDouble(3));
}

TEST(ConvertWeight, EmptyAndIntegers) {
  const Constant empty = Unwrap(ConvertWeight(Floats({0, 3}, {}).ToConstant(), DType::kF16, true));
  EXPECT_EQ(empty.sizes()[0], 3);
  EXPECT_EQ(empty.sizes()[1], 0);
  const std::vector<int64_t> numbers = {1, 2, 3, 4, 5, 6};
  const Constant integers = Tensor::FromValues<int64_t>(DType::kI64, {2, 3}, numbers).ToConstant();
  const Constant turned = Unwrap(ConvertWeight(integers, DType::kI64, true));
  EXPECT_EQ(turned.values<int64_t>()[1], 4);
  EXPECT_EQ(turned.values<int64_t>()[4], 3);
}

}  // namespace
}  // namespace pdl
