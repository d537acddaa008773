// Calls of functions that an operator's author wrote, which may be in a plugin.
#ifndef PDL_IR_OPERATOR_CODE_H_
#define PDL_IR_OPERATOR_CODE_H_

#include <exception>
#include <new>
#include <stdexcept>
#include <type_traits>

namespace pdl {

/// Returns the result of `f`, an Error or an Expected; if `f` throws a std::exception, that of
/// `convert` for its what(). Failed allocations are handled further out (WithOutOfMemory), as is
/// the end of a cancelled run, which is no std::exception.
template <class F, class Convert>
std::invoke_result_t<F> ConvertExceptions(F f, Convert convert) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::length_error&) {
    throw;
  } catch (const std::exception& exception) {
    return convert(exception.what());
  }
}

}  // namespace pdl

#endif  // PDL_IR_OPERATOR_CODE_H_
