// A function of Python that is told when a session starts and stops, for libraries that know plain functions alone (the PyTorch bridge).
#pragma once

#include <nanobind/nanobind.h>

namespace mindtorch::python {

// _session_listener(callable) -> the address of a function void(uint32_t wants) that calls it.
void bind_session_listener(nanobind::module_& module);

}  // namespace mindtorch::python
