# cmake --install: the headers, and a package for find_package (with components) and for pkg-config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(crochet_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/crochet)
set(CROCHET_PROTO_DIR ${CMAKE_INSTALL_DATADIR}/crochet/proto)
set(CROCHET_SOURCE_DIR ${CMAKE_INSTALL_DATADIR}/crochet/src)
set(CROCHET_HEADER_DIR ${CMAKE_INSTALL_INCLUDEDIR})

# All headers, independent of options: a component only adds the dependencies of its headers.
install(DIRECTORY include/ kernels/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.hpp PATTERN *.ipp
  PATTERN *.h)
install(DIRECTORY proto/ DESTINATION ${CROCHET_PROTO_DIR} FILES_MATCHING PATTERN *.proto)
install(DIRECTORY src/ DESTINATION ${CROCHET_SOURCE_DIR} FILES_MATCHING PATTERN *.cpp)

# One export set for each component, so that a target exists only if it is requested and its dependencies are found.
foreach(component IN LISTS crochet_components)
  install(TARGETS crochet_${component} EXPORT crochet-${component} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT crochet-${component} NAMESPACE crochet:: DESTINATION ${crochet_config_dir})
endforeach()

configure_package_config_file(cmake/crochetConfig.cmake.in crochetConfig.cmake INSTALL_DESTINATION ${crochet_config_dir}
  PATH_VARS CROCHET_PROTO_DIR CROCHET_SOURCE_DIR CROCHET_HEADER_DIR)
write_basic_package_version_file(crochetConfigVersion.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/crochetConfig.cmake ${PROJECT_BINARY_DIR}/crochetConfigVersion.cmake
  cmake/crochet-components.cmake cmake/crochet-service-name.cmake DESTINATION ${crochet_config_dir})

configure_file(cmake/crochet.pc.in crochet.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/crochet.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig)
