// The Python module mindtorch_v2._C.
#include "python/src/bindings.h"
#include "python/src/services.h"

NB_MODULE(_C, module) {
  using namespace mindtorch::python;
  module.doc() = "What mindtorch_v2 is made of. Private: use the names of mindtorch_v2 and its submodules.";
  nb::set_leak_warnings(false);  // what a program keeps in global variables may outlive the interpreter
  bind_errors(module);
  bind_profiler(module);
  bind_capture(module);
  lend_services(module);
}
