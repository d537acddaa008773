# The libraries that the rooms are built on, each as one target.

find_package(LLVM 19.1 REQUIRED CONFIG)
find_package(Protobuf REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)

# pdl_find_library(TARGET HEADER LIBRARY [SUFFIX]): an imported target for a library without a
# usable CMake package.
function(pdl_find_library target header library)
  find_path(${target}_INCLUDE_DIR ${header} PATH_SUFFIXES ${ARGN} REQUIRED)
  find_library(${target}_LIBRARY ${library} REQUIRED)
  add_library(${target} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(
    ${target} PROPERTIES IMPORTED_LOCATION ${${target}_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES
                                                                ${${target}_INCLUDE_DIR})
endfunction()

pdl_find_library(pdl_dnnl dnnl.hpp dnnl)
pdl_find_library(pdl_antlr4 antlr4-runtime.h antlr4-runtime antlr4-runtime)
pdl_find_library(pdl_edit histedit.h edit)

# LLVM's headers alone, for the rooms. Under this name they are also what a user of the installed
# library gets.
add_library(pdl::llvm_headers INTERFACE IMPORTED GLOBAL)
set_target_properties(pdl::llvm_headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES
                                                   "${LLVM_INCLUDE_DIRS}")

# LLVM's code, for libpdl and for nothing else. LLVMSupport without its Z3 solver, which nobody here
# calls and which would make every program load 23 MB of libz3.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(PDL_LLVM_LIBRARIES "")
foreach(name Support Demangle LineEditor)
  get_target_property(archive LLVM${name} LOCATION)
  if(name STREQUAL "Support")
    set(trimmed ${PROJECT_BINARY_DIR}/lib/libLLVMSupportNoZ3.a)
    if(NOT EXISTS ${trimmed} OR ${archive} IS_NEWER_THAN ${trimmed})
      file(COPY_FILE ${archive} ${trimmed}.new)
      execute_process(COMMAND ${CMAKE_AR} d ${trimmed}.new Z3Solver.cpp.o COMMAND_ERROR_IS_FATAL ANY)
      file(RENAME ${trimmed}.new ${trimmed})
    endif()
    set(archive ${trimmed})
  endif()
  add_library(pdl_llvm_${name} STATIC IMPORTED GLOBAL)
  set_target_properties(pdl_llvm_${name} PROPERTIES IMPORTED_LOCATION ${archive})
  list(APPEND PDL_LLVM_LIBRARIES pdl_llvm_${name})
endforeach()
set(PDL_LLVM_SYSTEM_LIBRARIES ZLIB::ZLIB zstd::libzstd_shared Threads::Threads pdl_edit tinfo
                              ${CMAKE_DL_LIBS})

