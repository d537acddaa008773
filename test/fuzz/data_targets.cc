// Files of tensors: tables, arrays, archives, weights.
#include <cstring>
#include <numeric>

#include "llvm/Support/Path.h"
#include "pdl/compiler/serialize.h"
#include "pdl/runtime/io.h"
#include "pdl/runtime/weight_source.h"
#include "pdl/train/dataset.h"
#include "properties.h"
#include "targets.h"

namespace pdl::fuzz {
namespace {

/// Reads each byte, so that a sanitizer reports bytes outside of an allocation.
void Touch(const Tensor& tensor) {
  if (tensor.num_elements() < 0) Fail("a tensor has a negative number of elements");
  const auto* bytes = static_cast<const unsigned char*>(tensor.raw());
  volatile unsigned sum = 0;
  for (int64_t i = 0; i < tensor.num_bytes(); ++i) sum = sum + bytes[i];
}

void CheckSame(llvm::ArrayRef<NamedTensor> written, llvm::ArrayRef<NamedTensor> read) {
  if (written.size() != read.size()) Fail("tensors got lost");
  for (const NamedTensor& tensor : written) {
    const auto* found =
        llvm::find_if(read, [&](const NamedTensor& t) { return t.first == tensor.first; });
    if (found == read.end()) Fail("no tensor '" + tensor.first + "'");
    const Tensor &a = tensor.second, &b = found->second;
    if (a.dtype() != b.dtype() || a.sizes() != b.sizes() ||
        (a.num_bytes() != 0 &&
         std::memcmp(a.raw(), b.raw(), static_cast<size_t>(a.num_bytes())) != 0))
      Fail("tensor '" + tensor.first + "' has changed");
  }
}

/// Inputs of several dtypes and ranks, the ragged and sparse ones among them. All but x, t and n
/// may be missing.
const Graph& DataGraph() {
  static const CompileResult result = CompileText(R"(
input x: f32[N, 2]
input t: i64[N] in 0..3
input n: f64[N]
input b: bool[N]
input u: u8[N, 2, 2]
input h: f16[N]
input r: f32[N, ~T, 2]
input s: sparse f32[N, 4]
output loss = mean(cross_entropy(fc(x, size=3), t)) + sum(cast(n, to=f32))
minimize loss with sgd(lr=0.1)
)");
  if (!result.graph) Fail("the network of the data does not compile");
  return *result.graph;
}

void Open(const std::string& path) {
  llvm::Expected<Dataset> data = Dataset::Open(path, DataGraph());
  if (!data) return llvm::consumeError(data.takeError());
  for (const Dataset::Field& field : data->fields()) {
    for (const Tensor& offsets : field.rows.offsets) Touch(offsets);
    Touch(field.rows.indices);
    Touch(field.rows.values);
    if (field.name == "t") {
      const auto* labels = field.rows.values.data<int64_t>();
      for (int64_t i = 0; i < data->num_rows(); ++i)
        if (labels[i] < 0 || labels[i] >= 3) Fail("a label is outside of its declared range");
    }
  }
  if (data->num_rows() > 0) (void)data->DescribeRow(data->num_rows() - 1);
}

/// Writes the file that an index may refer to, and returns its path.
std::string WritePart() {
  const std::vector<float> floats(4, 0.5f);
  std::string path = WriteInput("shard.safetensors", "");
  RequireSuccess(
      WriteSafetensors(path, {{"a", Tensor::FromValues<float>(DType::kF32, {4}, floats)},
                              {"b", Tensor::FromValues<float>(DType::kF32, {2}, floats)}}),
      "a part is not written");
  return path;
}

}  // namespace

void RunCsv(llvm::StringRef bytes) { Open(WriteInput("data.csv", bytes)); }

void RunNpy(llvm::StringRef bytes) {
  llvm::Expected<Tensor> tensor = ReadNpy(WriteInput("x.npy", bytes));
  if (!tensor) return llvm::consumeError(tensor.takeError());
  Touch(*tensor);
  if (tensor->dtype() == DType::kBF16) return;
  const std::string copy = WriteInput("copy.npy", "");
  RequireSuccess(WriteNpy(copy, *tensor), "an array that was read is not written");
  llvm::Expected<Tensor> again = ReadNpy(copy);
  if (!again) RequireSuccess(again.takeError(), "an array that was written is not read");
  CheckSame({{"x", *tensor}}, {{"x", *again}});
}

void RunNpz(llvm::StringRef bytes) {
  const std::string path = WriteInput("x.npz", bytes);
  llvm::Expected<std::vector<NamedTensor>> tensors = ReadNpz(path);
  if (!tensors) return llvm::consumeError(tensors.takeError());
  for (const NamedTensor& tensor : *tensors) Touch(tensor.second);
  const std::string copy = WriteInput("copy.npz", "");
  if (llvm::Error error = WriteNpz(copy, *tensors)) {
    llvm::consumeError(std::move(error));  // Two members may have one name.
  } else {
    llvm::Expected<std::vector<NamedTensor>> again = ReadNpz(copy);
    if (!again) RequireSuccess(again.takeError(), "an archive that was written is not read");
    CheckSame(*tensors, *again);
  }
  Open(path);
}

void RunSafetensors(llvm::StringRef bytes) {
  llvm::Expected<SafetensorsFile> file = SafetensorsFile::Open(WriteInput("x.safetensors", bytes));
  if (!file) return llvm::consumeError(file.takeError());
  std::vector<NamedTensor> tensors, tensors_again;
  for (const SafetensorsFile::Entry& entry : file->entries()) {
    tensors.emplace_back(entry.name, Tensor::FromConstant(file->Read(entry)));
    Touch(tensors.back().second);
  }
  const std::string copy = WriteInput("copy.safetensors", "");
  RequireSuccess(WriteSafetensors(copy, tensors, file->metadata()), "weights are not written");
  llvm::Expected<SafetensorsFile> again = SafetensorsFile::Open(copy);
  if (!again) RequireSuccess(again.takeError(), "weights that were written are not read");
  for (const SafetensorsFile::Entry& entry : again->entries())
    tensors_again.emplace_back(entry.name, Tensor::FromConstant(again->Read(entry)));
  CheckSame(tensors, tensors_again);
  if (file->metadata() != again->metadata()) Fail("the metadata have changed");
}

void RunWeightIndex(llvm::StringRef bytes) {
  // The part is the same for all inputs. Readers map it, and do not change it.
  static const std::string shard = WritePart();
  llvm::Expected<WeightSource> source =
      WeightSource::Open(WriteInput("model.safetensors.index.json", bytes));
  if (!source) return llvm::consumeError(source.takeError());
  for (const WeightEntry& entry : source->listing().entries) {
    if (entry.file != llvm::sys::path::filename(shard)) Fail("an index refers to " + entry.file);
    Touch(Tensor::FromConstant(source->ReadStored(entry)));
  }
}

std::vector<std::string> CsvSeeds(llvm::StringRef root) {
  std::vector<std::string> seeds = ReadFiles((root + "/test").str(), {".csv"});
  seeds.push_back(
      "x[0],x[1],t,n,b,u[0],u[1],u[2],u[3],h\n0.5,-1e3,0,1.5,true,1,2,3,255,0.5\n"
      "nan,inf,2,-0,0,0,0,0,0,1\n");
  seeds.push_back("\"x[1]\",t,\"x[0]\",n\r\n1,2,3,\"4\"\r\n\r\n1,1,1,1\r\n");
  return seeds;
}

std::vector<std::string> NpySeeds(llvm::StringRef root) {
  return ReadFiles((root + "/test").str(), {".npy"});
}

std::vector<std::string> NpzSeeds(llvm::StringRef root) {
  std::vector<std::string> seeds = ReadFiles((root + "/test").str(), {".npz"});
  const std::vector<float> floats(16, 0.5f);
  const std::vector<int64_t> integers = {0, 1, 2, 2, 2};
  auto f32 = [&](Sizes sizes) { return Tensor::FromValues<float>(DType::kF32, sizes, floats); };
  auto i64 = [&](Sizes sizes) { return Tensor::FromValues<int64_t>(DType::kI64, sizes, integers); };
  const std::vector<double> doubles(4, 1.0);
  const std::string path = WriteInput("seed.npz", "");
  RequireSuccess(WriteNpz(path, {{"x", f32({4, 2})},
                                 {"t", i64({4})},
                                 {"n", Tensor::FromValues<double>(DType::kF64, {4}, doubles)},
                                 {"r", f32({2, 2})},
                                 {"r.offsets", i64({5})},
                                 {"s", f32({2})},
                                 {"s.offsets", i64({5})},
                                 {"s.indices", i64({2})}}),
                 "the seed is not written");
  for (std::string& seed : ReadFiles(llvm::StringRef(path).rsplit('/').first, {"seed.npz"}))
    seeds.push_back(std::move(seed));
  return seeds;
}

std::vector<std::string> SafetensorsSeeds(llvm::StringRef root) {
  std::vector<std::string> seeds = ReadFiles((root + "/test").str(), {".safetensors"});
  for (std::string& seed : ReadFiles((root + "/examples").str(), {".safetensors"}))
    seeds.push_back(std::move(seed));
  return seeds;
}

std::vector<std::string> WeightIndexSeeds(llvm::StringRef) {
  return {R"({"metadata": {"total_size": 24}, "weight_map": {"a": "shard.safetensors",)"
          R"( "b": "shard.safetensors"}})",
          R"({"weight_map": {"b": "shard.safetensors"}})",
          R"({"weight_map": {"a": "../shard.safetensors"}})", R"({"weight_map": {}})"};
}

}  // namespace pdl::fuzz
