// Releasing and acquiring the GIL, and os.fork during runs without it.
//
// When the interpreter ends, CPython before 3.14 ends a thread that acquires the GIL by
// pthread_exit, whose unwinding would terminate the process in a destructor or in nanobind. With
// the functions of this header, the thread waits for the end of the process instead, as in 3.14.
#ifndef PYTHON_SRC_GIL_H_
#define PYTHON_SRC_GIL_H_

#include <cxxabi.h>
#include <nanobind/nanobind.h>

#include <utility>

namespace pdl::python {

/// Waits for the end of the process.
[[noreturn]] void HangThread();

/// Returns the result of `function`, which may acquire the GIL or execute Python code.
template <class Function>
auto OrHang(Function&& function) -> decltype(function()) {
  try {
    return function();
  } catch (abi::__forced_unwind&) {
    HangThread();
  }
}

/// Calls a Python function.
template <class... Arguments>
nanobind::object CallPython(nanobind::handle function, Arguments&&... arguments) {
  return OrHang([&] { return function(std::forward<Arguments>(arguments)...); });
}
/// Calls a function of a Python module.
template <class... Arguments>
nanobind::object CallIn(const char* module, const char* function, Arguments&&... arguments) {
  const nanobind::object callee =
      OrHang([&] { return nanobind::object(nanobind::module_::import_(module).attr(function)); });
  return CallPython(callee, std::forward<Arguments>(arguments)...);
}

/// Releases the GIL for its lifetime.
class ReleasedGil {
 public:
  ReleasedGil() : state_(PyEval_SaveThread()) {}
  ~ReleasedGil() {
    OrHang([&] { PyEval_RestoreThread(state_); });
  }
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;

 private:
  PyThreadState* state_;
};

/// Acquires the GIL for its lifetime, also in a thread that Python does not know.
class AcquiredGil {
 public:
  AcquiredGil() : state_(OrHang([] { return PyGILState_Ensure(); })) {}
  ~AcquiredGil() { PyGILState_Release(state_); }
  AcquiredGil(const AcquiredGil&) = delete;
  AcquiredGil& operator=(const AcquiredGil&) = delete;

 private:
  PyGILState_STATE state_;
};

/// Releases the GIL and makes os.fork wait, so that a child process does not inherit locks held by
/// threads that it does not have. Must not be nested in one thread.
class WithoutGil {
 public:
  WithoutGil();
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  ReleasedGil released_;
};

/// Registers the handlers that make os.fork wait.
void BindFork();

}  // namespace pdl::python

#endif  // PYTHON_SRC_GIL_H_
