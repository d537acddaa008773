#include "pdl/train/dataset.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "runtime/io/csv.h"
#include "runtime/training/batch.h"
#include "runtime/training/fingerprint.h"
#include "runtime/training/shuffle.h"
#include "test/cc/testing/training_testing.h"

namespace pdl {
namespace {

constexpr char kDense[] = R"(input x: f32[N, 2]
input label: i64[N] in 0..3
output loss = mean(x) + mean(cast(label, to=f32))
)";

/// The error of Dataset::FromTensors.
std::string Complaint(const std::string& text, llvm::ArrayRef<NamedTensor> tensors) {
  std::string message = Message(Dataset::FromTensors(tensors, MakeGraph(text), "d.npz"));
  llvm::StringRef rest = message;
  rest.consume_back(" [PDL0515]");
  return rest.str();
}

std::string CsvComplaint(const std::string& table, const std::string& text = kDense) {
  TemporaryFolder folder;
  const std::string path = WriteBytes(folder / "d.csv", table);
  const std::string message = Message(Dataset::Open(path, MakeGraph(text)));
  llvm::StringRef rest = message;
  rest.consume_front("cannot read '" + path + "': ");
  rest.consume_back(" [PDL0401]");
  return rest.str();
}

TEST(Dataset, BatchesOfRows) {
  const Dataset data = Unwrap(Dataset::FromTensors(
      {{"label", I64({0, 1, 2})}, {"x", F32({3, 2}, {0, 1, 2, 3, 4, 5})}}, MakeGraph(kDense)));
  EXPECT_EQ(data.num_rows(), 3);
  Scope scope;
  Batch batch(data);
  ASSERT_EQ(Message(batch.Put({2, 0}, &scope)), "");
  const Tensor* x = scope.Find("x")->Get<Tensor>();
  EXPECT_EQ(x->TypeString(), "f32[2, 2]");
  EXPECT_EQ(Elements<float>(*x), (std::vector<float>{4, 5, 0, 1}));
  EXPECT_EQ(Elements<int64_t>(*scope.Find("label")->Get<Tensor>()), (std::vector<int64_t>{2, 0}));
  const void* memory = x->raw();
  ASSERT_EQ(Message(batch.Put({1}, &scope)), "");
  EXPECT_EQ(scope.Find("x")->Get<Tensor>()->raw(), memory) << "the memory is used again";
  EXPECT_EQ(Elements<float>(*scope.Find("x")->Get<Tensor>()), (std::vector<float>{2, 3}));
}

TEST(Dataset, RaggedBatches) {
  const Graph graph = MakeGraph(R"(input x: f32[N, ~T, 2]
input tag: i64[N, ~T]
input inner: f32[N, ~S, ~U]
output loss = mean(sequence_pool(x)) + mean(sequence_pool(cast(tag, to=f32))) + mean(sequence_pool(sequence_pool(inner)))
)");
  const Dataset data = Unwrap(Dataset::FromTensors(
      {{"x", F32({5, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})},
       {"x.offsets", Tensor::FromValues<int32_t>(DType::kI32, {4}, {0, 2, 2, 5})},
       {"tag", I64({10, 11, 12, 13, 14})},
       {"inner", F32({6}, {0, 1, 2, 3, 4, 5})},
       {"inner.offsets", I64({0, 1, 1, 3})},
       {"inner.offsets2", I64({0, 2, 5, 6})}},
      graph));
  EXPECT_EQ(data.num_rows(), 3);
  Scope scope;
  Batch batch(data);
  ASSERT_EQ(Message(batch.Put({2, 1, 0}, &scope)), "");
  auto tensor = [&](llvm::StringRef name) -> const Tensor& {
    return *scope.Find(name)->Get<Tensor>();
  };
  EXPECT_EQ(Elements<float>(tensor("x")), (std::vector<float>{4, 5, 6, 7, 8, 9, 0, 1, 2, 3}));
  EXPECT_EQ(Elements<int64_t>(tensor("x.offsets")), (std::vector<int64_t>{0, 3, 3, 5}));
  EXPECT_EQ(Elements<int64_t>(tensor("tag.offsets")), (std::vector<int64_t>{0, 3, 3, 5}));
  EXPECT_EQ(Elements<int64_t>(tensor("tag")), (std::vector<int64_t>{12, 13, 14, 10, 11}));
  EXPECT_EQ(Elements<float>(tensor("inner")), (std::vector<float>{2, 3, 4, 5, 0, 1}));
  EXPECT_EQ(Elements<int64_t>(tensor("inner.offsets")), (std::vector<int64_t>{0, 2, 2, 3}));
  EXPECT_EQ(Elements<int64_t>(tensor("inner.offsets2")), (std::vector<int64_t>{0, 3, 4, 6}));
}

constexpr char kSparse[] = R"(input x: sparse f32[N, 4]
input ones: sparse bool[N, 3]
param w: f32[4, 1] = ones()
param v: f32[3, 1] = ones()
output loss = mean(x @ w) + mean(ones @ v)
)";

TEST(Dataset, SparseBatches) {
  const Dataset data = Unwrap(Dataset::FromTensors({{"x", F32({3}, {1, 2, 3})},
                                                    {"x.offsets", I64({0, 2, 3})},
                                                    {"x.indices", I64({0, 3, 1})},
                                                    {"ones.offsets", I64({0, 0, 2})},
                                                    {"ones.indices", I64({0, 2})}},
                                                   MakeGraph(kSparse)));
  Scope scope;
  Batch batch(data);
  ASSERT_EQ(Message(batch.Put({1, 0}, &scope)), "");
  auto places = [&](llvm::StringRef name) {
    return Elements<int64_t>(*scope.Find(name)->Get<Tensor>());
  };
  EXPECT_EQ(Elements<float>(*scope.Find("x")->Get<Tensor>()), (std::vector<float>{3, 1, 2}));
  EXPECT_EQ(places("x.offsets"), (std::vector<int64_t>{0, 1, 3}));
  EXPECT_EQ(places("x.indices"), (std::vector<int64_t>{1, 0, 3}));
  EXPECT_EQ(places("ones.offsets"), (std::vector<int64_t>{0, 2, 2}));
  EXPECT_EQ(places("ones.indices"), (std::vector<int64_t>{0, 2}));
}

TEST(Dataset, BatchesOfSequencesOfSparseRows) {
  constexpr char kText[] = R"(input x: sparse f32[N, ~T, 4]
param w: f32[4, 1] = ones()
output loss = mean(sequence_pool(x @ w))
)";
  const std::vector<NamedTensor> arrays = {{"x", F32({3}, {1, 2, 3})},
                                           {"x.offsets", I64({0, 2, 2, 3})},
                                           {"x.offsets2", I64({0, 1, 1, 3})},
                                           {"x.indices", I64({0, 3, 1})}};
  const Dataset data = Unwrap(Dataset::FromTensors(arrays, MakeGraph(kText)));
  Scope scope;
  Batch batch(data);
  ASSERT_EQ(Message(batch.Put({2, 0}, &scope)), "");
  auto places = [&](llvm::StringRef name) {
    return Elements<int64_t>(*scope.Find(name)->Get<Tensor>());
  };
  EXPECT_EQ(Elements<float>(*scope.Find("x")->Get<Tensor>()), (std::vector<float>{2, 3, 1}));
  EXPECT_EQ(places("x.offsets"), (std::vector<int64_t>{0, 1, 3}));
  EXPECT_EQ(places("x.offsets2"), (std::vector<int64_t>{0, 2, 3, 3}));
  EXPECT_EQ(places("x.indices"), (std::vector<int64_t>{3, 1, 0}));
  EXPECT_EQ(Complaint(kText, {arrays[0], arrays[1], arrays[3]}),
            "d.npz has no array 'x.offsets2' for input 'x': sparse f32[N, ~T, 4], it has x, "
            "x.offsets, x.indices");
  EXPECT_EQ(Complaint(kText, {arrays[0], arrays[1], arrays[2], {"x.indices", I64({0, 3, 4})}}),
            "d.npz: input 'x' is declared sparse f32[N, ~T, 4], but row 2 has the column index 4");
}

TEST(Dataset, FoldersWithSciPyMatrices) {
  TemporaryFolder folder;
  const Tensor shape = I64({2, 4});
  ASSERT_EQ(Message(WriteNpz(folder / "x.npz", {{"indptr", I64({0, 2, 3})},
                                                {"indices", I64({0, 3, 1})},
                                                {"data", F32({3}, {1, 2, 3})},
                                                {"shape", shape}})),
            "");
  ASSERT_EQ(Message(WriteNpy(folder / "ones.offsets.npy", I64({0, 0, 2}))), "");
  ASSERT_EQ(Message(WriteNpy(folder / "ones.indices.npy", I64({0, 2}))), "");
  WriteBytes(folder / "readme.txt", "not an array");
  const Dataset data = Unwrap(Dataset::Open(folder.path(), MakeGraph(kSparse)));
  ASSERT_EQ(data.fields().size(), 2u);
  EXPECT_EQ(Elements<float>(data.fields()[0].rows.values), (std::vector<float>{1, 2, 3}));
}

TEST(Dataset, ArchivesAndFolders) {
  TemporaryFolder folder;
  const std::vector<NamedTensor> tensors = LinePoints(7);
  ASSERT_EQ(Message(WriteNpz(folder / "d.npz", tensors)), "");
  for (const auto& [name, tensor] : tensors)
    ASSERT_EQ(Message(WriteNpy(folder / (name + ".npy"), tensor)), "");
  for (const std::string& path : {folder / "d.npz", folder.path()}) {
    const Dataset data = Unwrap(Dataset::Open(path, MakeGraph(kLine)));
    EXPECT_EQ(data.num_rows(), 7) << path;
    EXPECT_EQ(Bytes(data.fields()[0].rows.values), Bytes(tensors[0].second)) << path;
  }
}

TEST(Dataset, Tables) {
  TemporaryFolder folder;
  const std::string path = WriteBytes(folder / "d.csv",
                                      "\xef\xbb\xbfx[1],label,x[0],\"other, one\"\r\n"
                                      "1.5,2,-0.25,abc\r\n\r\n"
                                      "\"1e-3\", +1 ,inf,\"a\"\"b\"\n"
                                      "1e-60,0,nan,");
  const Dataset data = Unwrap(Dataset::Open(path, MakeGraph(kDense)));
  ASSERT_EQ(data.num_rows(), 3);
  const Tensor& x = data.fields()[0].rows.values;
  EXPECT_EQ(x.TypeString(), "f32[3, 2]");
  EXPECT_EQ(Elements<float>(x)[0], -0.25f);
  EXPECT_EQ(Elements<float>(x)[3], 1e-3f);
  EXPECT_EQ(Elements<float>(x)[2], std::numeric_limits<float>::infinity());
  EXPECT_EQ(Elements<float>(x)[5], 0) << "too small a number is 0";
  EXPECT_EQ(Elements<int64_t>(data.fields()[1].rows.values), (std::vector<int64_t>{2, 1, 0}));

  const Graph image = MakeGraph("input x: f32[N, 2, 2]\noutput loss = mean(x)\n");
  WriteBytes(path, "x[0],x[1],x[2],x[3]\n0,1,2,3\n");
  EXPECT_EQ(Unwrap(Dataset::Open(path, image)).fields()[0].rows.values.TypeString(),
            "f32[1, 2, 2]");
}

TEST(Dataset, BrokenTables) {
  EXPECT_EQ(CsvComplaint(""), "its first line must name the columns, such as: x[0],x[1],label");
  EXPECT_EQ(CsvComplaint("x[0],x[1],,label\n"), "column 3 has no name");
  EXPECT_EQ(CsvComplaint("x[0],x[one],label\n"),
            "column 2 has the name 'x[one]', expected a name such as x or x[0]");
  EXPECT_EQ(CsvComplaint("x[0],x[0],label\n"), "two columns have the name 'x[0]'");
  EXPECT_EQ(CsvComplaint("x[0],x,label\n"), "'x' and 'x[0]' cannot both be columns");
  EXPECT_EQ(CsvComplaint("x[0],x[2],label\n"), "there is the column 'x[2]', but not 'x[1]'");
  EXPECT_EQ(CsvComplaint("x[9223372036854775807],x[1],label\n1,2,0\n"),
            "there is the column 'x[9223372036854775807]', but not 'x[0]'");
  EXPECT_EQ(CsvComplaint("x[9223372036854775808],x[1],label\n1,2,0\n"),
            "column 1 has the name 'x[9223372036854775808]', expected a name such as x or x[0]");
  EXPECT_EQ(CsvComplaint("x[0],\"x[1],label\n"), "line 1 has an unterminated quote");
  EXPECT_EQ(CsvComplaint("x[0],x[1],label\n0,0,0\n0,0\n"), "line 3 has 2 fields, but line 1 has 3");
  EXPECT_EQ(CsvComplaint("x[0],x[1],label\n0,0,0,0\n"), "line 2 has 4 fields, but line 1 has 3");
  EXPECT_EQ(CsvComplaint("x[0],x[1],label\n\n0,zero,0\n"),
            "line 3, column 'x[1]': expected f32, got 'zero'");
  EXPECT_EQ(CsvComplaint("x[0],x[1],label\n0,,0\n"), "line 2, column 'x[1]': expected f32, got ''");
  EXPECT_EQ(CsvComplaint("x[0],x[1],label\n0,0,1.5\n"),
            "line 2, column 'label': expected i64, got '1.5'");
  // A number outside the range of the dtype is an error; only a literal infinity is one.
  EXPECT_EQ(CsvComplaint("x[0],x[1],label\n1,-1e39,0\n"),
            "line 2, column 'x[1]': expected f32, got '-1e39', which is too large for it");
  const char kNarrow[] =
      "input h: f16[N]\ninput b: bf16[N]\ninput d: f64[N]\n"
      "output l = mean(h) + cast(mean(b), to=f16) + cast(mean(d), to=f16)\n";
  EXPECT_EQ(
      CsvComplaint("h,b,d\n65504,-3e38,1e308\ninf,-inf,-Infinity\n1e-30,1e-60,1e-400\n", kNarrow),
      "");
  EXPECT_EQ(CsvComplaint("h,b,d\n70000,1,1\n", kNarrow),
            "line 2, column 'h': expected f16, got '70000', which is too large for it");
  EXPECT_EQ(CsvComplaint("h,b,d\n1,3.4e38,1\n", kNarrow),
            "line 2, column 'b': expected bf16, got '3.4e38', which is too large for it");
  EXPECT_EQ(CsvComplaint("h,b,d\n1,1,1\n1,1,-1e400\n", kNarrow),
            "line 3, column 'd': expected f64, got '-1e400', which is too large for it");
  // Rows are not lines.
  const std::string outside = CsvComplaint("x[0],x[1],label\n0,0,0\n\n\n0,0,0\n0,0,3\n");
  EXPECT_EQ(outside.substr(outside.find("d.csv: ")),
            "d.csv: input 'label' must be in 0..3, but row 2 (line 6) has 3 [PDL0512]");
}

TEST(Dataset, WhatDoesNotFit) {
  const NamedTensor x = {"x", F32({2, 2}, {0, 0, 0, 0})}, label = {"label", I64({0, 1})};
  EXPECT_EQ(Complaint(kDense, {x, label}), "");
  EXPECT_EQ(Complaint(kDense, {x, {"labels", I64({0, 1})}}),
            "d.npz has no array 'label' for input 'label': i64[N] in 0..3, did you mean 'labels'?");
  EXPECT_EQ(Complaint(kDense, {x, {"y", I64({0, 1})}}),
            "d.npz has no array 'label' for input 'label': i64[N] in 0..3, it has x, y");
  EXPECT_EQ(
      Complaint(kDense, {{"x", Tensor::FromValues<double>(DType::kF64, {1, 2}, {0, 0})},
                         {"label", I64({0})}}),
      "d.npz: input 'x' is declared f32[N, 2], but the array holds f64[1, 2]: save it as f32; "
      "nothing is converted silently");
  EXPECT_EQ(Complaint(kDense, {{"x", F32({2, 3}, {0, 0, 0, 0, 0, 0})}, label}),
            "d.npz: input 'x' is declared f32[N, 2], but the array holds f32[2, 3]");
  EXPECT_EQ(Complaint(kDense, {x, {"label", I64({0, 1, 2})}}),
            "d.npz: input 'label' has 3 rows, but 'x' has 2");
  EXPECT_EQ(Complaint(kDense, {x, {"label", I64({0, 3})}}),
            "d.npz: input 'label' must be in 0..3, but row 1 has 3 [PDL0512]");
  EXPECT_EQ(Complaint(kDense, {{"x", F32({0, 2}, {})}, {"label", I64({})}}),
            "d.npz has no rows: 'x' is empty");
  EXPECT_EQ(Complaint(kDense, {}),
            "d.npz has no array 'x' for input 'x': f32[N, 2], it has none [PDL0515]\n"
            "d.npz has no array 'label' for input 'label': i64[N] in 0..3, it has none");
  EXPECT_EQ(Complaint("input x: f32[N, T]\ninput y: f32[N, T]\noutput s = mean(x * y)\n",
                      {x, {"y", F32({2, 1}, {0, 0})}}),
            "d.npz: 'T' is 2 by input 'x' and 1 by input 'y'");
}

TEST(Dataset, WhatIsNoBatch) {
  const NamedTensor x = {"x", F32({2, 2}, {0, 0, 0, 0})};
  EXPECT_EQ(Complaint("input x: f32[2, 2]\noutput s = mean(x)\n", {x}),
            "input 'x' is declared f32[2, 2]: its first dim must be a symbol, such as N, for "
            "the rows of a batch");
  EXPECT_EQ(Complaint("input x: f32[N, 2]\ninput k: f32[]\noutput s = mean(x) * k\n", {x}),
            "input 'k' is declared f32[]: its first dim must be a symbol, such as N, for the "
            "rows of a batch");
  EXPECT_EQ(Complaint("input x: f32[N, 2]\ninput y: f32[M]\noutput s = mean(x) * mean(y)\n", {x}),
            "inputs 'x' and 'y' are declared f32[N, 2] and f32[M]: the first dims of all "
            "inputs must be the same symbol, for the rows of a batch");
  EXPECT_EQ(Complaint("output s = 1.0 * ones([])\n", {x}),
            "the network has no input that takes data");
  // An input that neither a loss nor a metric depends on.
  EXPECT_EQ(
      Complaint("input x: f32[N, 2]\ninput k: f32[]\noutput s = mean(x)\noutput y = x * k\n", {x}),
      "");
}

TEST(Dataset, BrokenOffsets) {
  const std::string text = "input x: f32[N, ~T]\noutput loss = mean(sequence_pool(x))\n";
  const NamedTensor x = {"x", F32({3}, {0, 1, 2})};
  EXPECT_EQ(Complaint(text, {x, {"x.offsets", I64({0, 1, 3})}}), "");
  EXPECT_EQ(Complaint(text, {x}),
            "d.npz has no array 'x.offsets' for input 'x': f32[N, ~T], it has x");
  EXPECT_EQ(
      Complaint(text, {x, {"x.offsets", F32({2}, {0, 3})}}),
      "d.npz: 'x.offsets' must be i64 offsets, one more than rows, but the array holds f32[2]");
  EXPECT_NE(Complaint(text, {x, {"x.offsets", I64({0, 2})}}).find("d.npz: 'x.offsets': "),
            std::string::npos);
  EXPECT_EQ(Complaint(kSparse, {{"x", F32({1}, {1})},
                                {"x.offsets", I64({0, 1})},
                                {"x.indices", I64({4})},
                                {"ones.offsets", I64({0, 0})},
                                {"ones.indices", I64({})}}),
            "d.npz: input 'x' is declared sparse f32[N, 4], but row 0 has the column index 4");
}

TEST(Dataset, RaggedInputsThatDoNotFit) {
  const std::string text = R"(input x: f32[N, ~T]
input word: i64[N, ~T] in 0..3
output loss = mean(sequence_pool(x)) + mean(sequence_pool(cast(word, to=f32)))
)";
  const NamedTensor x = {"x", F32({4}, {0, 1, 2, 3})}, word = {"word", I64({0, 1, 2, 0})},
                    offsets = {"x.offsets", I64({0, 1, 1, 4})};
  EXPECT_EQ(Complaint(text, {x, word, offsets}), "");
  EXPECT_EQ(
      Complaint(text, {x, word, offsets, {"word.offsets", I64({0, 1, 2, 4})}}),
      "d.npz: inputs 'x' and 'word' share the lengths ~T, but row 1 has 0 in the one and 1 in "
      "the other [PDL0513]");
  EXPECT_EQ(Complaint(text, {x, word, offsets, {"word.offsets", I64({0, 1, 4})}}),
            "d.npz: input 'word' has 2 rows, but 'x' has 3");
  EXPECT_EQ(Complaint(text, {x, {"word", I64({0, 1, 3, 0})}, offsets}),
            "d.npz: input 'word' must be in 0..3, but row 2 has 3 [PDL0512]");
  EXPECT_EQ(Complaint(text, {{"x", F32({}, {0})}, word, offsets}),
            "d.npz: 'x' must be packed rows, but the array holds f32[]");
  EXPECT_NE(CsvComplaint("x,word\n0,1\n", text)
                .find("d.csv is a table with one line for each row, so it cannot hold input 'x': "
                      "f32[N, ~T]; use a .npz or a folder [PDL0515]\n"),
            std::string::npos);
}

TEST(Dataset, SparseInputsThatDoNotFit) {
  const NamedTensor ones[] = {{"ones.offsets", I64({0, 0, 1})}, {"ones.indices", I64({2})}};
  const NamedTensor x = {"x", F32({2}, {1, 2})}, offsets = {"x.offsets", I64({0, 1, 2})},
                    indices = {"x.indices", I64({0, 3})};
  EXPECT_EQ(Complaint(kSparse, {x, offsets, indices, ones[0], ones[1]}), "");
  EXPECT_EQ(Complaint(kSparse, {{"x", F32({3}, {1, 2, 3})}, offsets, indices, ones[0], ones[1]}),
            "d.npz: 'x' has 3 elements, but its indices have 2");
  EXPECT_EQ(Complaint(kSparse, {x, offsets, {"x.indices", F32({2}, {0, 3})}, ones[0], ones[1]}),
            "d.npz: 'x.indices' must be i64 column indices, but the array holds f32[2]");
  EXPECT_EQ(Complaint(kSparse, {x, offsets, ones[0], ones[1]}),
            "d.npz has no array 'x.indices' for input 'x': sparse f32[N, 4], it has x, x.offsets, "
            "ones.offsets, ones.indices");
  TemporaryFolder folder;
  const std::string path = folder / "x.npz";
  ASSERT_EQ(Message(WriteNpz(path, {{"row", I64({0})}, {"data", F32({1}, {1})}})), "");
  EXPECT_EQ(Message(Dataset::Open(folder.path(), MakeGraph(kSparse))),
            "cannot read '" + path +
                "': it is not a sparse matrix in CSR format: it has no array 'indptr' [PDL0401]");
}

TEST(Dataset, WhatIsNoData) {
  TemporaryFolder folder;
  const Graph graph = MakeGraph(kDense);
  EXPECT_EQ(Message(Dataset::Open("nothing.npz", graph)),
            "cannot read 'nothing.npz': No such file or directory [PDL0401]");
  EXPECT_EQ(Message(Dataset::Open("nothing", graph)),
            "cannot read 'nothing': there is no such file or folder [PDL0401]");
  const std::string text = WriteBytes(folder / "d.txt", "x");
  EXPECT_EQ(
      Message(Dataset::Open(text, graph)),
      "cannot read '" + text +
          "': training data must be a .npz, a folder of .npy files, or a .csv table [PDL0401]");
}

TEST(Shuffle, IsAPermutationThatTheSeedDecides) {
  std::vector<int64_t> rows = ShuffledRows(1000, 7, 0);
  EXPECT_EQ(rows, ShuffledRows(1000, 7, 0));
  EXPECT_NE(rows, ShuffledRows(1000, 7, 1));
  EXPECT_NE(rows, ShuffledRows(1000, 8, 0));
  std::vector<int64_t> sorted = rows, all(1000);
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(sorted, all);
  EXPECT_TRUE(ShuffledRows(0, 7, 0).empty());
  // The order is the same on all machines and in all releases, since resumed runs depend on it.
  EXPECT_EQ(ShuffledRows(8, 0, 0), (std::vector<int64_t>{7, 0, 4, 6, 5, 2, 3, 1}));
  // All permutations of three are about equally frequent.
  std::map<std::vector<int64_t>, int> counts;
  for (uint64_t epoch = 0; epoch < 6000; ++epoch) ++counts[ShuffledRows(3, 1, epoch)];
  EXPECT_EQ(counts.size(), 6u);
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, 1000, 150);
}

TEST(Fingerprint, OfLargeArraysASample) {
  std::vector<float> values(1 << 20);
  auto hash = [&](llvm::ArrayRef<int64_t> sizes) {
    return FingerprintOf(Constant::Copy(DType::kF32, sizes, values.data()));
  };
  const std::string before = hash({1 << 20});
  EXPECT_EQ(hash({1 << 20}), before);
  EXPECT_NE(hash({2, 1 << 19}), before);
  EXPECT_NE(hash({1 << 18}), before) << "whole";
  for (const size_t at : {size_t{0}, values.size() - 1}) {
    values[at] = 1;
    EXPECT_NE(hash({1 << 20}), before) << at;
    values[at] = 0;
  }
}

}  // namespace
}  // namespace pdl
