# Rules for cmake --install, and the package files that find_package(mindtorch) reads.
include_guard()
include(CMakePackageConfigHelpers)

# Programs that are installed find the library beside them, wherever the whole is moved.
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

# The library, its public headers, and the targets mindtorch::mindtorch and mindtorch::<part>.
function(mindtorch_install_library)
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mindtorch)
  get_property(parts GLOBAL PROPERTY MINDTORCH_PARTS)
  install(TARGETS mindtorch ${parts} EXPORT mindtorch FILE_SET HEADERS)
  install(EXPORT mindtorch FILE mindtorch-targets.cmake NAMESPACE mindtorch:: DESTINATION ${package_dir})
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(FILES ${PROJECT_SOURCE_DIR}/mindtorch/bridges/torch/bridge.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/mindtorch/bridges/torch)

  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/mindtorch-config.cmake.in ${PROJECT_BINARY_DIR}/mindtorch-config.cmake
                                INSTALL_DESTINATION ${package_dir})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/mindtorch-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/mindtorch-config.cmake ${PROJECT_BINARY_DIR}/mindtorch-config-version.cmake
          DESTINATION ${package_dir})
endfunction()
