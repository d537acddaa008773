#ifndef PDL_TEST_CONFORMANCE_ONNX_MUTATE_H_
#define PDL_TEST_CONFORMANCE_ONNX_MUTATE_H_

#include <random>
#include <string>

#include "onnx_full.pb.h"

namespace pdl::testing {

// ONNX's own messages are those of protobuf's lite runtime, which has no reflection; onnx_full is
// made of the same file without that.

/// Breaks a model in one to four places, by protobuf's reflection: numbers become edge values,
/// names become other names of the model or odd ones, parts are deleted, repeated, swapped or taken
/// from `other`, dims become symbols, weights get other ranks, attributes other types. Returns what
/// was done.
std::string Mutate(onnx_full::ModelProto* model, const onnx_full::ModelProto& other,
                   std::mt19937_64& random);

}  // namespace pdl::testing

#endif  // PDL_TEST_CONFORMANCE_ONNX_MUTATE_H_
