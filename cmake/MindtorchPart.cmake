# How a part, a test and the shared library are declared. A part is a folder with one call of mindtorch_part().
include_guard()

# Flags of every target that is ours. Kept off the consumers of the installed package.
add_library(mindtorch_flags INTERFACE)
target_compile_options(mindtorch_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
                       -Wno-missing-field-initializers -fno-omit-frame-pointer -fno-plt)
if(MINDTORCH_WARNINGS_AS_ERRORS)
  target_compile_options(mindtorch_flags INTERFACE -Werror)
endif()
if(MINDTORCH_SANITIZE)
  target_compile_options(mindtorch_flags INTERFACE -fsanitize=${MINDTORCH_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(mindtorch_flags INTERFACE -fsanitize=${MINDTORCH_SANITIZE})
endif()

# mindtorch_part(<part> SOURCES a.cpp ... [LINK lib ...]): the objects of one folder, added to libmindtorch.so.
# The part's public name mindtorch::<part> always means the shared library: one recorder a process, whoever loads it.
function(mindtorch_part part)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  string(REPLACE "/" "_" name ${part})
  add_library(mindtorch_${name}_objects OBJECT ${ARG_SOURCES})
  target_include_directories(mindtorch_${name}_objects PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(mindtorch_${name}_objects PUBLIC fmt::fmt Threads::Threads ${ARG_LINK} PRIVATE $<BUILD_INTERFACE:mindtorch_flags>)
  target_sources(mindtorch PRIVATE $<TARGET_OBJECTS:mindtorch_${name}_objects>)
  target_link_libraries(mindtorch PRIVATE ${ARG_LINK})
  add_library(mindtorch_${name} INTERFACE)
  target_link_libraries(mindtorch_${name} INTERFACE mindtorch)
  set_target_properties(mindtorch_${name} PROPERTIES EXPORT_NAME ${name})
  add_library(mindtorch::${name} ALIAS mindtorch_${name})
  set_property(GLOBAL APPEND PROPERTY MINDTORCH_PARTS mindtorch_${name})
endfunction()

function(mindtorch_finish_library)
  target_include_directories(mindtorch PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(mindtorch PUBLIC cxx_std_20)
  target_link_libraries(mindtorch PUBLIC fmt::fmt Threads::Threads PRIVATE $<BUILD_INTERFACE:mindtorch_flags> ${CMAKE_DL_LIBS})
  # Calls inside the library need no symbol look-up; data stays interposable, as executables may hold copies of it.
  target_link_options(mindtorch PRIVATE -Wl,-Bsymbolic-functions)
  set_target_properties(mindtorch PROPERTIES LINKER_LANGUAGE CXX)
  if(NOT SKBUILD)  # a wheel has no links, so there the file has one name
    set_target_properties(mindtorch PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  endif()
endfunction()

# mindtorch_test(<path> [LINK lib ...] [LABELS l ...] [TIMEOUT s]): tests/<path>_test.cpp, one executable, one ctest entry.
function(mindtorch_test path)
  cmake_parse_arguments(ARG "" "TIMEOUT" "LINK;LABELS;SOURCES" ${ARGN})
  string(REPLACE "/" "_" name ${path})
  add_executable(${name}_test ${PROJECT_SOURCE_DIR}/tests/${path}_test.cpp ${ARG_SOURCES})
  target_link_libraries(${name}_test PRIVATE mindtorch::mindtorch GTest::gmock_main ${ARG_LINK} mindtorch_flags)
  target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR})
  # Most of the time of a build goes into the templates of gmock: what is tested is the library, and that is compiled in full.
  target_compile_options(${name}_test PRIVATE -O0 -g1)
  if(MINDTORCH_SANITIZE)
    target_compile_options(${name}_test PRIVATE -fno-sanitize=undefined)
  endif()
  add_test(NAME ${path} COMMAND ${name}_test --gtest_brief=1)
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  set_tests_properties(${path} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
endfunction()

# mindtorch_benchmark(<name> [LINK lib ...]): benchmarks/<name>.cpp, run by ./dev bench <name>; part of the target `benchmarks`.
function(mindtorch_benchmark name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(bench_${name} ${PROJECT_SOURCE_DIR}/benchmarks/${name}.cpp)
  target_link_libraries(bench_${name} PRIVATE mindtorch::mindtorch ${ARG_LINK} mindtorch_flags)
  target_include_directories(bench_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  add_dependencies(benchmarks bench_${name})
endfunction()
