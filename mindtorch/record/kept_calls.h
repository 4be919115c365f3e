// KeptCalls: which records of a device belong to a recording. Internal to record and sources.
#pragma once

#include <cstdint>
#include <unordered_set>

#include "mindtorch/record/device_batch.h"

namespace mindtorch::record {

// One rule decides for what a source collects between its start and its stop, for what a ring keeps and for what a spill writes. A call
// belongs to the recording by its own times. Work shares the fate of its call, so that every call that is kept has its work, and the other
// way round. A record without a correlation belongs by its own times.
//
// A call may be missing. Correlations count up over the life of a process, so that work between two calls that are kept belongs to the
// recording too.
class KeptCalls {
 public:
  // What decides about work that lies before the first or after the last call that is kept, and whose own call is not known.
  enum class Ends {
    kClosed,  // its call was under way when the recording began or ended: it does not belong to it
    kOpen,    // its own times decide
  };

  explicit KeptCalls(Ends ends = Ends::kClosed) : ends_(ends) {}

  // `is_inside`: by its own times. Records other than calls are passed over.
  void add(const DeviceRecord& call, bool is_inside);
  // Whatever has this correlation or a smaller one does not belong to the recording.
  void drop_up_to(std::uint64_t correlation);
  // The recording has had a call with this correlation, which is not known any more.
  void reach(std::uint64_t correlation);

  bool keeps(const DeviceRecord& record, bool is_inside) const;
  // The largest correlation of a call that is kept.
  std::uint64_t last() const { return last_; }

 private:
  Ends ends_;
  std::unordered_set<std::uint64_t> outside_;
  std::uint64_t dropped_up_to_ = 0;
  std::uint64_t first_ = ~std::uint64_t{0}, last_ = 0;
};

}  // namespace mindtorch::record
