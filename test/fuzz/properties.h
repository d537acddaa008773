// Properties of networks and files that fuzz targets check.
#ifndef PDL_TEST_FUZZ_PROPERTIES_H_
#define PDL_TEST_FUZZ_PROPERTIES_H_

#include <string>
#include <vector>

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/compiler.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/constant.h"

namespace pdl::fuzz {

/// Prints `message` and aborts, so that the fuzzer keeps the input.
[[noreturn]] void Fail(const std::string& message);
/// Fails with `what` and the Error's message where there is an Error.
void RequireSuccess(llvm::Error error, const std::string& what);

/// Whether expensive properties are checked for a sample of the inputs only. The fuzzer sets it,
/// for more inputs per second; tests that replay findings and mutations check each input.
inline bool samples_expensive_checks = false;

/// Compiles `text` with all operators and the standard layers, without imports and weights, and
/// renders its diagnostics. Fails where a diagnostic is not a message with one code.
CompileResult CompileText(llvm::StringRef text, const WeightOpener& open_weights = nullptr);
/// Whether all errors are about sizes that only empty tensors have, which source may have in a
/// branch only (docs/limits.md).
bool AreOnEmptyTensors(const Diagnostics& diagnostics);

/// Fails unless SerializeNetwork gives bytes that load as the same network, and EmitPdl a source
/// that compiles.
void CheckRoundTrip(const Graph& graph);

/// Runs `graph` once, on random inputs with sizes of 1 to 3, on one thread and within 1 MiB. Any
/// Error will do. `weights` are the values of parameters that have no initializer.
void RunOnce(const Graph& graph, const llvm::StringMap<Constant>& weights = {});

/// Files below `folder` that end with one of `extensions`, at most `max_bytes` long; their bytes.
std::vector<std::string> ReadFiles(llvm::StringRef folder,
                                   llvm::ArrayRef<llvm::StringRef> extensions,
                                   uint64_t max_bytes = 64 << 10);

/// A file with these bytes in memory-backed storage where there is some. The same path again for
/// the same name: the next call overwrites it.
std::string WriteInput(llvm::StringRef name, llvm::StringRef bytes);

}  // namespace pdl::fuzz

#endif  // PDL_TEST_FUZZ_PROPERTIES_H_
