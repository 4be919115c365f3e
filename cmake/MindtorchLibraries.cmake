# The libraries of the system that this is built on. If some are missing, one message names them all and the command that installs them.
include_guard()

set(mindtorch_missing "")

# mindtorch_need(<Debian package> <true if there>)
macro(mindtorch_need debian_package)
  if(NOT (${ARGN}))
    list(APPEND mindtorch_missing ${debian_package})
  endif()
endmacro()

# mindtorch_need_module(<Debian package> <prefix> <pkg-config module>): the target PkgConfig::<prefix>.
macro(mindtorch_need_module debian_package prefix module)
  if(PkgConfig_FOUND)
    pkg_check_modules(${prefix} QUIET IMPORTED_TARGET ${module})
  endif()
  mindtorch_need(${debian_package} ${prefix}_FOUND)
endmacro()

find_package(Threads REQUIRED)
find_package(PkgConfig QUIET)
mindtorch_need(pkg-config PkgConfig_FOUND)
find_package(fmt QUIET)
mindtorch_need(libfmt-dev fmt_FOUND)
find_package(simdjson QUIET)
mindtorch_need(libsimdjson-dev simdjson_FOUND)
mindtorch_need_module(libzstd-dev ZSTD libzstd)
mindtorch_need_module(libxxhash-dev XXHASH libxxhash)
mindtorch_need_module(libdeflate-dev LIBDEFLATE libdeflate)
mindtorch_need_module(zlib1g-dev ZLIB zlib)
if(MINDTORCH_BUILD_RUNTIME)
  mindtorch_need_module(libopenblas-pthread-dev OPENBLAS openblas)
endif()
find_path(PROTOZERO_INCLUDE_DIR protozero/pbf_writer.hpp)
mindtorch_need(libprotozero-dev PROTOZERO_INCLUDE_DIR)
if(MINDTORCH_BUILD_TOOLS OR MINDTORCH_BUILD_PYTHON)
  find_package(CLI11 QUIET)
  mindtorch_need(libcli11-dev CLI11_FOUND)
endif()

if(mindtorch_missing)
  list(JOIN mindtorch_missing " " packages)
  message(FATAL_ERROR "mindtorch is built on libraries that are not installed here. On Debian and Ubuntu they come with\n"
                      "  sudo apt-get install ${packages}\n"
                      "Elsewhere, install what your system calls these packages. A wheel (pip install mindtorch-v2) needs none of them.")
endif()
