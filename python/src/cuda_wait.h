#ifndef PYTHON_SRC_CUDA_WAIT_H_
#define PYTHON_SRC_CUDA_WAIT_H_

namespace pdl::python {

/// Waits for the work in the default stream of that GPU, with which the streams of runs do not
/// synchronize. Does nothing if no CUDA driver is loaded; throws pdl.DeviceError if it fails. Needs
/// the GIL, and releases it while it waits.
void WaitForDefaultStream(int gpu);

}  // namespace pdl::python

#endif  // PYTHON_SRC_CUDA_WAIT_H_
