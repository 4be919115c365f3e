// Ranges as scopes.
#include "mindtorch/bridges/nvtx/ranges.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mindtorch/record/constant_name.h"
#include "mindtorch/record/hooks.h"

namespace mindtorch::nvtx {
namespace {

// A range is kept while nothing records too, so that its end is not taken for that of another one. Its scope is empty then.
struct PushedRange {
  const Domain* domain;
  record::NamedScope scope;
};
thread_local std::vector<PushedRange> pushed_ranges;

struct StartedRanges {
  std::mutex mutex;
  std::unordered_map<RangeId, record::NamedScope> scopes;  // of those that are recorded
};
StartedRanges& started_ranges() {
  static auto& ranges = *new StartedRanges();
  return ranges;
}
std::atomic<RangeId> last_range{0};

int depth_in(const Domain& domain) { return static_cast<int>(std::ranges::count(pushed_ranges, &domain, &PushedRange::domain)); }

void add_payload(record::Slot* slot, const EventAttributes& attributes) {
  static constinit record::ConstantName payload("payload");
  const trace::NameId key = payload.id();
  const auto low_half = static_cast<std::uint32_t>(attributes.payload);
  switch (attributes.payload_type) {
    case kUint64Payload:
    case kInt64Payload: record::add_attribute(slot, key, static_cast<std::int64_t>(attributes.payload)); break;
    case kUint32Payload: record::add_attribute(slot, key, std::int64_t{low_half}); break;
    case kInt32Payload: record::add_attribute(slot, key, std::int64_t{static_cast<std::int32_t>(low_half)}); break;
    case kDoublePayload: record::add_attribute(slot, key, std::bit_cast<double>(attributes.payload)); break;
    case kFloatPayload: record::add_attribute(slot, key, static_cast<double>(std::bit_cast<float>(low_half))); break;
    default: break;  // extended payloads describe themselves in a way that only their library knows
  }
}

void add_details(record::Slot* slot, const Described& range) {
  static constinit record::ConstantName domain_key("domain"), category_key("category");
  if (!range.domain.name().empty()) record::add_attribute(slot, domain_key.id(), std::string_view(range.domain.name()));
  if (range.attributes == nullptr) return;
  if (const std::uint32_t category = range.attributes->category; category != 0) {
    if (const std::optional<std::string> name = range.domain.category_name(category)) {
      record::add_attribute(slot, category_key.id(), std::string_view(*name));
    } else {
      record::add_attribute(slot, category_key.id(), std::int64_t{category});
    }
  }
  add_payload(slot, *range.attributes);
}

// Empty unless a session asks for ranges.
record::NamedScope open_scope(const Described& range) {
  if (!is_recorded()) return {};
  record::NamedScope scope(range.name);
  if (scope.recording()) add_details(scope.slot(), range);
  return scope;
}

}  // namespace

void prepare_ranges() {
  static_cast<void>(default_domain());
  static_cast<void>(started_ranges());
}

bool is_recorded() noexcept { return record::wants(record::kRanges); }

int push_range(const Described& range) noexcept {
  try {
    const int depth = depth_in(range.domain);
    pushed_ranges.push_back({&range.domain, open_scope(range)});
    return depth;
  } catch (const std::bad_alloc&) {
    return kNoPushPopTracking;
  }
}

int pop_range(const Domain& domain) noexcept {
  const auto last =
      std::find_if(pushed_ranges.rbegin(), pushed_ranges.rend(), [&](const PushedRange& each) { return each.domain == &domain; });
  if (last == pushed_ranges.rend()) return kNoPushPopTracking;
  pushed_ranges.erase(std::next(last).base());  // closes its scope
  return depth_in(domain);
}

RangeId start_range(const Described& range) noexcept {
  const RangeId id = ++last_range;
  try {
    if (record::NamedScope scope = open_scope(range); scope.recording()) {
      StartedRanges& ranges = started_ranges();
      std::lock_guard lock(ranges.mutex);
      ranges.scopes.emplace(id, std::move(scope));
    }
  } catch (const std::bad_alloc&) {
    return id;  // the range is not recorded
  }
  return id;
}

void end_range(RangeId id) noexcept {
  record::NamedScope scope;
  StartedRanges& ranges = started_ranges();
  std::lock_guard lock(ranges.mutex);
  const auto found = ranges.scopes.find(id);
  if (found == ranges.scopes.end()) return;
  scope = std::move(found->second);
  ranges.scopes.erase(found);
}

void mark(const Described& moment) noexcept {
  if (is_recorded()) record::record_instant(moment.name);
}

}  // namespace mindtorch::nvtx
