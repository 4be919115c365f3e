// MsptiSource: records the activities of Ascend NPUs through MSPTI's activity API.
//
// MSPTI fills buffers on threads of the program and of its own; a thread of ours decodes them. Times are nanoseconds since 1970, converted
// by MSPTI. Kernels are linked to launches by correlation id, launches to ops by thread and time: MSPTI's external correlation ids belong
// to the whole process and would mix threads up.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mindtorch/record/source.h"
#include "mindtorch/sources/clock_sampler.h"
#include "mindtorch/sources/decode_thread.h"
#include "mindtorch/sources/mspti/decode.h"
#include "mindtorch/sources/mspti/library.h"

namespace mindtorch::sources::mspti {

class MsptiSource final : public record::ActivitySource {
 public:
  MsptiSource();
  ~MsptiSource() override;

  std::string_view name() const override { return "mspti"; }
  trace::DeviceType device_type() const override { return trace::DeviceType::kNpu; }
  Status probe() override;
  std::string advice() override;
  std::vector<std::pair<std::string, std::string>> diagnose() override;
  Status prepare(const record::SourceOptions& options) override;
  Status start() override;
  void toggle(bool on) override;
  std::vector<std::string> limits() const override { return limits_; }
  record::DeviceBatch stop() override;

 private:
  // MSPTI's callbacks.
  static void requested(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records);
  static void completed(std::uint8_t* buffer, std::size_t size, std::size_t valid);

  Status subscribe();
  void unsubscribe();
  Status enable_kinds();
  bool enable(std::uint32_t kind);
  Status enable_calls();
  void enable_memory_kinds();
  void disable_kinds();
  bool read_clock(std::uint64_t* ns) const;
  std::optional<std::uint64_t> now() const;  // on MSPTI's host clock, if it can be read

  // On the thread that decodes.
  Status flush();
  void drain();
  void synchronize();
  void await_records();

  Library library_;
  std::unique_ptr<record::SourceOptions> options_;
  std::vector<std::string> limits_;
  Subscriber subscriber_ = nullptr;
  bool is_subscribed_ = false;
  std::vector<std::uint32_t> enabled_;
  ClockSampler sampler_;
  Status last_failure_ = Status::ok();  // of enable()
  std::uint64_t refused_before_ = 0;    // buffers, in earlier sessions
  bool is_idle_ = true;                 // the devices, when the session stops
  std::optional<int> current_device_;   // of the thread that stops the session

  std::mutex mutex_;  // guards the windows
  std::vector<RecordStore::Window> windows_;

  std::unique_ptr<Decoder> decoder_;  // the thread's while it runs
  OldRecordRemover old_records_;
  DecodeThread thread_;
};

// The one in all_sources().
MsptiSource& mspti_source();

}  // namespace mindtorch::sources::mspti
