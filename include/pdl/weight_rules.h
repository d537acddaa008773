// How the tensors of a weights file become the parameters and states of a network; docs/weights.md
// states the rules. For programs; needs no other library's headers.
// Module: ir
#ifndef PDL_WEIGHT_RULES_H_
#define PDL_WEIGHT_RULES_H_

#include <string>
#include <utility>
#include <vector>

namespace pdl {

/// The options of `load "file" into … with {…}`, which --weights-with, ModelOptions::weight_rules
/// and `pdl.weights` of Python give as well.
struct WeightRules {
  /// Converts f16, bf16, f32 and f64 to the dtype that the network declares. Other dtypes must be
  /// equal.
  bool cast = false;
  /// The network uses a part of the file: tensors that it does not use are counted in a note, and
  /// not listed in a warning.
  bool partial = false;
  /// Replacements in the names of the file's tensors, one after another. A name consists of parts
  /// separated by dots, and only complete parts are replaced: "encoder.layer" is found in
  /// "bert.encoder.layer.0", and not in "encoder.layers". An empty replacement removes the parts.
  std::vector<std::pair<std::string, std::string>> rename;
  /// Patterns of names in the file, before `rename`. A `*` matches any characters. The matrices
  /// (tensors of rank 2) that they match are transposed. A pattern after `!` exempts what it
  /// matches; the last pattern that matches decides.
  std::vector<std::string> transpose;
};

}  // namespace pdl

#endif  // PDL_WEIGHT_RULES_H_
