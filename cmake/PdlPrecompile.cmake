# Precompiled headers: library headers that nearly every source includes.
#
# pdl_precompile(TARGET) is for the modules. It has an effect under AddressSanitizer only, so that the other
# builds still verify that every source includes the headers it uses.
#
# pdl_precompile_tests(TARGET IS_INTERNAL) is for GoogleTest programs, in every build. They share one precompiled
# header, and those that link the modules statically another one, since their compiler options differ.

if(PDL_CCACHE)
  # ccache requires this to cache objects compiled with precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
                                  CCACHE_SLOPPINESS=pch_defines,time_macros ${PDL_CCACHE})
endif()

# These let ccache determine whether an object is affected by a change of the precompiled headers.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(PDL_PRECOMPILED_OPTIONS $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
else()
  set(PDL_PRECOMPILED_OPTIONS "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

function(pdl_precompile_headers target)
  target_compile_options(${target} PRIVATE ${PDL_PRECOMPILED_OPTIONS})
  target_precompile_headers(
    ${target}
    PRIVATE
    <algorithm>
    <atomic>
    <cmath>
    <cstdint>
    <cstring>
    <functional>
    <limits>
    <map>
    <memory>
    <mutex>
    <numeric>
    <optional>
    <string>
    <string_view>
    <unordered_map>
    <utility>
    <variant>
    <vector>
    <llvm/ADT/ArrayRef.h>
    <llvm/ADT/DenseMap.h>
    <llvm/ADT/DenseSet.h>
    <llvm/ADT/STLExtras.h>
    <llvm/ADT/SmallVector.h>
    <llvm/ADT/StringExtras.h>
    <llvm/ADT/StringMap.h>
    <llvm/ADT/StringRef.h>
    <llvm/ADT/StringSet.h>
    <llvm/Support/Error.h>
    <llvm/Support/FormatVariadic.h>
    <llvm/Support/raw_ostream.h>
    ${ARGN})
endfunction()

function(pdl_precompile target)
  if(PDL_SANITIZE MATCHES "address")
    pdl_precompile_headers(${target})
  endif()
endfunction()

function(pdl_precompile_tests target is_internal)
  # thread_sanitizer.h must be included before the precompiled headers.
  if(PDL_SANITIZE MATCHES "thread")
    return()
  endif()
  set(property PDL_PRECOMPILED_TESTS_${is_internal})
  get_property(first GLOBAL PROPERTY ${property})
  if(first)
    target_compile_options(${target} PRIVATE ${PDL_PRECOMPILED_OPTIONS})
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    set_property(GLOBAL PROPERTY ${property} ${target})
    pdl_precompile_headers(${target} <gtest/gtest.h>)
  endif()
endfunction()
