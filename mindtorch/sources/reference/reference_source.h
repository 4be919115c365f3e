// ReferenceSource: records the activities of the reference device through its activity API.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "mindtorch/record/source.h"
#include "mindtorch/sources/clock_sampler.h"

namespace mindtorch::sources {

class ReferenceDecoder;

class ReferenceSource final : public record::ActivitySource {
 public:
  struct Options {
    std::size_t buffer_bytes = std::size_t{256} << 10;
    std::size_t max_buffers = 1024;  // further buffers are refused: the device then drops records and counts them
    std::chrono::milliseconds sample_period{20};
  };
  ReferenceSource() : ReferenceSource(Options()) {}
  explicit ReferenceSource(Options options);
  ~ReferenceSource() override;

  std::string_view name() const override { return "reference"; }
  trace::DeviceType device_type() const override { return trace::DeviceType::kNpu; }
  Status probe() override;
  Status prepare(const record::SourceOptions& options) override;
  Status start() override;
  void toggle(bool on) override;
  record::DeviceBatch stop() override;

 private:
  struct Buffer {
    std::unique_ptr<std::uint8_t[]> bytes;
    std::size_t valid = 0;
  };
  // The device's callbacks; `self` is this source.
  static void request(void* self, std::uint8_t** buffer, std::size_t* bytes);
  static void complete(void* self, std::uint8_t* buffer, std::size_t bytes, std::size_t valid);
  static std::uint64_t host_now(void* self);

  void unsubscribe();
  // Decodes a buffer and writes its records to the file of a session that spills. On the device's thread.
  void write_early(const Buffer& buffer);
  std::vector<Buffer> take_buffers();

  const Options options_;
  ClockSampler sampler_;
  bool subscribed_ = false;
  std::function<void(record::DeviceBatch&)> write_records_;
  std::unique_ptr<ReferenceDecoder> decoder_;  // of the running session; the device's thread uses it until we have unsubscribed
  std::atomic<record::Clock*> clock_{nullptr};
  std::mutex mutex_;  // guards what follows: callbacks come on the device's thread
  std::vector<Buffer> filled_;
  std::size_t buffers_out_ = 0;  // requested and not yet taken by stop()
};

// The one in all_sources().
ReferenceSource& reference_source();

}  // namespace mindtorch::sources
