#ifndef PDL_TEST_CONFORMANCE_ONNX_MUTATE_H_
#define PDL_TEST_CONFORMANCE_ONNX_MUTATE_H_

#include <random>
#include <string>

#include "onnx_full.pb.h"

namespace pdl::testing {

// Our classes of ONNX's messages use protobuf's lite runtime, which has no reflection; onnx_full is
// generated from the same file with the full runtime.

/// Mutates one to four fields of a model with protobuf's reflection: numbers become edge values,
/// names become other names of the model or unusual ones, parts are deleted, repeated, swapped or
/// taken from `other`, dims become symbols, weights get other ranks, attributes other types.
/// Returns a description of the mutations.
std::string Mutate(onnx_full::ModelProto* model, const onnx_full::ModelProto& other,
                   std::mt19937_64& random);

}  // namespace pdl::testing

#endif  // PDL_TEST_CONFORMANCE_ONNX_MUTATE_H_
