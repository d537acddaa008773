#include "gil.h"

#include <pthread.h>
#include <unistd.h>

namespace nb = nanobind;

namespace pdl::python {
namespace {

// Prefers writers, so that new runs do not starve a thread that forks.
pthread_rwlock_t runs = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

}  // namespace

void HangThread() {
  while (true) pause();
}

WithoutGil::WithoutGil() { pthread_rwlock_rdlock(&runs); }
WithoutGil::~WithoutGil() { pthread_rwlock_unlock(&runs); }

void BindFork() {
  const auto before = [] {
    const ReleasedGil released;
    pthread_rwlock_wrlock(&runs);
  };
  const auto in_parent = [] { pthread_rwlock_unlock(&runs); };
  // Initialized again: the child does not have the threads that wait for it.
  const auto in_child = [] { runs = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP; };
  nb::module_::import_("os").attr("register_at_fork")(
      nb::arg("before") = nb::cpp_function(before),
      nb::arg("after_in_parent") = nb::cpp_function(in_parent),
      nb::arg("after_in_child") = nb::cpp_function(in_child));
}

}  // namespace pdl::python
