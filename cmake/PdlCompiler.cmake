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

# Line tables stay in every build: a report of valgrind or of a sanitizer names its line.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-Og -g")
# How the loops of kernels are optimized, and the code of tests and of the command line, which no test
# waits for. Under a sanitizer, optimizing either would only take time.
set(PDL_LOOP_OPTIMIZATION -O3)
set(PDL_COLD_OPTIMIZATION "")
if(PDL_SANITIZE)
  set(CMAKE_CXX_FLAGS_RELEASE "-O1 -g1")
  set(PDL_LOOP_OPTIMIZATION -O1)
  set(PDL_COLD_OPTIMIZATION -O0)
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

# The first fast linker that is there.
find_program(PDL_MOLD mold)
find_program(PDL_LLD ld.lld)
if(PDL_MOLD)
  add_link_options(-fuse-ld=mold)
elseif(PDL_LLD)
  add_link_options(-fuse-ld=lld)
endif()

# The settings of our own C++; generated code takes pdl_generated_options instead.
add_library(pdl_options INTERFACE)
add_library(pdl_generated_options INTERFACE)
target_compile_options(pdl_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Werror>)
target_compile_options(pdl_generated_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-w>)

foreach(target pdl_options pdl_generated_options)
  # Fused and unfused chains must agree to the last bit, so no multiply and add become one.
  target_compile_options(
    ${target} INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off;-fno-semantic-interposition>)
  # The same objects from every checkout.
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
      # What a plugin's or a thread pool's function is called through is declared in another library.
      target_compile_options(${target} INTERFACE -fno-sanitize=function,vptr)
      # std::stable_sort of libstdc++ 12 uses what C++17 deprecates; the others are what g++ accepts
      # of loops that shall become vector code.
      target_compile_options(
        ${target} INTERFACE -Wno-deprecated-declarations -Wno-unknown-pragmas
                            -Wno-bitwise-conditional-parentheses -Wno-bitwise-instead-of-logical
                            -Wno-string-concatenation -Wno-pass-failed)
    endif()
    if(PDL_SANITIZE MATCHES "address")
      # AddressSanitizer names the place of an access through a null pointer too, and looking for them
      # twice is a fifth of the time to compile.
      target_compile_options(${target} INTERFACE -fno-sanitize=null)
    endif()
    # -O1 makes no vector code, so the forms of a loop differ in nothing that a sanitizer sees.
    target_compile_definitions(${target} INTERFACE PDL_ONE_ISA_FORM)
    # What a sanitizer adds to a function confuses this warning.
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
