// Module: runtime
#ifndef PDL_OP_VARIABLE_H_
#define PDL_OP_VARIABLE_H_

#include <memory>
#include <typeindex>
#include <utility>

#include "pdl/compiler/export.h"

namespace pdl {

/// A named container for a C++ value of any type, usually a Tensor. Its address is stable for the
/// lifetime of its Scope.
class PDL_API Variable {
 public:
  /// Whether it holds a T.
  template <typename T>
  bool Holds() const {
    return value_ != nullptr && type_ == std::type_index(typeid(T));
  }
  /// Returns null if it does not hold a T.
  template <typename T>
  const T* Get() const {
    return Holds<T>() ? static_cast<const T*>(value_.get()) : nullptr;
  }
  template <typename T>
  T* GetMutable() {
    return Holds<T>() ? static_cast<T*>(value_.get()) : nullptr;
  }
  /// Replaces the current value.
  template <typename T>
  T* Set(T value) {
    auto holder = std::make_shared<T>(std::move(value));
    T* result = holder.get();
    value_ = std::move(holder);
    type_ = std::type_index(typeid(T));
    return result;
  }
  bool empty() const { return value_ == nullptr; }
  void Clear() { value_.reset(); }

 private:
  std::shared_ptr<void> value_;
  std::type_index type_ = std::type_index(typeid(void));
};

}  // namespace pdl

#endif  // PDL_OP_VARIABLE_H_
