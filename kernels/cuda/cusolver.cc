#include "kernels/cuda/cusolver.h"

#include <map>

#include "pdl/op/device_context.h"
#include "pdl/op/error.h"
#include "runtime/cuda/cuda_error.h"

namespace pdl::cuda {
namespace {

llvm::Error ToError(cusolverStatus_t status, const char* what, Device device) {
  if (status == CUSOLVER_STATUS_SUCCESS) return llvm::Error::success();
  return MakeDeviceError("{0} failed on {1}: status {2} of cuSOLVER", what, DeviceToString(device),
                         static_cast<int>(status));
}

}  // namespace

llvm::Expected<std::shared_ptr<Cusolver>> Cusolver::Get(const CUDAContext& context) {
  static std::mutex mutex;
  static auto& handles = *new std::map<int, std::weak_ptr<Cusolver>>;
  auto library = CusolverLibrary::Load();
  if (!library) return library.takeError();
  const std::lock_guard<std::mutex> lock(mutex);
  std::weak_ptr<Cusolver>& known = handles[context.device().index];
  if (std::shared_ptr<Cusolver> solver = known.lock()) return solver;
  CurrentDevice current(context.device());
  std::shared_ptr<Cusolver> solver(new Cusolver(*library, context.device()));
  if (auto error = ToError((*library)->Create(&solver->handle_), "creating a handle of cuSOLVER",
                           context.device()))
    return error;
  known = solver;
  return solver;
}

Cusolver::~Cusolver() {
  if (handle_ == nullptr) return;
  CurrentDevice current(device_);
  library_->Destroy(handle_);
}

Cusolver::Calls::Calls(Cusolver& solver, const CUDAContext& context)
    : lock_(solver.mutex_),
      l_(*solver.library_),
      h_(solver.handle_),
      device_(solver.device_),
      stream_status_(l_.SetStream(h_, context.stream())) {}

llvm::Error Cusolver::Calls::Check(cusolverStatus_t status, const char* what) const {
  return ToError(stream_status_ != CUSOLVER_STATUS_SUCCESS ? stream_status_ : status, what,
                 device_);
}

}  // namespace pdl::cuda
