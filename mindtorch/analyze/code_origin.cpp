// The folders and modules that hold code of libraries.
#include "mindtorch/analyze/code_origin.h"

#include <algorithm>
#include <array>
#include <string>

#include "mindtorch/base/text.h"

namespace mindtorch::analyze {
namespace {

bool lies_in(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) || path.find("/" + std::string(folder)) != std::string_view::npos;
}

// Modules and packages of the standard library that run other code, wait or do input and output: those that appear on stacks. Sorted.
constexpr std::array<std::string_view, 68> kStandardModules = {"_bootsubprocess",
                                                               "_collections_abc",
                                                               "_compression",
                                                               "_pydatetime",
                                                               "_pydecimal",
                                                               "_pyio",
                                                               "_strptime",
                                                               "_weakrefset",
                                                               "abc",
                                                               "argparse",
                                                               "ast",
                                                               "asyncio",
                                                               "base64",
                                                               "bdb",
                                                               "bisect",
                                                               "cProfile",
                                                               "codecs",
                                                               "collections",
                                                               "concurrent",
                                                               "contextlib",
                                                               "copy",
                                                               "copyreg",
                                                               "csv",
                                                               "ctypes",
                                                               "dataclasses",
                                                               "datetime",
                                                               "decimal",
                                                               "enum",
                                                               "fnmatch",
                                                               "fractions",
                                                               "functools",
                                                               "genericpath",
                                                               "glob",
                                                               "gzip",
                                                               "heapq",
                                                               "http",
                                                               "importlib",
                                                               "inspect",
                                                               "io",
                                                               "json",
                                                               "locale",
                                                               "logging",
                                                               "lzma",
                                                               "multiprocessing",
                                                               "ntpath",
                                                               "os",
                                                               "pathlib",
                                                               "pickle",
                                                               "posixpath",
                                                               "queue",
                                                               "random",
                                                               "re",
                                                               "runpy",
                                                               "selectors",
                                                               "shutil",
                                                               "socket",
                                                               "socketserver",
                                                               "ssl",
                                                               "statistics",
                                                               "subprocess",
                                                               "tarfile",
                                                               "tempfile",
                                                               "threading",
                                                               "traceback",
                                                               "typing",
                                                               "urllib",
                                                               "uuid",
                                                               "zipfile"};
static_assert(std::ranges::is_sorted(kStandardModules));

// "contextlib.py" and "asyncio/events.py": paths that torch has cut.
bool is_standard_module(std::string_view path) {
  const std::size_t slash = path.find('/');
  std::string_view module = path.substr(0, slash);
  if (slash == std::string_view::npos) {
    if (!module.ends_with(".py")) return false;
    module.remove_suffix(3);
  }
  return std::ranges::binary_search(kStandardModules, module);
}

// "/usr/lib/python3.12/contextlib.py"
bool is_in_python(std::string_view path) {
  for (std::size_t at = path.find("/lib/python3"); at != std::string_view::npos; at = path.find("/lib/python3", at + 1)) {
    const std::size_t end = path.find('/', at + 5);
    if (end != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

CodeOrigin code_origin(std::string_view file) {
  for (const std::string_view folder :
       {"mindtorch_v2/profiler/", "mindtorch_v2/base/", "mindtorch_v2/capture/", "mindtorch_v2/cli/", "mindtorch_v2/compat/",
        "mindtorch_v2/events/", "mindtorch_v2/monitor/", "torch/profiler/", "torch/autograd/profiler"}) {
    if (lies_in(file, folder)) return CodeOrigin::kProfiler;
  }
  // "<frozen importlib._bootstrap>", "<built-in method ...>"; but a cell of a notebook and a command line are the user's.
  if (file.starts_with("<") && !file.starts_with("<ipython") && file != "<string>" && file != "<stdin>") return CodeOrigin::kLibrary;
  if (lies_in(file, "tests/mindtorch_v2/")) return CodeOrigin::kUser;
  if (lies_in(file, "mindtorch_v2/") || contains(file, "torchinductor_")) return CodeOrigin::kLibrary;
  if (contains(file, "site-packages/") || contains(file, "dist-packages/") || is_in_python(file)) return CodeOrigin::kLibrary;
  if (file.starts_with("torch/") || is_standard_module(file)) return CodeOrigin::kLibrary;
  return CodeOrigin::kUser;
}

}  // namespace mindtorch::analyze
