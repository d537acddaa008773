# cmake --install, and what find_package(pdl) and pkg-config need.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pdl)

install(TARGETS libpdl EXPORT pdlTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT pdlTargets NAMESPACE pdl:: DESTINATION ${package_dir})
install(DIRECTORY include/pdl DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h"
        PATTERN "*.def")
install(FILES ${PROJECT_BINARY_DIR}/include/pdl/version.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pdl)

# The messages of stored networks and declarations: the source for other languages, and the header for programs that
# link to pdl::proto.
install(FILES proto/pdl.proto ${PROJECT_BINARY_DIR}/proto/pdl.pb.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pdl)

configure_package_config_file(cmake/pdlConfig.cmake.in pdlConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(pdlConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/pdlConfig.cmake ${PROJECT_BINARY_DIR}/pdlConfigVersion.cmake
              cmake/pdlAddPlugin.cmake DESTINATION ${package_dir})

# Relative to the file, so an installation can be moved.
file(RELATIVE_PATH PDL_PREFIX_OF_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/pdl.pc.in pdl.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/pdl.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
