# How a test is declared. The tests of a part are one program, because linking one per file would take longer than running them.
include_guard()

# Most of the time of a build goes into the templates of gmock: what is tested is the library, and that is compiled in full.
function(mindtorch_compile_as_test target)
  target_compile_options(${target} PRIVATE -O0)
  set_target_properties(${target} PROPERTIES MINDTORCH_NO_SANITIZE undefined)
endfunction()

# The main function of all test programs, compiled once; they share its precompiled header.
function(mindtorch_test_main)
  add_library(test_main OBJECT ${PROJECT_SOURCE_DIR}/tests/support/test_main.cpp)
  target_link_libraries(test_main PRIVATE GTest::gmock fmt::fmt Threads::Threads mindtorch_flags)
  # Programs that share a precompiled header with it are compiled like this; a library would be compiled with -fPIC.
  set_target_properties(test_main PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(test_main PRIVATE -fPIE)
  mindtorch_compile_as_test(test_main)
  mindtorch_precompile(test_main <gmock/gmock.h>)
endfunction()

# mindtorch_test_program(<name> <library>): a program for tests that are linked with mindtorch::mindtorch or with mindtorch_internals.
function(mindtorch_test_program name library)
  add_executable(${name} $<TARGET_OBJECTS:test_main>)
  target_link_libraries(${name} PRIVATE ${library} GTest::gmock mindtorch_flags)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  mindtorch_compile_as_test(${name})
  if(MINDTORCH_PRECOMPILE_HEADERS)
    target_precompile_headers(${name} REUSE_FROM test_main)
    mindtorch_let_ccache_precompile(${name})
  endif()
endfunction()

# mindtorch_test(<path> [PROJECT <name> LIBRARY <lib>] [OWN_PROGRAM] [PUBLIC_API] [SOURCES a.cpp ...] [LINK lib ...] [LABELS l ...] [TIMEOUT s]): tests/<path>_test.cpp as
# one entry of ctest, a process of its own. It becomes a part of the program <part>_tests, or with OWN_PROGRAM a program of its own,
# <path with underscores>_test; the target tests_of_<part> builds them all. Tests see all of the library; with PUBLIC_API they are linked
# with libmindtorch.so, and so are all tests of the part. A project beside the profiler has its tests in a folder of its own, in which the
# paths begin, and its library; its entries of ctest are <name>/<path>.
function(mindtorch_test path)
  cmake_parse_arguments(ARG "OWN_PROGRAM;PUBLIC_API" "TIMEOUT;PROJECT;LIBRARY" "LINK;LABELS;SOURCES" ${ARGN})
  set(name ${path})
  set(folder ${PROJECT_SOURCE_DIR}/tests)
  if(ARG_PROJECT)
    set(name ${ARG_PROJECT}/${path})
    set(folder ${CMAKE_CURRENT_SOURCE_DIR})
  endif()
  string(REGEX REPLACE "/.*" "" part ${name})
  set(program ${part}_tests)
  if(ARG_OWN_PROGRAM)
    string(REPLACE "/" "_" program ${name}_test)
  endif()
  set(library mindtorch_internals)
  if(ARG_LIBRARY)
    set(library ${ARG_LIBRARY})
  elseif(ARG_PUBLIC_API)
    set(library mindtorch::mindtorch)
  endif()
  if(NOT TARGET ${program})
    mindtorch_test_program(${program} ${library})
    if(NOT TARGET tests_of_${part})
      add_custom_target(tests_of_${part})
    endif()
    add_dependencies(tests_of_${part} ${program})
  endif()
  target_sources(${program} PRIVATE ${folder}/${path}_test.cpp ${ARG_SOURCES})
  target_link_libraries(${program} PRIVATE ${ARG_LINK})

  # A program of its own holds no other tests, but may hold suites that are written in another file and instantiated in this one.
  if(ARG_OWN_PROGRAM)
    add_test(NAME ${name} COMMAND ${program} --gtest_brief=1)
  else()
    add_test(NAME ${name} COMMAND ${program} --gtest_brief=1 --only=${path})
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
endfunction()
