# Third-party libraries and tools, each library as one target.

set(missing "")

# pdl_need(FOUND WHAT PACKAGE): if FOUND is false, adds WHAT and its Debian package to the list of missing packages.
macro(pdl_need found what package)
  if(NOT ${found})
    list(APPEND missing "  ${what}: ${package}")
  endif()
endmacro()

find_package(Threads REQUIRED)
find_package(LLVM 19.1 CONFIG QUIET)
pdl_need(LLVM_FOUND "LLVM 19" llvm-19-dev)
find_package(ZLIB QUIET)
pdl_need(ZLIB_FOUND zlib zlib1g-dev)
if(LLVM_FOUND AND NOT TARGET zstd::libzstd_shared)
  pdl_need(OFF zstd libzstd-dev)
endif()
if(LLVM_FOUND)
  find_library(PDL_MLIR_LSP_LIBRARY MLIRLspServerSupportLib PATHS ${LLVM_LIBRARY_DIRS} NO_DEFAULT_PATH)
  find_path(PDL_MLIR_INCLUDE_DIR mlir/Tools/lsp-server-support/Transport.h PATHS ${LLVM_INCLUDE_DIRS}
            NO_DEFAULT_PATH)
endif()
pdl_need(PDL_MLIR_LSP_LIBRARY "the LSP library of MLIR 19" libmlir-19-dev)
find_package(Protobuf QUIET)
pdl_need(Protobuf_FOUND protobuf libprotobuf-dev)
pdl_need(Protobuf_PROTOC_EXECUTABLE protoc protobuf-compiler)
find_package(OpenMP QUIET COMPONENTS CXX)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  pdl_need(OpenMP_CXX_FOUND "OpenMP of clang" libomp-19-dev)
else()
  pdl_need(OpenMP_CXX_FOUND "OpenMP of the C++ compiler" g++)
endif()
find_program(PDL_ANTLR4_TOOL antlr4)
pdl_need(PDL_ANTLR4_TOOL "the program antlr4" antlr4)
find_path(PDL_ONNX_PROTO onnx/onnx.proto)
pdl_need(PDL_ONNX_PROTO "onnx.proto" libonnx-dev)

# pdl_find_library(TARGET PACKAGE HEADER LIBRARY [SUFFIX]): an imported target for a library without a
# usable CMake package.
macro(pdl_find_library target package header library)
  find_path(${target}_INCLUDE_DIR ${header} PATH_SUFFIXES ${ARGN})
  find_library(${target}_LIBRARY ${library})
  if(${target}_INCLUDE_DIR AND ${target}_LIBRARY)
    add_library(${target} UNKNOWN IMPORTED GLOBAL)
    set_target_properties(
      ${target} PROPERTIES IMPORTED_LOCATION ${${target}_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES
                                                                  ${${target}_INCLUDE_DIR})
  else()
    pdl_need(OFF ${library} ${package})
  endif()
endmacro()

# Eigen: headers only, in kernels/linalg/. Its functions run in one thread each, and the kernels are parallel.
find_path(PDL_EIGEN_INCLUDE_DIR Eigen/Core PATH_SUFFIXES eigen3)
pdl_need(PDL_EIGEN_INCLUDE_DIR "Eigen 3" libeigen3-dev)
if(PDL_EIGEN_INCLUDE_DIR)
  add_library(pdl_eigen INTERFACE IMPORTED GLOBAL)
  set_target_properties(
    pdl_eigen PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${PDL_EIGEN_INCLUDE_DIR}"
                         INTERFACE_COMPILE_DEFINITIONS "EIGEN_DONT_PARALLELIZE;EIGEN_MPL2_ONLY")
endif()

pdl_find_library(pdl_dnnl libdnnl-dev dnnl.hpp dnnl)
pdl_find_library(pdl_antlr4 libantlr4-runtime-dev antlr4-runtime.h antlr4-runtime antlr4-runtime)
pdl_find_library(pdl_edit libedit-dev histedit.h edit)
# The filter of system calls of `pdl --sandbox`.
pdl_find_library(pdl_seccomp libseccomp-dev seccomp.h seccomp)

if(missing)
  list(JOIN missing "\n" missing)
  message(FATAL_ERROR "these are missing, each with the Debian package that has it (`./dev build "
                      "PRESET` installs them all):\n${missing}")
endif()

# LLVM's headers, without its libraries, for the modules. The installed package exports them under the same name.
add_library(pdl::llvm_headers INTERFACE IMPORTED GLOBAL)
set_target_properties(pdl::llvm_headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES
                                                   "${LLVM_INCLUDE_DIRS}")

# The transport and the messages of the language server protocol, for the program. Only the archive: its CMake target
# would link libLLVM.so, and libpdl.so has the only copy of LLVMSupport.
add_library(pdl_mlir_lsp STATIC IMPORTED GLOBAL)
set_target_properties(pdl_mlir_lsp PROPERTIES IMPORTED_LOCATION ${PDL_MLIR_LSP_LIBRARY}
                                              INTERFACE_INCLUDE_DIRECTORIES ${PDL_MLIR_INCLUDE_DIR})

# LLVM's libraries, linked into libpdl only. LLVMSupport without its Z3 solver, which is unused and would make
# every program load 23 MB of libz3, and without the memory of tables, which ir/emergency_memory.cc provides.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(PDL_LLVM_LIBRARIES "")
foreach(name Support Demangle LineEditor)
  get_target_property(archive LLVM${name} LOCATION)
  if(name STREQUAL "Support")
    set(trimmed ${PROJECT_BINARY_DIR}/lib/libLLVMSupportTrimmed.a)
    if(NOT EXISTS ${trimmed} OR ${archive} IS_NEWER_THAN ${trimmed})
      file(COPY_FILE ${archive} ${trimmed}.new)
      execute_process(COMMAND ${CMAKE_AR} d ${trimmed}.new Z3Solver.cpp.o MemAlloc.cpp.o
                      COMMAND_ERROR_IS_FATAL ANY)
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

