// The bandwidth of a copy: its size over its duration.
#include "mindtorch/analyze/copy_bandwidth.h"

#include <algorithm>

namespace mindtorch::analyze {

using trace::Attribute;
using trace::EventKind;

std::optional<std::int64_t> copied_bytes(const trace::Recording& recording, std::span<const Attribute> attributes) {
  const auto bytes = std::ranges::find_if(attributes, [&](const Attribute& each) { return recording.names[each.key] == "bytes"; });
  if (bytes == attributes.end() || bytes->type != Attribute::Type::kInt) return std::nullopt;
  return static_cast<std::int64_t>(bytes->bits);
}

std::optional<double> copy_bandwidth(const trace::Recording& recording, trace::EventIndex event, std::span<const Attribute> attributes) {
  const EventKind kind = recording.events.kind[event];
  const std::int64_t duration_ns = recording.events.duration_ns[event];
  if ((kind != EventKind::kMemcpy && kind != EventKind::kMemset) || duration_ns <= 0) return std::nullopt;
  const std::optional<std::int64_t> bytes = copied_bytes(recording, attributes);
  if (!bytes) return std::nullopt;
  // One byte per nanosecond is one GB/s.
  return static_cast<double>(*bytes) / static_cast<double>(duration_ns);
}

}  // namespace mindtorch::analyze
