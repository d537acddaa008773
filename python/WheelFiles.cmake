# The files of every wheel that are not built: the command `pdl`, a script that runs the program in the package.
if(DEFINED SKBUILD_SCRIPTS_DIR)
  install(
    PROGRAMS ${CMAKE_CURRENT_LIST_DIR}/command.py
    DESTINATION ${SKBUILD_SCRIPTS_DIR}
    RENAME pdl
    COMPONENT python EXCLUDE_FROM_ALL)
endif()

# For programs in other languages; see pdl.proto_file().
install(FILES ${CMAKE_CURRENT_LIST_DIR}/../proto/pdl.proto DESTINATION pdl COMPONENT python EXCLUDE_FROM_ALL)
