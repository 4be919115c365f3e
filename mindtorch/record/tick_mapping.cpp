// Maps the ticks of a clock to nanoseconds of the timeline.
#include "mindtorch/record/tick_mapping.h"

#include <algorithm>
#include <cmath>

namespace mindtorch::record {
namespace {

double slope(const ClockAnchor& a, const ClockAnchor& b) {
  return static_cast<double>(b.ns - a.ns) / static_cast<double>(b.ticks - a.ticks);
}

// How far the clock strays from a straight line: each inner anchor against the line through its neighbours. The line between two anchors a
// distance d apart is off by at most a quarter of what it is over 2d, if the rate changes evenly; half is kept as a margin.
std::int64_t straying_ns(const std::vector<ClockAnchor>& anchors) {
  double worst = 0;
  for (std::size_t i = 1; i + 1 < anchors.size(); ++i) {
    const ClockAnchor &a = anchors[i - 1], &b = anchors[i], &c = anchors[i + 1];
    const double expected = static_cast<double>(a.ns) + slope(a, c) * static_cast<double>(b.ticks - a.ticks);
    worst = std::max(worst, std::abs(expected - static_cast<double>(b.ns)));
  }
  return static_cast<std::int64_t>(std::ceil(worst / 2));
}

}  // namespace

TickMapping::TickMapping() = default;

TickMapping::TickMapping(ClockAnchor anchor, double ns_per_tick) : anchors_{anchor}, error_bound_ns_(anchor.uncertainty_ns + 1) {
  set_line(anchor.ticks, anchor.ns, ns_per_tick);
}

TickMapping::TickMapping(std::vector<ClockAnchor> anchors) : anchors_(std::move(anchors)) {
  // Time must not run backwards, even if the samples suggest it.
  for (std::size_t i = 1; i < anchors_.size(); ++i) anchors_[i].ns = std::max(anchors_[i].ns, anchors_[i - 1].ns);
  std::int64_t uncertainty = 0;
  for (const ClockAnchor& anchor : anchors_) uncertainty = std::max(uncertainty, anchor.uncertainty_ns);
  error_bound_ns_ = uncertainty + straying_ns(anchors_) + 1;
  find_piece(anchors_.front().ticks);
}

double TickMapping::ns_per_tick() const {
  if (anchors_.size() < 2) return static_cast<double>(slope_) / kOne;
  return slope(anchors_.front(), anchors_.back());
}

void TickMapping::set_line(std::uint64_t zero, std::int64_t zero_ns, double ns_per_tick) noexcept {
  zero_ = zero;
  zero_ns_ = zero_ns;
  slope_ = static_cast<std::uint64_t>(ns_per_tick * kOne);
}

void TickMapping::find_piece(std::uint64_t ticks) noexcept {
  if (anchors_.size() < 2) return;
  const auto after = std::upper_bound(anchors_.begin() + 1, anchors_.end() - 1, ticks,
                                      [](std::uint64_t t, const ClockAnchor& anchor) { return t < anchor.ticks; });
  const ClockAnchor &a = *(after - 1), &b = *after;
  piece_begin_ = after == anchors_.begin() + 1 ? 0 : a.ticks;
  piece_end_ = after == anchors_.end() - 1 ? ~std::uint64_t{0} : b.ticks;
  set_line(a.ticks, a.ns, slope(a, b));
}

}  // namespace mindtorch::record
