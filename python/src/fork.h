// Runs beside Python's other threads, and os.fork in the middle of them.
#ifndef PYTHON_SRC_FORK_H_
#define PYTHON_SRC_FORK_H_

#include <nanobind/nanobind.h>

namespace pdl::python {

/// While one lives, other Python threads go on, and os.fork waits: so a child begins with no lock
/// that a thread holds which it does not have. None is made while another one of the same thread
/// lives.
class WithoutGil {
 public:
  WithoutGil();
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  nanobind::gil_scoped_release released_;
};

/// Makes os.fork wait.
void BindFork();

}  // namespace pdl::python

#endif  // PYTHON_SRC_FORK_H_
