// Reads the devices that the header of a Chrome trace lists.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "mindtorch/trace/event.h"
#include "mindtorch/trace/memory_budget.h"

namespace mindtorch::ingest::chrome {

// Reads the value of "deviceProperties". The trace does not name the type of its devices, so all of them are of `type`. Gives no value if
// the JSON holds more than DeviceProperties can: anything but a list of objects with an id, a name, and whole numbers. Throws
// BudgetExceeded.
std::optional<std::vector<trace::DeviceProperties>> read_device_list(std::string_view json, trace::DeviceType type,
                                                                     trace::MemoryBudget& budget);

}  // namespace mindtorch::ingest::chrome
