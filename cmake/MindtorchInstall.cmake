# Rules for cmake --install, and the package files that find_package(mindtorch) reads.
include_guard()
include(CMakePackageConfigHelpers)

# What is installed belongs to one of four components: cpp (library, headers, CMake package, mtprof), python (the package mindtorch_v2, which
# needs cpp), bridge (to LibTorch) and runtime (the embedded runtime, and its part of the Python package).
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME cpp)
# The folder of the Python package. A wheel is one folder with all of it; otherwise Python looks for packages in its site-packages.
if(SKBUILD)
  set(MINDTORCH_PYTHON_DIR .)
endif()

# Programs that are installed find the library beside them, wherever the whole is moved.
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
if(NOT CMAKE_INSTALL_LIBDIR STREQUAL "lib")
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  file(CREATE_LINK ${PROJECT_BINARY_DIR}/lib ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR} SYMBOLIC)
endif()

# A target that is installed has the RUNPATH of its installation in the build tree too, whose folders lie as those of an installation do.
# Otherwise CMake leaves room for a replacement, which ends in an empty entry: the loader would look into the current folder, where anybody
# may have put a library. A wheel is made in a build tree from which nothing runs, and names no folder of this machine.
function(mindtorch_same_runpath_everywhere target)
  if(NOT SKBUILD)
    set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH_USE_LINK_PATH ON)
  endif()
endfunction()

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
