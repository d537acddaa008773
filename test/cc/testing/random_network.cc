#include "test/cc/testing/random_network.h"

#include <random>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

namespace pdl {
namespace {

/// A floating-point value with its dims as source.
struct Made {
  std::string name;
  std::vector<std::string> dims;
  bool is_ragged() const { return dims.size() > 1 && dims[1][0] == '~'; }
};

class NetworkGenerator {
 public:
  NetworkGenerator(uint64_t seed, unsigned size) : random_(seed), budget_(size) {}

  std::string Network() {
    Layers();
    Line("input x: f32[N, 4]");
    values_.push_back({"x", {"N", "4"}});
    Line("input ids: i64[N] in 0..7");
    if (Chance(50)) Input("seq", {"N", "T", "4"});
    if (Chance(50)) Input("rows", {"N", "~R", "4"});
    if (Chance(30)) Input("deep", {"N", "~R", "~S", "2"});
    if (Chance(40)) Input("wide", {"2*H", "K + 1"});
    if (Chance(40)) Input("square", {"N", "N"});
    if (Chance(30)) Input("row", {"4"});
    if (has_sparse_ = Chance(30); has_sparse_) Line("input bag: sparse f32[N, 6]");
    while (budget_ > 0) Statement();
    Ends();
    return std::move(text_);
  }

 private:
  uint32_t Below(size_t n) { return static_cast<uint32_t>(random_() % n); }
  bool Chance(uint32_t percent) { return Below(100) < percent; }
  std::string Pick(llvm::ArrayRef<const char*> items) { return items[Below(items.size())]; }
  const Made& Some() { return values_[Below(values_.size())]; }
  void Line(const std::string& text) { text_ += std::string(2 * indent_, ' ') + text + "\n"; }
  std::string NewName() { return Pick({"a", "b", "h", "y", "out", "z"}) + std::to_string(++last_); }

  static std::string Join(const std::vector<std::string>& dims) {
    return "[" + llvm::join(dims, ", ") + "]";
  }

  void Input(const std::string& name, std::vector<std::string> dims) {
    if (Chance(20)) Line("## What " + name + " is,\n## in \"two\" lines.");
    Line("input " + name + ": f32" + Join(dims));
    values_.push_back({name, std::move(dims)});
  }

  void Layers() {
    Line(
        "layer around(v: F[N, ..., D], size: int > 0 = 3, act: function = tanh()) {\n"
        "  y = v |> fc(size=size) |> act()\n"
        "  return v + fc(y, size=D)\n"
        "}");
    Line(
        "layer often(v: F[..., D], times: int > 0 = 2) {\n"
        "  all = []\n"
        "  for i in 0..times { all = [all..., v * (i + 1) / D] }\n"
        "  return sum=add_n(all...), last=all[-1]\n"
        "}");
    Line(
        "layer cell(v: F[N, D], h: F[N, D], rate: float in 0..=1 = 0.5) {\n"
        "  param w: F[D, D] = uniform(low=-0.5, high=0.5)\n"
        "  next = rate * h + (1 - rate) * tanh(v @ w)\n"
        "  return h=next, y=next\n"
        "}");
    Line(
        "layer mean_so_far(v: F[...]) {\n"
        "  state total: f32[] = zeros()\n"
        "  state runs: i64[] = zeros()\n"
        "  update total = total + mean(v)\n"
        "  update runs = runs + 1\n"
        "  return total / cast(runs, to=f32)\n"
        "}");
  }

  // Number literals of all kinds.
  std::string Number() {
    return Pick({"2", "0.1", "1e-3", "-0.0", "1e-40", "3.4028235e38", "inf", "-inf", "nan",
                 "0.3333333333333333", "1_000", "16777217.0", "5e-324", "-1"});
  }

  // A call on a value of any dims whose result has the same dims.
  std::string Elementwise(const Made& v) {
    switch (Below(12)) {
      case 0:
        return "relu(" + v.name + ")";
      case 1:
        return "cos(" + v.name + ", scale=" + Pick({"0.5", "2.5", "1e-3", "7"}) + ")";
      case 2:
        return v.name + " * " + Number() + " + " + v.name;
      case 3:
        return "where(" + v.name + " > " + Number() + ", " + v.name + ", " + Number() + ")";
      case 4:
        return "-" + v.name + " ** 2";
      case 5:
        return v.name + " |> tanh() |> sigmoid()";
      case 6:
        return "dropout(" + v.name + ", p=0.25)";
      case 7:
        return v.name + " + uniform(dims(" + v.name + "), low=-2.0)";
      case 8:
        return v.name + " * cast(N, to=f32) / (N + 1)";
      case 9:
        if (v.dims.empty()) return "exp(" + v.name + ")";
        return "often(" + v.name + ", times=" + Pick({"1", "2", "3"}) + ")" +
               Pick({"", ".sum", ".last"});
      case 10:
        return "clip(" + v.name + ", low=-1.5, high=" + Pick({"1.5", "inf", "1e300"}) + ")";
      default:
        return "stop_gradient(" + v.name + ") + ones(dims(" + v.name + "))";
    }
  }

  void Assign(const std::string& value, std::vector<std::string> dims) {
    const std::string name = NewName();
    const bool is_plain = dims.size() < 2 || dims[1][0] != '~';
    const std::string type = is_plain && Chance(10) ? ": f32" + Join(dims) : "";
    if (Chance(5)) Line("## " + name + " is made by chance.");
    Line(name + type + " = " + value);
    if (indent_ == 0) values_.push_back({name, std::move(dims)});
  }

  // A value whose dims differ from those of its operands.
  void Reshaped(const Made& v) {
    const std::vector<std::string>& dims = v.dims;
    if (v.is_ragged()) {
      std::vector<std::string> more = dims;
      switch (Below(5)) {
        case 0:
          more.insert(more.end() - 1, "1");
          return Assign(v.name + (dims.size() == 3 ? "[:, :, none]" : "[:, :, :, none]"), more);
        case 1:
          more.back() = "2";
          return Assign(v.name + (dims.size() == 3 ? "[:, :, 0:2]" : "[..., 0:2]"), more);
        case 2:
          return Assign("sum(" + v.name + ")", {});
        case 3:
          more.back() = "5";
          return Assign("fc(" + v.name + ", size=5)", more);
        default:
          if (dims.size() == 3)
            return Assign("sequence_pool(" + v.name + ", kind=\"mean\")", {"N", dims[2]});
          return Assign("sequence_reverse(" + v.name + ")", dims);
      }
    }
    if (dims.empty()) return Assign(v.name + " * ones([N, 4])", {"N", "4"});
    std::vector<std::string> other = dims;
    switch (Below(11)) {
      case 0:
        other.insert(other.begin() + 1, "1");
        return Assign(v.name + "[:, none]", other);
      case 1:
        other[0] = "(" + dims[0] + ") // 2";
        return Assign(v.name + "[0:" + other[0] + "]", other);
      case 2:
        other[0] = "2 * (" + dims[0] + ")";
        return Assign("concat(" + v.name + ", " + v.name + ", axis=0)", other);
      case 3: {
        std::string size = "1";
        for (const std::string& dim : dims) size += " * (" + dim + ")";
        return Assign("reshape(" + v.name + ", [" + size + "])", {size});
      }
      case 4:
        other[0] = dims[0] + " + 3";
        return Assign("pad(" + v.name + ", before=[1], after=[2], axes=[0])", other);
      case 5:
        other.erase(other.begin());
        return Assign(Pick({"sum", "mean", "max"}) + "(" + v.name + ", axes=[0])", other);
      case 6:
        return Assign(v.name + "[::-1]", dims);
      case 7:
        other.push_back("3");
        return Assign("stack(" + v.name + ", " + v.name + ", " + v.name + ", axis=-1)", other);
      case 8:
        other[0] = "min(" + dims[0] + ", 2)";
        return Assign(v.name + "[0:" + other[0] + "]", other);
      case 9:
        other[0] = "(" + dims[0] + ") % 2 + 1";
        return Assign("ones(" + Join(other) + ") * sum(" + v.name + ")", other);
      default:
        if (dims.size() != 2) return Assign("softmax(" + v.name + ")", dims);
        return Assign("transpose(" + v.name + ", [1, 0])", {dims[1], dims[0]});
    }
  }

  void Variable() {
    const std::string name = NewName();
    if (Chance(50)) {
      Line("param " + name + ": f32[4, 3] = " +
           Pick({"normal(std=0.02)", "zeros()", "uniform(low=-1.0, high=1e-3)", "xavier_uniform()",
                 "fill(value=0.1)", "normal(std=1) with {weight_decay=1e-4, lr_scale=0.1}",
                 "ones() with {trainable=false, gradient_clipping=0.5}"}));
      values_.push_back({name, {"4", "3"}});
    } else {
      Line("state " + name + ": f32[4] = " + Pick({"zeros()", "ones()"}));
      Line("update " + name + " = " + name + " * 0.5 + mean(x, axes=[0])");
      values_.push_back({name, {"4"}});
    }
  }

  void Loop() {
    const Made v = Some();
    const std::string name = NewName();
    Line(name + " = " + v.name);
    Line("for i in 0.." + Pick({"1", "2", "3"}) + " {");
    ++indent_;
    Line(name + " = " + Elementwise({name, v.dims}));
    if (Chance(30)) Line("if i == 1 { " + name + " = " + name + " / 2 }");
    --indent_;
    Line("}");
    values_.push_back({name, v.dims});
  }

  void BothSides() {
    const Made v = Some();
    const std::string name = NewName();
    Line(name + " = " + v.name);
    Line("if " + Pick({"training", "N > 2", "N % 2 == 1 and not training", "N in 1..4"}) + " {");
    ++indent_;
    Line(name + " = " + Elementwise({name, v.dims}));
    --indent_;
    Line(Chance(50) ? "}" : "} else { " + name + " = " + Elementwise({name, v.dims}) + " }");
    values_.push_back({name, v.dims});
  }

  void Body() {
    for (const Made& v : values_) {
      const bool is_sequence =
          v.dims.size() == 3 && v.dims[0] == "N" && (v.dims[1] == "T" || v.dims[1] == "~R");
      if (!is_sequence || Chance(30)) continue;
      const std::vector<std::string> dims = v.dims;
      const std::string name = NewName();
      Line(name + ", " + name + "_last = scan(" + v.name + ", init=zeros([N, " + dims[2] +
           "]), body=cell(rate=" + Pick({"0.25", "1", "0.1"}) + ")" +
           (Chance(30) ? ", reverse=true" : "") + ")");
      values_.push_back({name, dims});
      values_.push_back({name + "_last", {"N", dims[2]}});
      return;
    }
  }

  void List() {
    const Made& v = Some();
    if (v.dims.empty()) return;
    const std::string name = NewName(), dim = v.dims.back();
    std::vector<std::string> dims = v.dims;
    Line(name + "_all = [" + v.name + ", " + Elementwise(v) + "]");
    Line(name + "_all = [" + name + "_all..., " + name + "_all[0]]");
    dims.back() = "3 * (" + dim + ")";
    Line(name + " = concat(" + name + "_all..., axis=-1) * cast(len(" + name + "_all), to=f32)");
    values_.push_back({name, dims});
  }

  void Statement() {
    --budget_;
    switch (Below(14)) {
      case 0:
      case 1:
      case 2: {
        const Made v = Some();
        return Assign(Elementwise(v), v.dims);
      }
      case 3:
      case 4:
      case 5:
        return Reshaped(Made(Some()));
      case 6:
        return Variable();
      case 7:
        return Loop();
      case 8:
        return BothSides();
      case 9:
        return Body();
      case 10:
        return List();
      case 11: {
        const Made v = Some();
        if (v.dims.size() < 2) return;
        if (v.dims.back().find_first_not_of("0123456789") != std::string::npos)
          return Assign("layer_norm(" + v.name + " @ ones([" + v.dims.back() + ", 2]))",
                        WithLast(v.dims, "2"));
        return Assign(Pick({"around", "around", "layer_norm", "rms_norm"}) + "(" + v.name + ")",
                      v.dims);
      }
      case 12:
        switch (Below(has_sparse_ ? 5 : 4)) {
          case 0:
            return Assign("embedding(ids, size=3)", {"N", "3"});
          case 1:
            return Assign("ids @ [[1.5], [2.0], [3e-3], [4], [5], [6], [7]]", {"N", "1"});
          case 2:
            return Assign("mean_so_far(" + Some().name + ")", {});
          case 3:
            return Assign("x @ [[1, 2], [nan, inf], [-0.0, 1e-45], [0.1, 3]]", {"N", "2"});
          default:
            return Assign("bag @ ones([6, 2]) + fc(bag, size=2)", {"N", "2"});
        }
      default:
        switch (Below(4)) {
          case 0:
            return Line("assert N >= 1, \"as \\\"many\\\"\\n\\t\\\\ as \\u{1F600}\"");
          case 1:
            return Line("assert N % 2 == 1 or N > 100 or not N < 2");
          case 2:
            Line("loss" + std::to_string(++last_) + " = sum(square(x @ ones([4, 1])))");
            Assign("grad(loss" + std::to_string(last_) + ", x)", {"N", "4"});
            return;
          default: {
            const std::string name = NewName();
            Line(name + ", " + name + "_at = topk(x, 2)");
            values_.push_back({name, {"N", "2"}});
            return;
          }
        }
    }
  }

  static std::vector<std::string> WithLast(std::vector<std::string> dims, const std::string& last) {
    dims.back() = last;
    return dims;
  }

  void Ends() {
    Line("loss = mean(square(fc(x, size=2)))");
    if (Chance(30))
      Line("minimize loss with " + Pick({"sgd(lr=0.1)", "adam(lr=cosine(step, from=0.1, until=10))",
                                         "adamw(lr=1e-3) every 2"}));
    std::string outputs;
    for (size_t i = values_.size(); i-- > 0 && values_.size() - i <= 12;)
      outputs += (outputs.empty() ? "" : ", ") + ("o" + std::to_string(i)) + "=" + values_[i].name;
    Line("output " + outputs);
  }

  std::mt19937_64 random_;
  std::string text_;
  unsigned budget_;
  unsigned indent_ = 0;
  unsigned last_ = 0;
  bool has_sparse_ = false;
  std::vector<Made> values_;
};

}  // namespace

std::string RandomNetwork(uint64_t seed, unsigned size) {
  return NetworkGenerator(seed, size).Network();
}

int64_t RandomNetworkSize(char symbol) {
  switch (symbol) {
    case 'N':
      return 3;
    case 'T':
      return 4;
    case 'H':
      return 1;
    default:
      return 2;
  }
}

}  // namespace pdl
