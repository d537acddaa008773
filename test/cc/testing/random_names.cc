#include "test/cc/testing/random_names.h"

#include <random>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace pdl {
namespace {

/// In a template `$` is a name, `%` a value, `@` a type, `&` a function, `!` a block.
constexpr const char* kStatements[] = {
    // Declarations.
    "input $: @",
    "input $: @",
    "param $: f32[3] = zeros()",
    "param $: @ = %",
    "param $.$: f32[2] = ones() with {weight_decay=0.5}",
    "state $: f32[] = zeros()",
    "state $: @ = zeros()",
    "state $.$: f32[2] = zeros()",
    "attr $: int = 3",
    "attr $: float = %",
    "update $ = %",
    "update $ = $ + 1",
    "update $.$ = %",
    // Values.
    "$ = %",
    "$ = %",
    "$ = %",
    "$ = %",
    "$, $ = split(%, parts=2)",
    "$, $ = %",
    "_, $ = topk(%, 1)",
    "$: @ = %",
    "$.$ = %",
    "%",
    "output $",
    "output $ = %",
    "output $, $ = %",
    // Blocks.
    "if % !",
    "if training !",
    "if N > 4 !",
    "if undefined !",
    "if true !",
    "if training ! else !",
    "if N > 4 ! else if M > 2 ! else !",
    "for $ in 0..2 !",
    "for $, $ in % !",
    "for $ in [%, %] !",
    "for $ in 0..undefined !",
    // Layers and functions.
    "layer $ = &",
    "layer $($: F[...]) !",
    "layer $($: F[N], $: function = relu(), $: int = 2) !",
    "return $",
    "return $ = %",
    "import \"other.pdl\"",
    "import \"other.pdl\" as $",
    "load \"w.safetensors\" into $",
    // Training and tests.
    "minimize sum(%) with sgd(lr=0.1)",
    "minimize % over $ with adam(lr=cosine(step, from=0.1, until=10))",
    "minimize sum($) over [$, $.w] with $(lr=%)",
    "test \"$\" !",
    "feed $ = %",
    "expect % ~= %",
    "expect error \"$\" in %",
    "assert % > %",
    "assert N > 2, \"$\"",
    // Broken.
    "$ = relu(",
    "input $: f32[",
    "$ $",
    "$ = ",
};
constexpr const char* kValues[] = {
    "$",
    "$",
    "$",
    "$",
    "undefined",
    "relu($)",
    "relu(undefined)",
    "$ + $",
    "$ * 2.5",
    "-$",
    "$ + 1",
    "2",
    "true",
    "1.5",
    "\"text\"",
    "none",
    "[$, $]",
    "[1.0, 2.0, 3.0]",
    "[$..., $]",
    "sum($)",
    "zeros([N])",
    "zeros([3])",
    "step",
    "training",
    "where($ > 0, $, $)",
    "fc($, size=2)",
    "$ |> fc(size=2, act=relu()) |> $()",
    "$($)",
    "$.$",
    "$.w",
    "params($)",
    "dims($)",
    "len($)",
    "$[0]",
    "$[0:N // 2]",
    "grad(sum($), $)",
    "scan($, init=$, axis=0, body=&)",
    "scan(reshape($, [1, N]), init=zeros([N]), axis=0, body=&)",
    "batch_norm($)",
    "split($, parts=2)",
    "dropout($, p=0.5)",
    "% == %",
    "N",
};
constexpr const char* kTypes[] = {
    "f32[N]", "f32[]", "f32[3]",         "f32[N, M]", "f32[N, ~T]", "i64[N]", "i64[N] in 0..M",
    "bool[]", "g32[]", "f32[undefined]", "f32[$]",    "F[...]",     "f32",    "sparse f32[N, 3]",
};
constexpr const char* kFunctions[] = {
    "relu()", "fc(size=2)", "$()", "$", "\"relu\"", "add()", "$(size=%)", "none", "batch_norm()",
};
constexpr const char* kNames[] = {
    "x",   "y",      "x",        "y",          "a", "b", "N",     "f",         "relu",  "fc",
    "x_2", "step",   "training", "step_zeros", "c", "w", "x_c",   "y_fc",      "zeros", "output",
    "x_w", "y_relu", "body",     "given",      "T", "M", "split", "y_split_2",
};

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  std::string Text() {
    // Some names are used more often than the others.
    num_names_ = 2 + Below(sizeof(kNames) / sizeof(kNames[0]) - 1);
    if (Below(3) > 0) text_ += "input x: f32[N]\n";
    if (Below(3) == 0) text_ += "input y: f32[N, M]\n";
    for (uint32_t count = 2 + Below(9); count > 0; --count) {
      Expand(Pick(kStatements), 0);
      text_ += '\n';
    }
    return std::move(text_);
  }

 private:
  uint32_t Below(size_t n) { return static_cast<uint32_t>(random_() % n); }
  llvm::StringRef Pick(llvm::ArrayRef<const char*> items) { return items[Below(items.size())]; }

  void Expand(llvm::StringRef pattern, unsigned depth) {
    for (char c : pattern) {
      switch (c) {
        case '$':
          text_ += kNames[Below(num_names_)];
          break;
        case '%':
          Expand(depth < 4 ? Pick(kValues) : "x", depth + 1);
          break;
        case '@':
          Expand(Pick(kTypes), depth + 1);
          break;
        case '&':
          Expand(depth < 4 ? Pick(kFunctions) : "relu()", depth + 1);
          break;
        case '!':
          text_ += "{\n";
          for (uint32_t count = Below(depth < 2 ? 4 : 2); count > 0; --count) {
            Expand(Pick(kStatements), depth + 1);
            text_ += '\n';
          }
          text_ += "}";
          break;
        default:
          text_ += c;
      }
    }
  }

  std::mt19937_64 random_;
  std::string text_;
  size_t num_names_ = 2;
};

}  // namespace

std::string RandomNames(uint64_t seed) { return Generator(seed).Text(); }

}  // namespace pdl
