// Put before every source when PDL_SANITIZE is thread. The system's libprotobuf is built without
// ThreadSanitizer; where the macro stands, its headers give some classes members that the library
// does not know of. The standard library's own use of the macro is kept.
#include <cstddef>
#ifdef __SANITIZE_THREAD__
#undef __SANITIZE_THREAD__
#define PDL_THREAD_SANITIZER 1
#endif
