// Ledger: the time of the steps that are judged, as cells of one cause, one place and one name. Findings claim parts of cells, and no part
// twice, so that their costs add up to a step at most.
//
// With a device, a moment belongs to the work that runs on the device; while the device idles, it belongs to what the host does meanwhile.
// Without a device it belongs to what the host does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "mindtorch/analyze/report/phases.h"

namespace mindtorch::analyze {

struct Cell {
  Cause cause = Cause::kUnknown;               // of the host
  DevicePhase device = DevicePhase::kIdle;     // kIdle: the moment belongs to the host
  PlaceId place = kNoPlace;                    // of the host
  EventNames::Key name = EventNames::kHidden;  // of the innermost op or the work of the device; kHidden between ops
  bool is_between_steps = false;
  bool is_usual = true;  // in a step of the largest kind
  bool is_glue = false;  // a short stretch of Python between ops, which each of them needs
  std::int64_t ns = 0;
  std::int64_t claimed_ns = 0;
  std::int64_t seen_ns = 0;  // of which the place is known, and not guessed from a look before

  bool is_on_device() const { return device != DevicePhase::kIdle; }
  std::int64_t free_ns() const { return ns - claimed_ns; }
};

// What a finding is about: an amount in each of some cells.
struct Claim {
  struct Part {
    std::size_t cell;
    std::int64_t ns;
  };
  std::vector<Part> parts;
  std::int64_t ns = 0;

  // `other` is about other cells.
  void add(const Claim& other) {
    parts.insert(parts.end(), other.parts.begin(), other.parts.end());
    ns += other.ns;
  }
};

// For each segment whether it lies in a short stretch outside of everything that was recorded.
std::vector<bool> glue_of(std::span<const Segment> segments);

class Ledger {
 public:
  // Judged time: a step, or the time to the next one.
  struct Stretch {
    std::int64_t start_ns, end_ns;
    bool is_between, is_usual;
  };

  Ledger(const Analysis& analysis, const Phases& phases);

  const std::vector<Cell>& cells() const { return cells_; }
  std::int64_t total_ns() const { return total_ns_; }  // of all cells
  // The time in which the loop was ready to run, and other programs had the processors. It is in no cell: how the program runs is not to
  // blame for it, and shares are of the rest.
  std::int64_t left_out_ns() const { return left_out_ns_; }
  // How many steps are judged; without steps, 1. The first of more than three is left out: it warms up caches and compiles.
  std::size_t steps() const { return steps_; }
  std::span<const Stretch> stretches() const { return stretches_; }  // in order of time, without overlaps
  bool is_judged(std::int64_t time_ns) const;
  // Calls visit(segment, time) for the part of each segment that lies in judged time, if there is one. Segments are in order of time.
  template <class Visit>
  void for_judged(std::span<const Segment> segments, Visit visit) const {
    std::size_t at = 0;
    for (const Segment& segment : segments) {
      while (at < stretches_.size() && stretches_[at].end_ns <= segment.start_ns) ++at;
      for (std::size_t k = at; k < stretches_.size() && stretches_[k].start_ns < segment.end_ns; ++k) {
        const std::int64_t time = std::min(segment.end_ns, stretches_[k].end_ns) - std::max(segment.start_ns, stretches_[k].start_ns);
        if (time > 0) visit(segment, time);
      }
    }
  }
  // Of a step, with the time to the next one and with what is left out.
  std::int64_t mean_ns() const { return (total_ns_ + left_out_ns_) / static_cast<std::int64_t>(steps_); }
  std::int64_t per_step(std::int64_t ns) const { return ns / static_cast<std::int64_t>(steps_); }
  double share(std::int64_t ns) const { return total_ns_ == 0 ? 0 : static_cast<double>(ns) / static_cast<double>(total_ns_); }

  // What is not claimed yet in the cells that are meant; if that is more than `most`, the same part of each.
  Claim free(const std::function<bool(const Cell&)>& is_meant, std::int64_t most = INT64_MAX) const;
  void take(const Claim& claim);

 private:
  void find_stretches(const Phases& phases);
  void fill(const Analysis& analysis, const Phases& phases);

  std::vector<Stretch> stretches_;
  std::vector<Cell> cells_;
  std::int64_t total_ns_ = 0;
  std::int64_t left_out_ns_ = 0;
  std::size_t steps_ = 1;
};

}  // namespace mindtorch::analyze
