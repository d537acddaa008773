#ifndef PDL_TOOLS_PDL_BISECT_REDUCE_H_
#define PDL_TOOLS_PDL_BISECT_REDUCE_H_

#include <optional>
#include <string>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "tools/pdl/bisect/fed_network.h"
#include "tools/pdl/support/common_options.h"

namespace pdl {

/// Whether a network shows what is searched for.
using ShowsIt = llvm::function_ref<llvm::Expected<bool>(const FedNetwork&)>;

/// `error` as false if it is a UserError or CallError: a variant of a network that is not valid or
/// cannot run shows nothing.
llvm::Expected<bool> FalseIfUserError(llvm::Error error);

/// Returns the smallest part of a network that ends in `target`, the result of a call, and for
/// which `shows` holds: it no longer does if a call is removed, unless that would take more than
/// 1,000 attempts. The part has one output, named
/// after `target`; the values that it reads are those of a run of the complete network. Nullopt if
/// not even all calls that `target` is computed by show it.
llvm::Expected<std::optional<FedNetwork>> Reduce(const FedNetwork& from, const Value* target,
                                                 const RunSetup& setup, ShowsIt shows);

/// The file for the inputs of a network in the file `path`: with the extension .npz.
std::string InputsPath(llvm::StringRef path);

/// Writes a network, with its parameters in a .safetensors file next to it and its inputs at
/// InputsPath, reads everything back, and checks with `shows` that it still shows it. An Error if
/// it does not.
llvm::Error WriteAndCheck(const FedNetwork& fed, llvm::StringRef path, const RunSetup& setup,
                          const CommonOptions& common, ShowsIt shows);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_BISECT_REDUCE_H_
