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
  # A target is spared what its property MINDTORCH_NO_SANITIZE names. That must come last, so it cannot be an option of the target.
  set(spared $<TARGET_PROPERTY:MINDTORCH_NO_SANITIZE>)
  target_compile_options(mindtorch_flags INTERFACE -fsanitize=${MINDTORCH_SANITIZE} -fno-sanitize-recover=all
                         $<$<BOOL:${spared}>:-fno-sanitize=${spared}>)
  target_link_options(mindtorch_flags INTERFACE -fsanitize=${MINDTORCH_SANITIZE})
endif()

# The objects of all parts are compiled once and linked twice: into the shared library, which exports only what MINDTORCH_EXPORT marks, and
# into an archive from which tests can reach everything.
add_library(mindtorch SHARED)
target_sources(mindtorch PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR})
add_library(mindtorch::mindtorch ALIAS mindtorch)
# Nothing of a static library is exported. Where the compiler links the standard library statically, its exported symbols would otherwise
# take the place of those of the shared one in other libraries of the process.
target_link_options(mindtorch PRIVATE LINKER:--exclude-libs,ALL)
add_library(mindtorch_internals STATIC EXCLUDE_FROM_ALL)

# Precompiles what most sources of a target include, if this build is to do that.
function(mindtorch_precompile target)
  if(MINDTORCH_PRECOMPILE_HEADERS)
    target_precompile_headers(${target} PRIVATE ${ARGN})
    mindtorch_let_ccache_precompile(${target})
  endif()
endfunction()

# ccache knows a precompiled header by what is in it if the compiler tells, and if no time is in it.
function(mindtorch_let_ccache_precompile target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fpch-preprocess)
  else()
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()

# What the fuzz targets reach, besides the commands of mtprof.
set(MINDTORCH_FUZZED_PARTS base trace analyze ingest export)

# mindtorch_part(<part> SOURCES a.cpp ... [PUBLIC_HEADERS a.h ...] [PRECOMPILE a.h ...] [LINK lib ...]): the objects of one folder, added
# to libmindtorch.so.
# Only the headers that are listed as public are installed; no public header and no program outside the library may include another one.
# The part's public name mindtorch::<part> always means the shared library: a process has one recorder, however many libraries use it.
function(mindtorch_part part)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC_HEADERS;PRECOMPILE;LINK" ${ARGN})
  string(REPLACE "/" "_" name ${part})
  set(objects mindtorch_${name}_objects)
  add_library(${objects} OBJECT ${ARG_SOURCES})
  set_target_properties(${objects} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(${objects} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${objects} PUBLIC fmt::fmt Threads::Threads ${ARG_LINK} PRIVATE $<BUILD_INTERFACE:mindtorch_flags>)
  if(MINDTORCH_BUILD_FUZZERS AND part IN_LIST MINDTORCH_FUZZED_PARTS)
    target_compile_options(${objects} PRIVATE -fsanitize=fuzzer-no-link)  # counts what an input reaches
  endif()
  list(LENGTH ARG_SOURCES count)
  if(MINDTORCH_JOIN_SOURCES)
    set_target_properties(${objects} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  elseif(count GREATER 8)  # below that, it takes longer to precompile the headers than to read them every time
    mindtorch_precompile(${objects} <algorithm> <array> <atomic> <functional> <map> <memory> <mutex> <optional> <span> <string>
                         <string_view> <unordered_map> <vector> <fmt/format.h> ${ARG_PRECOMPILE})
  endif()
  foreach(library mindtorch mindtorch_internals)
    target_sources(${library} PRIVATE $<TARGET_OBJECTS:${objects}>)
    target_link_libraries(${library} PRIVATE ${ARG_LINK})
  endforeach()
  list(TRANSFORM ARG_PUBLIC_HEADERS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  target_sources(mindtorch PUBLIC FILE_SET HEADERS FILES ${ARG_PUBLIC_HEADERS})

  add_library(mindtorch_${name} INTERFACE)
  target_link_libraries(mindtorch_${name} INTERFACE mindtorch)
  set_target_properties(mindtorch_${name} PROPERTIES EXPORT_NAME ${name})
  add_library(mindtorch::${name} ALIAS mindtorch_${name})
  set_property(GLOBAL APPEND PROPERTY MINDTORCH_PARTS mindtorch_${name})
endfunction()

function(mindtorch_finish_library)
  target_compile_features(mindtorch PUBLIC cxx_std_20)
  target_link_libraries(mindtorch PUBLIC fmt::fmt Threads::Threads PRIVATE $<BUILD_INTERFACE:mindtorch_flags> ${CMAKE_DL_LIBS})
  # Calls inside the library need no symbol look-up; data stays interposable, as executables may hold copies of it.
  target_link_options(mindtorch PRIVATE -Wl,-Bsymbolic-functions)
  set_target_properties(mindtorch PROPERTIES LINKER_LANGUAGE CXX)
  mindtorch_same_runpath_everywhere(mindtorch)
  if(NOT SKBUILD)  # a wheel has no links, so there the file has one name
    set_target_properties(mindtorch PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  endif()

  target_include_directories(mindtorch_internals PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(mindtorch_internals PUBLIC fmt::fmt Threads::Threads PRIVATE mindtorch_flags ${CMAKE_DL_LIBS})
  set_target_properties(mindtorch_internals PROPERTIES LINKER_LANGUAGE CXX)
endfunction()

# mindtorch_benchmark(<name> [LINK lib ...]): benchmarks/<name>.cpp, run by ./dev bench <name>; part of the target `benchmarks`.
function(mindtorch_benchmark name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(bench_${name} ${PROJECT_SOURCE_DIR}/benchmarks/${name}.cpp)
  target_link_libraries(bench_${name} PRIVATE mindtorch::mindtorch ${ARG_LINK} mindtorch_flags)
  target_include_directories(bench_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  add_dependencies(benchmarks bench_${name})
endfunction()
