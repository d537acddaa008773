// Runs without the GIL, and os.fork during such runs.
#ifndef PYTHON_SRC_FORK_H_
#define PYTHON_SRC_FORK_H_

#include <nanobind/nanobind.h>

namespace pdl::python {

/// Releases the GIL and makes os.fork wait, so that a child process does not inherit locks held by
/// threads that it does not have. Must not be nested in one thread.
class WithoutGil {
 public:
  WithoutGil();
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  nanobind::gil_scoped_release released_;
};

/// Registers the handlers that make os.fork wait.
void BindFork();

}  // namespace pdl::python

#endif  // PYTHON_SRC_FORK_H_
