// The capsule that _C lends its services with.
#include "python/src/services.h"

#include "python/src/bindings.h"
#include "python/src/interpreter_exit.h"

namespace mindtorch::python {

void lend_services(nb::module_& module) {
  static constexpr Services kServices{.begin_stay = begin_stay, .end_stay = end_stay, .set_python_error = set_python_error};
  module.attr("_services") = nb::capsule(&kServices, Services::kName);
}

}  // namespace mindtorch::python
