// CallIds: the attribute of the event, or its id.
#include "mindtorch/export/call_ids.h"

#include <algorithm>

#include "mindtorch/trace/call_details.h"

namespace mindtorch::exporter {
namespace {

// Hosts count calls from 1. Readers may keep numbers as doubles, which are exact below 2^53.
constexpr std::uint64_t kBeyondGivenNumbers = std::uint64_t{1} << 48;

}  // namespace

CallIds::CallIds(const trace::Recording& recording) : recording_(recording) {
  const auto found = std::ranges::find(recording.names, trace::kCallId);
  if (found != recording.names.end()) key_ = static_cast<trace::NameId>(found - recording.names.begin());
}

std::optional<std::uint64_t> CallIds::given(trace::EventIndex event) const {
  if (key_ != 0)
    for (const trace::Attribute& attribute : recording_.attributes.find(event))
      if (attribute.key == key_) return static_cast<std::uint64_t>(attribute.bits);
  return std::nullopt;
}

std::uint64_t CallIds::of(trace::EventIndex event) const {
  if (const auto number = given(event)) return *number;
  return recording_.id(event) + (key_ != 0 ? kBeyondGivenNumbers : 0);
}

}  // namespace mindtorch::exporter
