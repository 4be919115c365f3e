// Devices in Python: what torch.npu offers, and memory figures of every device.
#pragma once

#include <nanobind/nanobind.h>

namespace mindtorch::python {

namespace nb = nanobind;

void bind_devices(nb::module_& module);  // the submodule _npu

}  // namespace mindtorch::python
