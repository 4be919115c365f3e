// The reference device's activity API as a table of functions, for a library that stands in for a vendor's and records the device's work
// through the vendor's interface.
#pragma once

#include "mindtorch/base/export.h"

namespace mindtorch::reference_device {

struct ActivityApi;  // activity_table.h

extern "C" {
// The table is valid until the process ends.
MINDTORCH_EXPORT const ActivityApi* mindtorch_reference_activity_api() noexcept;
}

}  // namespace mindtorch::reference_device
