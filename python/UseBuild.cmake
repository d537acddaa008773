# For a wheel of the build in PDL_BUILD: installs its libraries and its program, and its module if that was built for this
# Python (PDL_HAVE_MODULE); otherwise defines the targets that are required to build the module.

get_filename_component(build ${PDL_BUILD} ABSOLUTE)
file(GLOB library ${build}/lib/libpdl.so.?.?)
if(NOT library)
  message(FATAL_ERROR "there is no build of pdl in ${build}")
endif()
get_filename_component(soname ${library} NAME)
file(REAL_PATH ${library} library)

find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(
  COMMAND ${Python_EXECUTABLE} -c "import sysconfig; print(sysconfig.get_config_var('EXT_SUFFIX'))"
  OUTPUT_VARIABLE suffix OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(module ${build}/python/pdl/_pdl${suffix})
if(EXISTS ${module})
  set(PDL_HAVE_MODULE ON)
  install(PROGRAMS ${module} DESTINATION pdl COMPONENT python)
  install(PROGRAMS ${library} DESTINATION pdl RENAME ${soname} COMPONENT python)
else()
  set(PDL_PYTHON ON)
  set(CMAKE_CXX_STANDARD 20)
  set(CMAKE_CXX_VISIBILITY_PRESET hidden)
  find_package(LLVM 19.1 REQUIRED CONFIG)
  set(root ${CMAKE_CURRENT_LIST_DIR}/..)
  add_library(pdl_options INTERFACE)
  add_library(libpdl SHARED IMPORTED)
  set_target_properties(
    libpdl PROPERTIES IMPORTED_LOCATION ${library} IMPORTED_SONAME ${soname}
                      INTERFACE_INCLUDE_DIRECTORIES "${root}/include;${build}/include")
  target_include_directories(libpdl SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
endif()
if(EXISTS ${build}/bin/pdl)
  install(PROGRAMS ${build}/bin/pdl DESTINATION pdl/bin COMPONENT python)
endif()
include(WheelFiles.cmake)
# Modules that libpdl loads from its own folder.
file(GLOB modules ${build}/lib/libpdl_*.so)
install(PROGRAMS ${modules} DESTINATION pdl COMPONENT python)
