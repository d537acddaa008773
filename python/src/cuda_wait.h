#ifndef PYTHON_SRC_CUDA_WAIT_H_
#define PYTHON_SRC_CUDA_WAIT_H_

namespace pdl::python {

/// Waits for what the default stream of that GPU was given: runs have streams of their own, which
/// do not. Nothing where no CUDA driver is loaded; throws what goes wrong. Needs the GIL, which it
/// gives away meanwhile.
void WaitForDefaultStream(int gpu);

}  // namespace pdl::python

#endif  // PYTHON_SRC_CUDA_WAIT_H_
