// Which call launched a piece of work on a device: both have the same correlation.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/event.h"

namespace mindtorch::trace {

struct EventColumns;

// The attribute of work that a graph ran: the correlation of the call that was captured.
inline constexpr std::string_view kCaptureCorrelation = "capture correlation";

// True if a device activity is work, whose time counts.
constexpr bool is_device_work(EventKind kind) {
  return is_device_kind(kind) && kind != EventKind::kSync && kind != EventKind::kDeviceScope;
}

// Finds what belongs to a correlation, such as the event of its call. Drivers count correlations up, so that a plain array holds them;
// scattered ones are searched instead.
class MINDTORCH_EXPORT LaunchIndex {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  struct Launch {
    std::uint64_t correlation;
    std::uint32_t value;
    friend auto operator<=>(const Launch&, const Launch&) = default;
  };

  explicit LaunchIndex(std::vector<Launch> launches);
  // The calls of a recording that have a correlation; values are indices of events. O(events).
  static LaunchIndex of_calls(const EventColumns& events);

  // The first value of a correlation, kNone if there is none. One thread at a time: it remembers what it found last.
  std::uint32_t find(std::uint64_t correlation);

 private:
  std::vector<Launch> launches_;
  std::vector<std::uint32_t> dense_;
  std::uint64_t first_ = 0;
  std::size_t next_ = 0;  // the launch behind the one that was found last
};

}  // namespace mindtorch::trace
