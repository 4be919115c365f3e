// Calls what the module _C lends (python/src/services.h).
#include "runtime/python/src/services.h"

#include <unistd.h>

#include "python/src/bindings.h"
#include "python/src/interpreter_exit.h"
#include "python/src/services.h"

namespace mindtorch::python {
namespace {

const Services* borrowed = nullptr;

}  // namespace

void borrow_services() {
  const nb::object capsule = nb::module_::import_("mindtorch_v2._C").attr("_services");
  borrowed = static_cast<const Services*>(nb::cast<nb::capsule>(capsule).data(Services::kName));
}

bool begin_stay() noexcept { return borrowed->begin_stay(); }

void end_stay() noexcept { borrowed->end_stay(); }

void stop_this_thread() noexcept {
  for (;;) ::pause();  // returns after each signal
}

void set_python_error(const std::exception_ptr& pending) noexcept { borrowed->set_python_error(pending); }

}  // namespace mindtorch::python
