// The Python module mindtorch_v2._C.
#include "python/src/bindings.h"

NB_MODULE(_C, module) {
  using namespace mindtorch::python;
  module.doc() = "What mindtorch_v2 is made of. Private: use the names of mindtorch_v2 and its submodules.";
  bind_errors(module);
  bind_runtime(module);
  bind_profiler(module);
  bind_capture(module);
}
