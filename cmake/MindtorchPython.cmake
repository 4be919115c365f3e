# How modules and files get into the Python package mindtorch_v2.
include_guard()

if(NOT Python_EXECUTABLE AND EXISTS ${PROJECT_SOURCE_DIR}/.venv/bin/python)
  set(Python_EXECUTABLE ${PROJECT_SOURCE_DIR}/.venv/bin/python)
endif()
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
if(NOT nanobind_DIR)
  execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_VARIABLE nanobind_DIR OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
endif()
find_package(nanobind CONFIG REQUIRED)

# nanobind's and Python's headers are not ours to judge.
nanobind_build_library(nanobind-static)
set_property(TARGET nanobind-static APPEND PROPERTY INTERFACE_SYSTEM_INCLUDE_DIRECTORIES
             $<TARGET_PROPERTY:nanobind-static,INTERFACE_INCLUDE_DIRECTORIES>)

# The package as the build tree holds it, and where it is installed.
set(MINDTORCH_PYTHON_PACKAGE ${PROJECT_BINARY_DIR}/python/mindtorch_v2)
if(NOT MINDTORCH_PYTHON_DIR)
  set(MINDTORCH_PYTHON_DIR lib/python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}/site-packages/mindtorch_v2)
endif()
file(GLOB_RECURSE links ${MINDTORCH_PYTHON_PACKAGE}/*.py ${MINDTORCH_PYTHON_PACKAGE}/*.pyi)
foreach(link ${links})
  if(NOT EXISTS ${link})  # the file has another name now
    file(REMOVE ${link})
  endif()
endforeach()
# The libraries, seen from there: below the package in a wheel and in the build tree, beside the folder of Python elsewhere.
set(MINDTORCH_PYTHON_RPATH $ORIGIN/lib)
if(NOT SKBUILD)
  file(RELATIVE_PATH to_libraries /${MINDTORCH_PYTHON_DIR} /${CMAKE_INSTALL_LIBDIR})
  list(APPEND MINDTORCH_PYTHON_RPATH $ORIGIN/${to_libraries})
endif()

# mindtorch_python_module(<target> <name> COMPONENT component LINK lib ... SOURCES a.cpp ...): the compiled module mindtorch_v2.<name>.
function(mindtorch_python_module target name)
  cmake_parse_arguments(ARG "" "COMPONENT" "LINK;SOURCES" ${ARGN})
  nanobind_add_module(${target} NB_STATIC NOMINSIZE ${ARG_SOURCES})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY ${MINDTORCH_PYTHON_PACKAGE}
                        INSTALL_RPATH "${MINDTORCH_PYTHON_RPATH}")
  mindtorch_same_runpath_everywhere(${target})
  install(TARGETS ${target} LIBRARY DESTINATION ${MINDTORCH_PYTHON_DIR} COMPONENT ${ARG_COMPONENT})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE ${ARG_LINK} mindtorch_flags)
  target_compile_options(${target} PRIVATE -Wno-pedantic)
  target_link_options(${target} PRIVATE LINKER:--exclude-libs,ALL)
  mindtorch_precompile(${target} <nanobind/nanobind.h> <memory> <optional> <vector> <fmt/format.h>)
  if(MINDTORCH_SANITIZE)
    # No interpreter without the same sanitizers loads it; it is compiled for the sake of the compiler's warnings.
    target_compile_options(${target} PRIVATE -O0)
    set_target_properties(${target} PROPERTIES MINDTORCH_NO_SANITIZE all)
  endif()
endfunction()

# mindtorch_python_files(<folder> COMPONENT component): the Python files below `folder` belong to the package. In the build tree they are
# links, each file of its own, because two projects may put files into one folder.
function(mindtorch_python_files folder)
  cmake_parse_arguments(ARG "" "COMPONENT" "" ${ARGN})
  install(DIRECTORY ${folder}/ DESTINATION ${MINDTORCH_PYTHON_DIR} COMPONENT ${ARG_COMPONENT}
          FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${folder} ${folder}/*.py ${folder}/*.pyi ${folder}/py.typed)
  foreach(file ${files})
    cmake_path(GET file PARENT_PATH parent)
    if(IS_SYMLINK ${MINDTORCH_PYTHON_PACKAGE}/${parent} AND parent)
      file(REMOVE ${MINDTORCH_PYTHON_PACKAGE}/${parent})
    endif()
    file(MAKE_DIRECTORY ${MINDTORCH_PYTHON_PACKAGE}/${parent})
    file(CREATE_LINK ${folder}/${file} ${MINDTORCH_PYTHON_PACKAGE}/${file} SYMBOLIC)
  endforeach()
endfunction()
