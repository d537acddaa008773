# libpdl.so: all modules and the only copy of LLVMSupport. Programs, tests and plugins link to no other library of pdl.

set(PDL_MODULES pdl_proto pdl_ir pdl_grammar pdl_frontend pdl_runtime pdl_layers pdl_kernels
    pdl_onnx_proto pdl_onnx pdl_model pdl_view)

file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/empty.cc CONTENT "" @ONLY)

add_library(libpdl SHARED ${PROJECT_BINARY_DIR}/empty.cc)
add_library(pdl::pdl ALIAS libpdl)
set_target_properties(
  libpdl
  PROPERTIES OUTPUT_NAME pdl
             EXPORT_NAME pdl
             VERSION ${PROJECT_VERSION}
             SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
             BUILD_WITH_INSTALL_RPATH ON
             INSTALL_RPATH "$ORIGIN")
target_compile_features(libpdl PRIVATE cxx_std_20 INTERFACE $<BUILD_INTERFACE:cxx_std_20>)
target_include_directories(
  libpdl INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                   $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
                   $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
# Threads that used the library may end, and then call it, after dlclose.
target_link_options(libpdl PRIVATE -Wl,-Bsymbolic-functions -Wl,-z,nodelete)
# clang links the run-time library of a sanitizer into programs only, not into shared libraries.
if(NOT (PDL_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang"))
  target_link_options(libpdl PRIVATE -Wl,--no-undefined)
endif()
target_link_libraries(
  libpdl
  PUBLIC $<BUILD_INTERFACE:pdl::llvm_headers>
  PRIVATE pdl_generated_options ${PDL_MODULES} "$<LINK_LIBRARY:WHOLE_ARCHIVE,${PDL_LLVM_LIBRARIES}>"
          ${PDL_LLVM_SYSTEM_LIBRARIES})

# The same code as a static library, for tests that use internal headers.
add_library(pdl_static STATIC EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/empty.cc)
target_link_libraries(
  pdl_static
  PUBLIC pdl_options ${PDL_MODULES}
  PRIVATE ${PDL_LLVM_LIBRARIES} ${PDL_LLVM_SYSTEM_LIBRARIES})
