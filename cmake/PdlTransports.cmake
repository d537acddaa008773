# Finds the libraries by which processes communicate: Open MPI, MPICH and Gloo. pdl_transport_module makes a module
# for each that is there; PDL_TRANSPORTS=OFF makes none. The paths of MPI are Debian's; elsewhere, set
# PDL_OPENMPI_INCLUDE_DIR, PDL_OPENMPI_LIBRARY and so on.

set(PDL_TRANSPORTS AUTO CACHE STRING "Build modules for MPI and Gloo: AUTO (for each library that is found) or OFF")
set_property(CACHE PDL_TRANSPORTS PROPERTY STRINGS AUTO OFF)

if(NOT PDL_TRANSPORTS STREQUAL "OFF")
  set(arch ${CMAKE_LIBRARY_ARCHITECTURE})
  find_path(PDL_OPENMPI_INCLUDE_DIR mpi.h PATHS /usr/lib/${arch}/openmpi/include NO_DEFAULT_PATH)
  find_library(PDL_OPENMPI_LIBRARY mpi PATHS /usr/lib/${arch}/openmpi/lib NO_DEFAULT_PATH)
  find_path(PDL_MPICH_INCLUDE_DIR mpi.h PATHS /usr/include/${arch}/mpich NO_DEFAULT_PATH)
  find_library(PDL_MPICH_LIBRARY mpich)
  find_path(PDL_GLOO_INCLUDE_DIR gloo/rendezvous/context.h)
  find_library(PDL_GLOO_LIBRARY gloo)
endif()

# pdl_transport_module(NAME SOURCES file.cc…) adds libpdl_NAME.so if the library of that name was found. It links to
# libpdl, which loads it from its own folder.
function(pdl_transport_module name)
  cmake_parse_arguments(PARSE_ARGV 1 module "" "" "SOURCES")
  string(TOUPPER ${name} library)
  if(PDL_TRANSPORTS STREQUAL "OFF" OR NOT PDL_${library}_INCLUDE_DIR OR NOT PDL_${library}_LIBRARY)
    return()
  endif()
  add_library(pdl_${name} MODULE ${module_SOURCES})
  target_include_directories(pdl_${name} SYSTEM PRIVATE ${PDL_${library}_INCLUDE_DIR})
  target_link_libraries(pdl_${name} PRIVATE pdl_options libpdl ${PDL_${library}_LIBRARY})
  # Without the deprecated C++ bindings, which are libraries of their own.
  target_compile_definitions(pdl_${name} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_link_options(pdl_${name} PRIVATE -Wl,--no-undefined)
  set_target_properties(pdl_${name} PROPERTIES INSTALL_RPATH "$ORIGIN" BUILD_WITH_INSTALL_RPATH ON)
  # The program runs without it, so `ninja bin/pdl` does not build it.
  install(TARGETS pdl_${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL)
endfunction()
