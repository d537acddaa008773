// A library with the functions of NCCL that pdl uses, for ranks that are threads of one process and
// "GPUs" whose memory is that of the CPU. It is named as NCCL is, and found in its own folder.
#ifndef PDL_TEST_CUDA_NCCL_FAKE_NCCL_H_
#define PDL_TEST_CUDA_NCCL_FAKE_NCCL_H_

#include <nccl.h>

// For tests, which find these functions by dlsym.
extern "C" {

/// The calls that the threads of one rank have made, one in a line, such as "ncclSend 12 bytes to
/// 1", except ncclCommGetAsyncError and the functions without a rank. Valid until the next call.
const char* FakeNcclCalls(int rank);
/// Forgets the calls.
void FakeNcclReset();
/// The next call of that function in this thread returns the result.
void FakeNcclFail(const char* function, ncclResult_t result);

}  // extern "C"

#endif  // PDL_TEST_CUDA_NCCL_FAKE_NCCL_H_
