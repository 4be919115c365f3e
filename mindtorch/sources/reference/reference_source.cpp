// Sessions of the reference source: subscribing, collecting, sampling clocks, draining.
#include "mindtorch/sources/reference/reference_source.h"

#include <fmt/core.h>

#include <utility>

#include "mindtorch/reference_device/activity.h"
#include "mindtorch/sources/reference/decode.h"

namespace mindtorch::sources {
namespace device = reference_device;
using device::Result;

namespace {

Status to_status(Result result) {
  return result == Result::kSuccess ? Status::ok() : Status::unavailable(std::string(device::describe(result)));
}

std::vector<ClockSampler::Reader> clock_readers() {
  std::vector<ClockSampler::Reader> readers;
  for (int i = 0; i < device::device_count(); ++i) {
    readers.emplace_back([i](std::uint64_t* ticks) { return device::read_clock(i, ticks) == Result::kSuccess; });
  }
  return readers;
}

}  // namespace

ReferenceSource& reference_source() {
  // Never destroyed: the device may call back until the process ends.
  static auto& source = *new ReferenceSource();
  return source;
}

ReferenceSource::ReferenceSource(Options options) : options_(options), sampler_(options.sample_period) {}
ReferenceSource::~ReferenceSource() { unsubscribe(); }

Status ReferenceSource::probe() { return to_status(device::power_state()); }

Status ReferenceSource::prepare(const record::SourceOptions& options) {
  if (Status available = probe(); !available) return available;
  clock_ = &options.clock;
  write_records_ = options.write_records;
  const Result result = device::subscribe(
      {.request = &ReferenceSource::request, .complete = &ReferenceSource::complete, .host_now = &host_now, .user = this});
  // Prepared before without a session that followed: we are that subscriber. (If the device was exchanged meanwhile, we subscribed anew.)
  const bool is_ours = result == Result::kSuccess || (result == Result::kAlreadySubscribed && subscribed_);
  subscribed_ = is_ours;
  return is_ours ? Status::ok() : to_status(result);
}

Status ReferenceSource::start() {
  decoder_ = std::make_unique<ReferenceDecoder>();
  sampler_.start(*clock_, clock_readers());
  Status status = to_status(device::collect(device::kAllActivities));
  if (!status) sampler_.stop();
  return status;
}

void ReferenceSource::toggle(bool on) { static_cast<void>(device::collect(on ? device::kAllActivities : 0)); }

record::DeviceBatch ReferenceSource::stop() {
  // Each step may find the device gone; it delivered all records then, and there is nothing to wait for.
  static_cast<void>(device::collect(0));
  for (int i = 0; i < device::device_count(); ++i) static_cast<void>(device::synchronize_device(i));
  static_cast<void>(device::flush());
  std::uint64_t dropped = 0;
  const bool is_known = device::take_dropped(&dropped) == Result::kSuccess;
  unsubscribe();
  ReferenceDecoder& decoder = *decoder_;
  if (is_known) decoder.count_dropped(dropped);
  decoder.set_samples(sampler_.stop());
  for (const Buffer& buffer : take_buffers()) decoder.decode(buffer.bytes.get(), buffer.valid);
  record::DeviceBatch batch = decoder.finish();
  decoder_.reset();
  return batch;
}

void ReferenceSource::write_early(const Buffer& buffer) {
  decoder_->decode(buffer.bytes.get(), buffer.valid);
  decoder_->set_samples(sampler_.so_far());
  write_records_(decoder_->batch());
  std::lock_guard lock(mutex_);
  --buffers_out_;
}

void ReferenceSource::unsubscribe() {
  if (std::exchange(subscribed_, false)) static_cast<void>(device::unsubscribe());
}

std::vector<ReferenceSource::Buffer> ReferenceSource::take_buffers() {
  std::lock_guard lock(mutex_);
  buffers_out_ = 0;
  return std::exchange(filled_, {});
}

void ReferenceSource::request(void* self, std::uint8_t** buffer, std::size_t* bytes) {
  auto& source = *static_cast<ReferenceSource*>(self);
  std::lock_guard lock(source.mutex_);
  *bytes = source.options_.buffer_bytes;
  *buffer = source.buffers_out_ < source.options_.max_buffers ? new (std::nothrow) std::uint8_t[*bytes] : nullptr;
  if (*buffer != nullptr) ++source.buffers_out_;
}

void ReferenceSource::complete(void* self, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  auto& source = *static_cast<ReferenceSource*>(self);
  Buffer filled{std::unique_ptr<std::uint8_t[]>(buffer), valid};
  if (source.write_records_) return source.write_early(filled);
  std::lock_guard lock(source.mutex_);
  source.filled_.push_back(std::move(filled));
}

std::uint64_t ReferenceSource::host_now(void* self) {
  return static_cast<ReferenceSource*>(self)->clock_.load(std::memory_order_relaxed)->ticks();
}

}  // namespace mindtorch::sources
