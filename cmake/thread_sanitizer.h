// Included before every source when PDL_SANITIZE is thread. The system's libprotobuf is built
// without ThreadSanitizer, but where the macro is defined, its headers add members to some classes,
// which the library does not have. <cstddef> comes first, so that the standard library is
// configured with the macro.
#include <cstddef>
#ifdef __SANITIZE_THREAD__
#undef __SANITIZE_THREAD__
#define PDL_THREAD_SANITIZER 1
#endif
