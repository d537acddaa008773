// TfIdfVectorizer: counts n-grams of tokens.
#include <algorithm>

#include "onnx/import/node.h"
#include "onnx/import/rules.h"

namespace pdl {
namespace {

/// The most comparisons in one call.
constexpr int64_t kMaxCompared = int64_t{1} << 22;

/// The n-grams of one length, and the columns of their counts.
struct Grams {
  int64_t length = 0, count = 0;
  std::vector<int64_t> tokens;   // of all n-grams, one after another
  std::vector<int64_t> columns;  // columns of the result
};

class TfIdf {
 public:
  explicit TfIdf(Node& n) : n_(n) {}
  void Convert();

 private:
  bool ReadGrams();
  /// Counts the occurrences of each n-gram: [..., grams].
  Value* CountOf(Value* x, int64_t size, const Grams& grams, int64_t skips);

  Node& n_;
  std::vector<Grams> all_;
  int64_t width_ = 0;
};

bool TfIdf::ReadGrams() {
  const std::vector<int64_t> starts = n_.Ints("ngram_counts"), pool = n_.Ints("pool_int64s"),
                             columns = n_.Ints("ngram_indexes");
  if (n_.HasAttribute("pool_strings")) n_.Unsupported("elements of type STRING are not supported");
  const int64_t shortest = n_.Int("min_gram_length", 1), longest = n_.Int("max_gram_length", 1);
  for (const int64_t column : columns) {
    if (column < 0 || column >= KnownValues::kMaxElements) n_.Fail("an ngram_index of {0}", column);
    width_ = std::max(width_, column + 1);
  }
  size_t id = 0;
  for (size_t i = 0; i < starts.size() && !n_.failed(); ++i) {
    Grams grams;
    grams.length = static_cast<int64_t>(i) + 1;
    const int64_t begin = starts[i];
    const int64_t end = i + 1 < starts.size() ? starts[i + 1] : static_cast<int64_t>(pool.size());
    if (begin < 0 || end < begin || end > static_cast<int64_t>(pool.size()) ||
        (end - begin) % grams.length != 0) {
      n_.Fail("ngram_counts do not fit a pool of {0}", pool.size());
      break;
    }
    grams.count = (end - begin) / grams.length;
    grams.tokens.assign(pool.begin() + begin, pool.begin() + end);
    if (id + static_cast<size_t>(grams.count) > columns.size()) {
      n_.Fail("{0} ngram_indexes for more n-grams", columns.size());
      break;
    }
    grams.columns.assign(columns.begin() + static_cast<int64_t>(id),
                         columns.begin() + static_cast<int64_t>(id) + grams.count);
    id += static_cast<size_t>(grams.count);
    const bool is_requested = grams.length >= shortest && grams.length <= longest;
    if (is_requested && grams.count > 0) all_.push_back(std::move(grams));
  }
  return !n_.failed();
}

Value* TfIdf::CountOf(Value* x, int64_t size, const Grams& grams, int64_t skips) {
  std::vector<int64_t> indices;
  const int64_t most = kMaxCompared / grams.count;
  for (int64_t step = 1; step <= (grams.length == 1 ? 1 : skips + 1); ++step) {
    const int64_t windows = size - step * (grams.length - 1);
    if (windows <= 0) break;
    if (windows > (most - static_cast<int64_t>(indices.size())) / grams.length) {
      n_.Unsupported("{0} n-grams of {1} in {2} tokens", grams.count, grams.length, size);
      return nullptr;
    }
    for (int64_t begin = 0; begin < windows; ++begin)
      for (int64_t i = 0; i < grams.length; ++i) indices.push_back(begin + i * step);
  }
  Shape dims(x->type().dims.begin(), x->type().dims.end() - 1);
  dims.emplace_back(static_cast<int64_t>(indices.size()) / grams.length);
  dims.emplace_back(1);
  dims.emplace_back(grams.length);
  Value* windows =
      n_.Reshape(n_.Call("gather", {x, n_.Literal(indices)}, {{"axis", int64_t{-1}}}), dims);
  Value* tokens =
      n_.Literal(Constant::Copy(DType::kI64, {grams.count, grams.length}, grams.tokens.data()));
  const std::vector<int64_t> last = {-1}, before = {-2};
  Value* found = n_.Call("all", {n_.Call("equal", {windows, tokens})}, {{"axes", last}});
  return n_.Call("sum", {n_.Cast(found, DType::kF32)}, {{"axes", before}});
}

void TfIdf::Convert() {
  Value* x = n_.Cast(n_.In(0), DType::kI64);
  if (x == nullptr) return;
  const unsigned rank = x->type().rank();
  if (rank < 1 || rank > 2) return n_.Fail("{0} dims", rank);
  if (!x->type().dims.back().is_constant()) return n_.Unsupported("an unknown number of tokens");
  const int64_t size = x->type().dims.back().constant(), skips = n_.Int("max_skip_count", 0);
  const std::string mode = n_.String("mode", "");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") return n_.Fail("mode '{0}'", mode);
  if (skips < 0 || skips > kMaxCompared) return n_.Unsupported("max_skip_count {0}", skips);
  if (!ReadGrams()) return;
  Shape dims(x->type().dims.begin(), x->type().dims.end() - 1);
  dims.emplace_back(width_);
  Value* y = n_.Filled(dims, 0, DType::kF32);
  for (const Grams& grams : all_) {
    if (size <= grams.length - 1) continue;
    if (grams.count > kMaxCompared / std::max<int64_t>(width_, 1))
      return n_.Unsupported("{0} n-grams", grams.count);
    std::vector<float> to(static_cast<size_t>(grams.count * width_));
    for (size_t i = 0; i < grams.columns.size(); ++i)
      to[i * static_cast<size_t>(width_) + static_cast<size_t>(grams.columns[i])] = 1;
    Value* matrix = n_.Literal(Constant::Copy(DType::kF32, {grams.count, width_}, to.data()));
    y = n_.Add(y, n_.Call("matmul", {CountOf(x, size, grams, skips), matrix}));
  }
  if (mode != "TF") {
    std::vector<float> weights(static_cast<size_t>(width_), 1);
    const std::vector<double> given = n_.Floats("weights");
    const std::vector<int64_t> columns = n_.Ints("ngram_indexes");
    for (size_t i = 0; i < columns.size() && i < given.size(); ++i)
      weights[static_cast<size_t>(columns[i])] = static_cast<float>(given[i]);
    if (mode == "IDF") y = n_.Cast(n_.Call("greater", {y, n_.Scalar(0, y)}), DType::kF32);
    y = n_.Mul(y, n_.Literal(Constant::Copy(DType::kF32, {width_}, weights.data())));
  }
  n_.Out(y);
}

void ConvertTfIdf(Node& n) { TfIdf(n).Convert(); }

}  // namespace

llvm::ArrayRef<OnnxRule> NgramRules() {
  static const OnnxRule kRules[] = {{"TfIdfVectorizer", ConvertTfIdf}};
  return kRules;
}

}  // namespace pdl
