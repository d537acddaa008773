# pdl_room(NAME
#          [SOURCES file…]     sources of the room, relative to its folder or absolute
#          [DEPENDS room…]     the rooms it may include, as docs/architecture.md lists them
#          [LIBRARIES target…] libraries from outside that it uses
#          [OPTIONS option…]   compiler options of its own
#          [GENERATED])        its sources are generated: no warnings
#
# Makes the target pdl_NAME. All rooms together become libpdl, see PdlLibrary.cmake.
function(pdl_room name)
  cmake_parse_arguments(PARSE_ARGV 1 room "GENERATED" "" "SOURCES;DEPENDS;LIBRARIES;OPTIONS")
  if(room_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "pdl_room(${name}): what is '${room_UNPARSED_ARGUMENTS}'?")
  endif()
  set(target pdl_${name})
  set(options pdl_options)
  if(room_GENERATED)
    set(options pdl_generated_options)
  endif()
  list(TRANSFORM room_DEPENDS PREPEND pdl_)

  if(room_SOURCES)
    add_library(${target} OBJECT ${room_SOURCES})
    target_link_libraries(${target} PRIVATE ${options})
    target_compile_options(${target} PRIVATE ${room_OPTIONS})
    if(NOT room_GENERATED)
      pdl_precompile(${target})
    endif()
    target_link_libraries(${target} PUBLIC ${room_DEPENDS} ${room_LIBRARIES} pdl::llvm_headers)
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${room_DEPENDS} ${room_LIBRARIES} pdl::llvm_headers)
  endif()
endfunction()

# pdl_cuda_room(SOURCES file.{cu,cc}… LIBRARIES target…) makes libpdl_cuda.so, where there is nvcc. It
# links to libpdl, which loads it from its own folder when a CUDA device is first asked for.
function(pdl_cuda_room)
  cmake_parse_arguments(PARSE_ARGV 0 room "" "" "SOURCES;LIBRARIES")
  if(NOT PDL_HAVE_CUDA OR NOT room_SOURCES)
    return()
  endif()
  add_library(pdl_cuda MODULE ${room_SOURCES})
  target_compile_options(
    pdl_cuda PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra;--expt-relaxed-constexpr>)
  target_link_libraries(pdl_cuda PRIVATE pdl_options libpdl ${room_LIBRARIES})
  set_target_properties(pdl_cuda PROPERTIES CUDA_RUNTIME_LIBRARY Static INSTALL_RPATH "$ORIGIN"
                                            BUILD_WITH_INSTALL_RPATH ON)
  # The toolkit's libraries often lie outside the dynamic linker's folders. CMake takes their folder
  # for one of the linker's own and would leave it out of INSTALL_RPATH.
  target_link_options(pdl_cuda PRIVATE -Wl,-rpath,${CUDAToolkit_LIBRARY_DIR})
  install(TARGETS pdl_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()
