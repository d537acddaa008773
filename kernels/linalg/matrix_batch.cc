#include "kernels/linalg/matrix_batch.h"

namespace pdl::linalg {

MatrixOffsets::MatrixOffsets(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> batch,
                             int64_t elements)
    : view_(BroadcastView(sizes, batch)), elements_(elements) {}

}  // namespace pdl::linalg
