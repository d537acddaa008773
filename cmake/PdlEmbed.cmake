# pdl_embed_texts(TABLE name OUTPUT file [PREFIX prefix] FILES file…) makes a header with the names and contents of
# files as C++ strings, in an array called TABLE of an anonymous namespace. PREFIX precedes each name.
function(pdl_embed_texts)
  cmake_parse_arguments(PARSE_ARGV 0 embed "" "TABLE;OUTPUT;PREFIX" "FILES")
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed_texts.cmake)
  add_custom_command(
    OUTPUT ${embed_OUTPUT}
    COMMAND ${CMAKE_COMMAND} "-DSOURCES=${embed_FILES}" -DPREFIX=${embed_PREFIX}
            -DTABLE=${embed_TABLE} -DOUTPUT=${embed_OUTPUT} -P ${script}
    DEPENDS ${embed_FILES} ${script}
    VERBATIM)
endfunction()
