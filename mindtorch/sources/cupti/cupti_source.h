// CuptiSource: records the activities of NVIDIA GPUs through CUPTI's activity API.
//
// CUPTI fills buffers on the program's threads; a thread of ours decodes them as they come back and flushes what is left over. Their times
// are CUPTI's own (CLOCK_REALTIME), mapped through bracketed samples. Calls are written down in CUPTI's callbacks (call_log.h), on the
// session's clock; where another tool gets the callbacks, they are records too. Launches are linked to ops by thread and time, kernels to
// launches by correlation id: no external correlation ids, which would cost several times as much.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mindtorch/record/source.h"
#include "mindtorch/sources/clock_sampler.h"
#include "mindtorch/sources/cupti/decode.h"
#include "mindtorch/sources/cupti/graph_nodes.h"
#include "mindtorch/sources/cupti/library.h"
#include "mindtorch/sources/cupti/pm_sampling.h"
#include "mindtorch/sources/cupti/subscription.h"
#include "mindtorch/sources/decode_thread.h"

namespace mindtorch::sources::cupti {

class CuptiSource final : public record::ActivitySource {
 public:
  CuptiSource();
  ~CuptiSource() override;

  std::string_view name() const override { return "cupti"; }
  trace::DeviceType device_type() const override { return trace::DeviceType::kCuda; }
  Status probe() override;
  std::vector<std::pair<std::string, std::string>> diagnose() override;
  Status prepare(const record::SourceOptions& options) override;
  Status start() override;
  void toggle(bool on) override;
  std::vector<std::string> limits() const override;
  record::DeviceBatch stop() override;

 private:
  // CUPTI's callback for calls and for the nodes of graphs.
  static void called_back(void* self, std::uint32_t domain, std::uint32_t callback_id, const void* data);
  void node_called_back(std::uint32_t callback_id, const ResourceData& data) const;
  std::uint64_t callback_time() const;  // on the clock that calls have

  SourceCallbacks callbacks();
  Status subscribe();
  Status begin(std::uint64_t* time);
  Status enable_kinds();
  void disable_kinds();
  std::vector<RecordStore::Window> windows();
  std::optional<std::uint64_t> now() const;  // on CUPTI's clock, if it can be read
  // Now on both clocks; on CUPTI's, if it cannot be read, `otherwise`.
  Moment moment(std::uint64_t otherwise) const;

  // On the thread that decodes.
  void decode(const BufferPool::Filled& buffer);
  void take_calls();
  void hand_over_records();
  void drain();
  void await_calls();

  Library library_;
  std::unique_ptr<record::SourceOptions> options_;  // since prepare()
  std::vector<std::string> limits_;
  std::unique_ptr<Subscription> subscription_;  // from prepare() to the end of stop()
  std::string why_classic_;                     // of this session; empty if records are user-defined
  std::string why_always_classic_;              // set once classic records have been used: the process cannot go back
  ClockOwner clock_owner_{nullptr};
  std::atomic<bool> has_call_records_{false};
  PmSampling pm_sampling_;
  ClockSampler sampler_;

  std::mutex mutex_;  // guards the windows
  std::vector<RecordStore::Window> windows_;

  std::unique_ptr<Decoder> decoder_;  // the thread's while it runs
  OldRecordRemover old_records_;
  DecodeThread thread_;
};

// The one in all_sources().
CuptiSource& cupti_source();

}  // namespace mindtorch::sources::cupti
