// Activities: what a profile records (the host, which is the CPU, and devices), named as in torch.profiler.ProfilerActivity.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/event.h"

namespace mindtorch::profiler {

// Numbers are torch's. kNpu is torch's PrivateUse1. XPU, HPU and MTIA have names only: no source records them.
enum class Activity : std::uint8_t { kCpu = 0, kXpu = 1, kCuda = 2, kHpu = 3, kMtia = 4, kNpu = 5 };

MINDTORCH_EXPORT std::string_view activity_name(Activity activity);  // "CPU", "XPU", "CUDA", "HPU", "MTIA", "NPU"

// "cpu", "NPU", "ProfilerActivity.CUDA", "PrivateUse1", "gpu": letters of any case, after the last dot. Throws InvalidArgument for anything
// else.
MINDTORCH_EXPORT Activity parse_activity(std::string_view text);

// The type of the device that an activity records; no value for activities that cannot be recorded.
MINDTORCH_EXPORT std::optional<trace::DeviceType> device_type_of(Activity activity);

// The activities that a user selects. A default-constructed object means "everything that this machine supports", which differs from an
// empty list.
class Activities {
 public:
  Activities() = default;
  Activities(std::initializer_list<Activity> list) : list_(list), specified_(true) {}
  explicit Activities(std::vector<Activity> list) : list_(std::move(list)), specified_(true) {}

  bool specified() const noexcept { return specified_; }
  const std::vector<Activity>& list() const noexcept { return list_; }

 private:
  std::vector<Activity> list_;
  bool specified_ = false;
};

// `list` in the order of the enum. Throws ArgumentAssertion if it is empty, InvalidArgument if an activity is there twice. Whether a device
// can be recorded is not checked here: its absence is a warning of the profile when it starts.
MINDTORCH_EXPORT std::vector<Activity> checked_activities(std::vector<Activity> list);

}  // namespace mindtorch::profiler
