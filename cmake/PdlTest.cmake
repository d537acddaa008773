# pdl_gtest(NAME [INTERNAL] source… [LIBRARIES library…]) adds a GoogleTest program and its ctest. It runs in the folder
# test/. With PDL_COMPILE_TOGETHER five sources are compiled at once, so names in their unnamed namespaces differ; what
# several of them need is in a header. INTERNAL links the modules statically, which makes symbols available that
# libpdl.so does not export.
function(pdl_gtest name)
  cmake_parse_arguments(PARSE_ARGV 1 test "INTERNAL" "" "LIBRARIES")
  add_executable(${name} ${test_UNPARSED_ARGUMENTS})
  # Static libraries that leave it to the program how it links to pdl come first.
  target_link_libraries(${name} PRIVATE ${test_LIBRARIES})
  if(test_INTERNAL)
    target_link_libraries(${name} PRIVATE pdl_options pdl_static)
  else()
    target_link_libraries(${name} PRIVATE pdl_options libpdl protobuf::libprotobuf)
  endif()
  target_link_libraries(${name} PRIVATE GTest::gtest_main)
  target_compile_options(${name} PRIVATE ${PDL_COLD_OPTIMIZATION})
  pdl_precompile_tests(${name} ${test_INTERNAL})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test/bin
                        UNITY_BUILD ${PDL_COMPILE_TOGETHER} UNITY_BUILD_BATCH_SIZE 5)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/test)
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${PDL_TEST_ENVIRONMENT}")
endfunction()

# pdl_nightly(test…): tests that take minutes under a sanitizer. `./dev test all` omits them there.
function(pdl_nightly)
  if(PDL_SANITIZE)
    set_property(TEST ${ARGN} APPEND PROPERTY LABELS nightly)
  endif()
endfunction()
