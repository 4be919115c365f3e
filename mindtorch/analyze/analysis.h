// Analysis: everything derived from one recording. Each part is made when it is first asked for, once, and kept.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "mindtorch/analyze/event_names.h"
#include "mindtorch/analyze/event_stacks.h"
#include "mindtorch/analyze/event_tree.h"
#include "mindtorch/analyze/launch_links.h"
#include "mindtorch/analyze/memory_use.h"
#include "mindtorch/analyze/op_flops.h"
#include "mindtorch/base/export.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::analyze {

class DataFlow;
class Events;

// Any number of threads may use it at once. Not movable, because its parts refer to it and to the recording.
class MINDTORCH_EXPORT Analysis {
 public:
  explicit Analysis(const trace::Recording& recording);  // must outlive the analysis
  explicit Analysis(std::shared_ptr<const trace::Recording> recording);
  ~Analysis();
  Analysis(const Analysis&) = delete;
  Analysis& operator=(const Analysis&) = delete;

  const trace::Recording& recording() const { return *recording_; }
  const EventNames& names() const;
  const EventTree& tree() const;
  const LaunchLinks& launches() const;
  const MemoryUse& memory_use() const;
  const MemoryTotals& memory_totals() const;
  const EventStacks& stacks() const;
  const OpFlops& flops() const;
  const Events& events() const;       // events.h
  const DataFlow& data_flow() const;  // data_flow.h

  // torch's use_device: "cuda", "npu", or empty if no device was asked for or seen.
  const std::string& use_device() const { return use_device_; }
  // The overload of an op ("Tensor", "out"), empty if the host did not say. O(log events).
  std::string_view overload_name(EventIndex event) const;

 private:
  // Loops ask for a part once per event, so a part that is there costs one load. Only the first call makes what the part needs.
  template <class T>
  class Part {
   public:
    template <class Make>
    const T& get(Make make) {
      if (const T* known = made_.load(std::memory_order_acquire)) return *known;
      std::call_once(once_, [&] {
        value_ = make();
        made_.store(value_.get(), std::memory_order_release);
      });
      return *value_;
    }

   private:
    std::once_flag once_;
    std::unique_ptr<const T> value_;
    std::atomic<const T*> made_ = nullptr;
  };

  std::shared_ptr<const trace::Recording> recording_;
  std::string use_device_;
  std::optional<NameId> overload_key_;
  mutable Part<EventNames> names_;
  mutable Part<EventTree> tree_;
  mutable Part<LaunchLinks> launches_;
  mutable Part<MemoryUse> memory_use_;
  mutable Part<MemoryTotals> memory_totals_;
  mutable Part<EventStacks> stacks_;
  mutable Part<OpFlops> flops_;
  mutable Part<Events> events_;
  mutable Part<DataFlow> data_flow_;
};

}  // namespace mindtorch::analyze
