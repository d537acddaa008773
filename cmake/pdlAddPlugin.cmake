# pdl_add_plugin(NAME source…) adds NAME.so, a plugin of operators: sources that use REGISTER_OP
# ("pdl/op/register_op.h"). `pdl run --plugin=NAME.so` and LoadPlugin load it.
function(pdl_add_plugin name)
  if(DEFINED pdl_HAVE_LLVM_HEADERS AND NOT pdl_HAVE_LLVM_HEADERS)
    message(FATAL_ERROR "a plugin needs the headers of LLVM that pdl was built with (Debian: "
                        "llvm-19-dev); set pdl_LLVM_INCLUDE_DIR to their folder")
  endif()
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE pdl::pdl pdl::llvm_headers)
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_compile_definitions(${name} PRIVATE PDL_BUILD_PLUGIN)
  # A plugin exports only its two entry points.
  set_target_properties(${name} PROPERTIES PREFIX "" CXX_VISIBILITY_PRESET hidden)
endfunction()
