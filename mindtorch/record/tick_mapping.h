// Maps the ticks of a clock to nanoseconds of the timeline: straight lines between anchors, exact over weeks.
#pragma once

#include <cstdint>
#include <vector>

namespace mindtorch::record {

struct ClockAnchor {
  std::uint64_t ticks = 0;
  std::int64_t ns = 0;              // on the timeline
  std::int64_t uncertainty_ns = 0;  // |ns - truth| is at most this
};

// Not thread safe: it caches the last piece, because events come in order.
class TickMapping {
 public:
  // ns = ticks.
  TickMapping();
  // One line through a single anchor.
  TickMapping(ClockAnchor anchor, double ns_per_tick);
  // Pieces between successive anchors (increasing ticks, at least two; ns is forced to increase with ticks), the first and last piece
  // extended outwards.
  explicit TickMapping(std::vector<ClockAnchor> anchors);

  std::int64_t to_ns(std::uint64_t ticks) noexcept {
    if (ticks < piece_begin_ || ticks >= piece_end_) [[unlikely]]
      find_piece(ticks);
    // Fixed-point numbers are exact to a nanosecond over a week of ticks, and allow a tick of up to 4 microseconds.
    const bool before = ticks < zero_;
    const Wide product = static_cast<Wide>(before ? zero_ - ticks : ticks - zero_) * slope_;
    const auto ns = static_cast<std::int64_t>(product >> kFraction);
    return zero_ns_ + (before ? -ns : ns);
  }

  double ns_per_tick() const;  // over all anchors
  // A bound on |to_ns(t) - truth| between the first and the last anchor: the uncertainty of the anchors, plus the observed deviation of the
  // clock from a straight line between them.
  std::int64_t error_bound_ns() const { return error_bound_ns_; }

 private:
  __extension__ typedef unsigned __int128 Wide;
  static constexpr int kFraction = 52;
  static constexpr double kOne = 0x1p52;

  void find_piece(std::uint64_t ticks) noexcept;
  void set_line(std::uint64_t zero, std::int64_t zero_ns, double ns_per_tick) noexcept;

  std::vector<ClockAnchor> anchors_;
  std::uint64_t piece_begin_ = 0;
  std::uint64_t piece_end_ = ~std::uint64_t{0};
  std::uint64_t zero_ = 0;
  std::uint64_t slope_ = std::uint64_t{1} << kFraction;
  std::int64_t zero_ns_ = 0;
  std::int64_t error_bound_ns_ = 0;
};

}  // namespace mindtorch::record
