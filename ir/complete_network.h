#ifndef PDL_IR_COMPLETE_NETWORK_H_
#define PDL_IR_COMPLETE_NETWORK_H_

#include "proto/pdl.pb.h"

namespace pdl {

/// Adds the missing variables of the results of calls, without types, and puts all variables in the
/// order that a reader requires: the results of a block in the order of its calls, and those of a
/// body before the results of the call that refers to it. `desc` is untrusted: what is wrong with
/// it stays wrong, for the reader to report.
void AddResultVariables(NetworkDesc* desc);

}  // namespace pdl

#endif  // PDL_IR_COMPLETE_NETWORK_H_
