# pdl_module(NAME
#            [SOURCES file…]     sources of the module, relative to its folder or absolute
#            [DEPENDS module…]   modules that it may include, as listed in docs/architecture.md
#            [LIBRARIES target…] third-party libraries that it uses
#            [OPTIONS option…]   additional compiler options
#            [SEPARATE file…]    sources that are compiled individually, since most of the time is their own code
#            [GENERATED])        its sources are generated: no warnings
#
# Adds the target pdl_NAME. All modules are linked into libpdl, see PdlLibrary.cmake.
function(pdl_module name)
  cmake_parse_arguments(PARSE_ARGV 1 module "GENERATED" "" "SOURCES;DEPENDS;LIBRARIES;OPTIONS;SEPARATE")
  if(module_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "pdl_module(${name}): unknown arguments '${module_UNPARSED_ARGUMENTS}'")
  endif()
  set(target pdl_${name})
  set(options pdl_options)
  if(module_GENERATED)
    set(options pdl_generated_options)
  endif()
  list(TRANSFORM module_DEPENDS PREPEND pdl_)

  if(module_SOURCES)
    add_library(${target} OBJECT ${module_SOURCES})
    target_link_libraries(${target} PRIVATE ${options})
    target_compile_options(${target} PRIVATE ${module_OPTIONS})
    # The fuzzer counts edges in readers and passes. Counting them in kernels, which are most of the
    # edges, would cost every run without leading to other inputs.
    if(PDL_FUZZ AND NOT module_GENERATED AND NOT name STREQUAL "kernels")
      target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
    endif()
    if(NOT module_GENERATED)
      pdl_precompile(${target})
      list(TRANSFORM module_SEPARATE PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
      pdl_compile_together(${target} ${module_SEPARATE})
    endif()
    target_link_libraries(${target} PUBLIC ${module_DEPENDS} ${module_LIBRARIES} pdl::llvm_headers)
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${module_DEPENDS} ${module_LIBRARIES} pdl::llvm_headers)
  endif()
endfunction()

# Compiles sources of a folder together: headers and templates, which are much of the work, are compiled once for all of
# them. A folder of up to 8 files is one group, one of up to 24 files has two, and a larger one has six, by the initials
# of the names, so a group is compiled in seconds, and adding a file rarely changes which files are together.
# Names in anonymous namespaces must differ within a group; the debug preset compiles each source individually and so
# verifies its includes.
#
# pdl_compile_together(TARGET separate_file…)
function(pdl_compile_together target)
  get_target_property(sources ${target} SOURCES)
  set(folders)
  if(ARGN)
    list(REMOVE_ITEM sources ${ARGN})
    set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    list(APPEND folders ${folder})
    list(APPEND files_of_${folder} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    set(files ${files_of_${folder}})
    list(LENGTH files count)
    if(count LESS_EQUAL 8)
      set(ranges a-z)
    elseif(count LESS_EQUAL 24)
      set(ranges a-m n-z)
    else()
      set(ranges a-b c-d e-k l-o p-r s-z)
    endif()
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    foreach(range IN LISTS ranges)
      string(MAKE_C_IDENTIFIER "${folder}/${range}" group)
      set(members ${files})
      list(FILTER members INCLUDE REGEX "/[${range}][^/]*$")
      set_source_files_properties(${members} PROPERTIES UNITY_GROUP ${group})
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${PDL_COMPILE_TOGETHER} UNITY_BUILD_MODE GROUP)
endfunction()

# pdl_cuda_module(SOURCES file.{cu,cc}… LIBRARIES target…) adds libpdl_cuda.so if nvcc was found. It
# links to libpdl, which loads it from its own folder when a CUDA device is first requested.
function(pdl_cuda_module)
  cmake_parse_arguments(PARSE_ARGV 0 module "" "" "SOURCES;LIBRARIES")
  if(NOT PDL_HAVE_CUDA OR NOT module_SOURCES)
    return()
  endif()
  add_library(pdl_cuda MODULE ${module_SOURCES})
  target_compile_options(
    pdl_cuda PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra;--expt-relaxed-constexpr>)
  target_link_libraries(pdl_cuda PRIVATE pdl_options libpdl ${module_LIBRARIES})
  if(PDL_HAVE_NCCL)
    target_include_directories(pdl_cuda SYSTEM PRIVATE ${PDL_NCCL_INCLUDE_DIR})
  endif()
  set_target_properties(pdl_cuda PROPERTIES CUDA_RUNTIME_LIBRARY Static INSTALL_RPATH "$ORIGIN"
                                            BUILD_WITH_INSTALL_RPATH ON)
  # The toolkit's libraries are often outside the dynamic linker's search path. CMake assumes that their folder
  # is in the linker's search path and would omit it from INSTALL_RPATH.
  target_link_options(pdl_cuda PRIVATE -Wl,-rpath,${CUDAToolkit_LIBRARY_DIR})
  # The program runs without it, so `ninja bin/pdl` does not build it.
  install(TARGETS pdl_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL)
endfunction()
