#include "kernels/linear/einsum_spec.h"

#include <map>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace pdl {
namespace {

// Labels before they are numbered: letters, and for the dims of an ellipsis numbers from kEllipsis
// on, counted from the last dim.
constexpr int kEllipsis = 1000;

struct Term {
  EinsumSpec::Labels labels;  // contains kEllipsis once if there is an ellipsis
  bool has_ellipsis = false;
};

llvm::Expected<Term> ReadTerm(llvm::StringRef text, EinsumErrorReporter report) {
  Term term;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (llvm::isAlpha(c)) {
      term.labels.push_back(c);
    } else if (text.substr(i).starts_with("...") && !term.has_ellipsis) {
      term.has_ellipsis = true;
      term.labels.push_back(kEllipsis);
      i += 2;
    } else {
      return report(std::nullopt, Code::kAttributeRange,
                    llvm::formatv("'{0}' is not allowed in an equation, which consists of "
                                  "letters, ',', '->' and one '...' for each operand",
                                  text.substr(i, text.substr(i).starts_with("...") ? 3 : 1)));
    }
  }
  return term;
}

// Replaces the ellipsis with the labels of `count` dims.
void Expand(Term& term, size_t count) {
  EinsumSpec::Labels labels;
  for (const int label : term.labels) {
    if (label != kEllipsis) {
      labels.push_back(label);
      continue;
    }
    for (size_t k = count; k-- > 0;) labels.push_back(kEllipsis + static_cast<int>(k));
  }
  term.labels = std::move(labels);
}

std::string NameOf(int label) {
  return label < kEllipsis ? std::string(1, static_cast<char>(label)) : "...";
}

/// Parses one equation for operands of known ranks.
class EinsumParser {
 public:
  EinsumParser(llvm::StringRef equation, llvm::ArrayRef<Shape> operands, EinsumErrorReporter report,
               EinsumRequirement require)
      : equation_(equation), operands_(operands), report_(report), require_(require) {}

  llvm::Expected<EinsumSpec> Parse() {
    const auto [left, right] = equation_.split("->");
    if (llvm::Error error = ReadOperands(left)) return error;
    if (llvm::Error error = ReadSizes()) return error;
    if (equation_.contains("->")) {
      if (llvm::Error error = ReadOutput(right)) return error;
    } else {
      InferOutput();
    }
    return MakeSpec();
  }

 private:
  llvm::Error ReadOperands(llvm::StringRef left);
  /// The size of each label; for dims of an ellipsis, the one that is not a literal 1.
  llvm::Error ReadSizes();
  llvm::Error ReadOutput(llvm::StringRef right);
  /// The labels of an equation without "->": those of the ellipsis, then those that occur once, in
  /// alphabetical order.
  void InferOutput();
  EinsumSpec MakeSpec();

  llvm::StringRef equation_;
  llvm::ArrayRef<Shape> operands_;
  EinsumErrorReporter report_;
  EinsumRequirement require_;
  std::vector<Term> terms_;    // one per operand
  size_t num_ellipsis_ = 0;    // the largest number of dims that an ellipsis stands for
  std::map<int, Dim> sizes_;   // by label
  std::map<int, int> counts_;  // how often a label occurs in operands
  EinsumSpec::Labels output_;
};

llvm::Error EinsumParser::ReadOperands(llvm::StringRef left) {
  llvm::SmallVector<llvm::StringRef, 4> texts;
  left.split(texts, ',');
  if (texts.size() != operands_.size())
    return report_(std::nullopt, Code::kAttributeRange,
                   llvm::formatv("the equation '{0}' has {1} operands, got {2}", equation_,
                                 texts.size(), operands_.size()));
  for (unsigned i = 0; i < operands_.size(); ++i) {
    auto term = ReadTerm(texts[i], report_);
    if (!term) return term.takeError();
    const size_t rank = operands_[i].size();
    const size_t named = term->labels.size() - (term->has_ellipsis ? 1 : 0);
    if (term->has_ellipsis ? rank < named : rank != named)
      return report_(i, Code::kRank,
                     llvm::formatv("'{0}' has {1} labels, but the operand is {2}", texts[i].trim(),
                                   named, ShapeToString(operands_[i])));
    num_ellipsis_ = std::max(num_ellipsis_, rank - named);
    Expand(*term, rank - named);
    terms_.push_back(std::move(*term));
  }
  return llvm::Error::success();
}

llvm::Error EinsumParser::ReadSizes() {
  for (unsigned i = 0; i < operands_.size(); ++i) {
    for (size_t axis = 0; axis < operands_[i].size(); ++axis) {
      const int label = terms_[i].labels[axis];
      const Dim& size = operands_[i][axis];
      ++counts_[label];
      const auto [found, is_new] = sizes_.try_emplace(label, size);
      // The dims of an ellipsis broadcast.
      if (is_new || (label >= kEllipsis && size.is_constant(1))) continue;
      if (label >= kEllipsis && found->second.is_constant(1)) {
        found->second = size;
      } else if (llvm::Error error = require_(found->second, size, i)) {
        return error;
      }
    }
  }
  return llvm::Error::success();
}

llvm::Error EinsumParser::ReadOutput(llvm::StringRef right) {
  auto term = ReadTerm(right, report_);
  if (!term) return term.takeError();
  Expand(*term, num_ellipsis_);
  output_ = std::move(term->labels);
  for (size_t i = 0; i < output_.size(); ++i) {
    const int label = output_[i];
    if (counts_.count(label) == 0)
      return report_(std::nullopt, Code::kAttributeRange,
                     llvm::formatv("no operand has the label '{0}' of the result", NameOf(label)));
    if (llvm::is_contained(llvm::ArrayRef<int>(output_).take_front(i), label))
      return report_(std::nullopt, Code::kAttributeRange,
                     llvm::formatv("the result has the label '{0}' twice", NameOf(label)));
  }
  return llvm::Error::success();
}

void EinsumParser::InferOutput() {
  for (size_t k = num_ellipsis_; k-- > 0;) output_.push_back(kEllipsis + static_cast<int>(k));
  for (const auto& [label, count] : counts_)
    if (label < kEllipsis && count == 1) output_.push_back(label);
}

EinsumSpec EinsumParser::MakeSpec() {
  EinsumSpec spec;
  std::map<int, int> numbers;
  for (const auto& [label, size] : sizes_) {
    numbers[label] = static_cast<int>(spec.sizes.size());
    spec.sizes.push_back(size);
  }
  for (unsigned i = 0; i < operands_.size(); ++i) {
    EinsumSpec::Labels labels;
    for (size_t axis = 0; axis < operands_[i].size(); ++axis) {
      const int label = terms_[i].labels[axis];
      if (label >= kEllipsis && operands_[i][axis].is_constant(1) &&
          !sizes_[label].is_constant(1)) {
        labels.push_back(static_cast<int>(spec.sizes.size()));
        spec.sizes.push_back(1);
      } else {
        labels.push_back(numbers[label]);
      }
    }
    spec.operands.push_back(std::move(labels));
  }
  for (const int label : output_) spec.output.push_back(numbers[label]);
  return spec;
}

}  // namespace

Shape EinsumSpec::SizesOf(llvm::ArrayRef<int> labels) const {
  Shape dims;
  for (const int label : labels) dims.push_back(sizes[static_cast<size_t>(label)]);
  return dims;
}

llvm::Expected<EinsumSpec> ParseEinsum(llvm::StringRef equation, llvm::ArrayRef<Shape> operands,
                                       EinsumErrorReporter report, EinsumRequirement require) {
  return EinsumParser(equation, operands, report, require).Parse();
}

EinsumSpec ParseEinsum(llvm::StringRef equation, llvm::ArrayRef<Shape> operands) {
  auto spec = ParseEinsum(
      equation, operands,
      [](std::optional<unsigned>, Code, const std::string& message) -> llvm::Error {
        InternalError("einsum: " + message);
      },
      [](const Dim&, const Dim&, unsigned) { return llvm::Error::success(); });
  return llvm::cantFail(std::move(spec));
}

std::string EinsumEquation(llvm::ArrayRef<EinsumSpec::Labels> operands,
                           llvm::ArrayRef<int> output) {
  std::string text;
  const auto append = [&](llvm::ArrayRef<int> labels) {
    for (const int label : labels) {
      text.push_back(static_cast<char>(label < 26 ? 'a' + label : 'A' + (label - 26)));
    }
  };
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i > 0) text.push_back(',');
    append(operands[i]);
  }
  text.append("->");
  append(output);
  return text;
}

}  // namespace pdl
