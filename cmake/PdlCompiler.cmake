# Compiler and linker settings that all of our own code shares.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# Every build has line tables, so that reports of valgrind and the sanitizers name source lines.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-Og -g")
# Optimization of the kernels' loops, and of the tests and the command line: their own speed hardly matters, and -O1
# takes two thirds of the compile time of -O2. Sanitizer builds optimize neither, to save compile time.
# A loop of few instructions takes up to twice the time if it crosses a cache line, so loops begin at multiples of 32.
set(PDL_LOOP_OPTIMIZATION -O3 -falign-loops=32)
set(PDL_COLD_OPTIMIZATION $<$<CONFIG:Release>:-O1>)
if(PDL_SANITIZE)
  set(CMAKE_CXX_FLAGS_RELEASE "-O1 -g1")
  set(PDL_LOOP_OPTIMIZATION -O1)
  set(PDL_COLD_OPTIMIZATION -O0)
endif()
# A fuzzer runs for hours, and clang inlines nothing with -O1.
if(PDL_FUZZ)
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")
  set(PDL_COLD_OPTIMIZATION -O1)
endif()

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

find_program(PDL_CCACHE ccache)
if(PDL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PDL_CCACHE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${PDL_CCACHE})
endif()

# Use the first of these fast linkers that is installed.
find_program(PDL_MOLD mold)
find_program(PDL_LLD ld.lld)
if(PDL_MOLD)
  add_link_options(-fuse-ld=mold)
elseif(PDL_LLD)
  add_link_options(-fuse-ld=lld)
endif()

# Settings of our own C++; generated code uses pdl_generated_options instead.
add_library(pdl_options INTERFACE)
add_library(pdl_generated_options INTERFACE)
target_compile_options(pdl_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  # False positives in inlined functions of std::string: https://gcc.gnu.org/PR105329, PR105651.
  target_compile_options(
    pdl_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds;-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Sources that are compiled together look like headers, in which an unnamed namespace would be an error. The other one
  # prints notes on functions with vector parameters, all of which are inlined.
  target_compile_options(pdl_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage;-Wno-psabi>)
endif()
target_compile_options(pdl_generated_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-w>)

include(PdlHarden)
foreach(target pdl_options pdl_generated_options)
  pdl_harden(${target})
  # Fused and unfused chains must agree to the last bit, so multiplications and additions must not be contracted.
  target_compile_options(
    ${target} INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off;-fno-semantic-interposition>)
  # g++ collects garbage as soon as its heap, which begins with the precompiled header, reaches 128 MB. Without that a
  # build takes 6 % less processor time; the largest source, dense_solvers.cc, needs 1.9 GB in place of 1.4. Of an
  # object, only the list of options in its debug information depends on it.
  target_compile_options(
    ${target} INTERFACE
              $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:--param=ggc-min-heapsize=2000000>)
  # Object files do not depend on the path of the checkout.
  target_compile_options(
    ${target} INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    target_compile_options(${target} INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=x86-64-v2>)
  endif()
  if(PDL_SANITIZE)
    target_compile_options(
      ${target} INTERFACE -fsanitize=${PDL_SANITIZE} -fno-sanitize-recover=all
                          -fno-omit-frame-pointer)
    if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
      # Functions of plugins and thread pools are called through types that another library declares.
      target_compile_options(${target} INTERFACE -fno-sanitize=function,vptr)
      # std::stable_sort of libstdc++ 12 uses functions that C++17 deprecates. The other warnings concern
      # pragmas and conditions, written for g++, in loops that are to be vectorized.
      target_compile_options(
        ${target} INTERFACE -Wno-deprecated-declarations -Wno-unknown-pragmas
                            -Wno-bitwise-conditional-parentheses -Wno-bitwise-instead-of-logical
                            -Wno-string-concatenation -Wno-pass-failed)
    endif()
    if(PDL_SANITIZE MATCHES "address")
      # AddressSanitizer already reports accesses through null pointers and outside of objects. With g++ the checks of
      # pointers take a quarter of the compile time, and the one of virtual tables makes three system calls for each new
      # type; the fuzz preset, compiled by clang, has those of alignment and overflow.
      target_compile_options(
        ${target} INTERFACE -fno-sanitize=null
                            $<$<CXX_COMPILER_ID:GNU>:-fno-sanitize=alignment,object-size,pointer-overflow,vptr>)
    endif()
    # -O1 does not vectorize, so a sanitizer sees no difference between the versions of a loop.
    target_compile_definitions(${target} INTERFACE PDL_ONE_ISA_FORM)
    # Sanitizer instrumentation causes false positives of this warning.
    target_compile_options(${target} INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    if(PDL_SANITIZE STREQUAL "thread")
      target_compile_options(
        ${target} INTERFACE -include ${PROJECT_SOURCE_DIR}/cmake/thread_sanitizer.h)
    endif()
    target_link_options(${target} INTERFACE -fsanitize=${PDL_SANITIZE})
  endif()
  target_include_directories(
    ${target} INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}
                        ${PROJECT_BINARY_DIR}/include)
endforeach()
