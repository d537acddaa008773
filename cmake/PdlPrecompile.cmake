# Precompiled headers: library headers that nearly every source includes.
#
# pdl_precompile(TARGET) is for the modules. It has no effect in the debug preset (PDL_COMPILE_TOGETHER=OFF), which so
# verifies that every source includes the headers it uses.
#
# pdl_precompile_tests(TARGET IS_INTERNAL) is for GoogleTest programs, in every build. They share one precompiled
# header, and those that link the modules statically another one, since their compiler options differ.

if(PDL_CCACHE)
  # ccache requires the first to cache objects compiled with precompiled headers. The second: PdlCompiler.cmake.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
      CCACHE_IGNOREOPTIONS=--param=ggc-min-heapsize=* ${PDL_CCACHE})
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

# Makes `target` use the precompiled headers of the first target with the same `key`. Targets with one key must have the
# same compiler options. Additional headers follow the key.
function(pdl_share_precompiled target key)
  get_property(first GLOBAL PROPERTY PDL_PRECOMPILED_${key})
  if(first)
    target_compile_options(${target} PRIVATE ${PDL_PRECOMPILED_OPTIONS})
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    set_property(GLOBAL PROPERTY PDL_PRECOMPILED_${key} ${target})
    pdl_precompile_headers(${target} ${ARGN})
  endif()
endfunction()

function(pdl_precompile target)
  # thread_sanitizer.h must be included before the precompiled headers.
  if(NOT PDL_COMPILE_TOGETHER OR PDL_SANITIZE MATCHES "thread")
    return()
  endif()
  # Libraries are compiled with -fPIC, programs with -fPIE.
  get_target_property(type ${target} TYPE)
  get_target_property(options ${target} COMPILE_OPTIONS)
  string(MD5 key "${type} ${options}")
  pdl_share_precompiled(${target} ${key})
endfunction()

function(pdl_precompile_tests target is_internal)
  if(NOT PDL_SANITIZE MATCHES "thread")
    pdl_share_precompiled(${target} tests_${is_internal} <gtest/gtest.h>)
  endif()
endfunction()
