// Sessions of the MSPTI source: subscribing, collecting, draining.
#include "mindtorch/sources/mspti/mspti_source.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include "mindtorch/base/text.h"
#include "mindtorch/record/launch_queue.h"
#include "mindtorch/sources/mspti/ascend_cl.h"
#include "mindtorch/sources/tried_kinds.h"

namespace mindtorch::sources::mspti {
namespace {

// Records of kernels come about 200 ms after the kernels. Stopping waits for those that are missing as long as this after the latest
// record.
constexpr std::chrono::milliseconds kDeliveryPatience(300);
constexpr std::chrono::milliseconds kLongestPause(25);
// How long the library may take to hand back a buffer after the last flush: it does so on a thread of its own for each buffer.
constexpr std::chrono::milliseconds kBufferPatience(500);
constexpr std::size_t kWarmBuffers = 2;

// One for the process, never destroyed: MSPTI may hand buffers back at any time.
BufferPool& buffer_pool() {
  static auto& pool = *new BufferPool(std::size_t{8} << 20, 64);
  return pool;
}

using NamedKind = std::pair<std::uint32_t, std::string_view>;
constexpr std::array<NamedKind, 12> kAllKinds = {{{kMarker, "MARKER"},
                                                  {kKernel, "KERNEL"},
                                                  {kApi, "API"},
                                                  {kHccl, "HCCL"},
                                                  {kMemory, "MEMORY"},
                                                  {kMemset, "MEMSET"},
                                                  {kMemcpy, "MEMCPY"},
                                                  {kExternalCorrelation, "EXTERNAL_CORRELATION"},
                                                  {kCommunication, "COMMUNICATION"},
                                                  {kAclApi, "ACL_API"},
                                                  {kNodeApi, "NODE_API"},
                                                  {kRuntimeApi, "RUNTIME_API"}}};

std::string_view kind_name(std::uint32_t kind) { return kAllKinds[kind - 1].second; }

// Of the devices that the program sees; empty if AscendCL is not loaded.
std::string device_names() {
  std::string names;
  for (const trace::DeviceProperties& device : device_properties())
    names += fmt::format("{}npu:{} {}", names.empty() ? "" : ", ", device.device.index, device.name);
  return names;
}

// The end of a window that is open.
constexpr std::uint64_t kEndless = kForever.vendor;

}  // namespace

MsptiSource& mspti_source() {
  static auto& source = *new MsptiSource();
  return source;
}

MsptiSource::MsptiSource() : thread_(buffer_pool()) {}

MsptiSource::~MsptiSource() {
  if (thread_.is_running()) stop();
  unsubscribe();
}

Status MsptiSource::probe() {
  if (Status loaded = library_.load(); !loaded) return loaded;
  return probe_devices();
}

// A library that may do without the preload says so when kinds are enabled.
std::string MsptiSource::advice() {
  const bool may_be_whole = library_.preload() == Library::Preload::kNone && library_.may_record_memory_without_preload();
  return library_.is_loaded() && !may_be_whole ? library_.preload_advice() : "";
}

std::vector<std::pair<std::string, std::string>> MsptiSource::diagnose() {
  TriedKinds kinds;
  const Status subscribed = subscribe();
  for (const auto& [kind, name] : kAllKinds) {
    if (!subscribed) break;
    const Result result = library_.functions().msptiActivityEnable(kind);
    if (result == kSuccess) library_.functions().msptiActivityDisable(kind);
    kinds.add(name, result == kSuccess ? "" : Library::explain(result));
  }
  unsubscribe();
  constexpr std::array<std::string_view, 3> kPreload = {"no", "yes", "LD_PRELOAD names a file that was not found"};
  std::vector<std::pair<std::string, std::string>> facts = {
      {"library", library_.path()},
      {"version", library_.version()},
      {"preloaded", std::string(kPreload[static_cast<std::size_t>(library_.preload())])},
      {"CANN runtime", runtime_version()},
      {"devices", device_names()}};
  if (!subscribed) facts.emplace_back("kinds", "could not be tried: " + subscribed.reason());
  for (auto& fact : subscribed ? kinds.facts() : decltype(kinds.facts())()) facts.push_back(std::move(fact));
  return facts;
}

Status MsptiSource::prepare(const record::SourceOptions& options) {
  if (Status available = probe(); !available) return available;
  options_ = std::make_unique<record::SourceOptions>(options);
  limits_.clear();
  buffer_pool().warm(kWarmBuffers);
  return subscribe();
}

// Without a subscription nothing is recorded: it starts the threads that read the devices and compare their clocks.
Status MsptiSource::subscribe() {
  const Functions& mspti = library_.functions();
  if (!is_subscribed_) {
    if (Status status = library_.check(mspti.msptiSubscribe(&subscriber_, nullptr, nullptr), "msptiSubscribe"); !status) return status;
    is_subscribed_ = true;
  }
  Status registered = library_.check(mspti.msptiActivityRegisterCallbacks(&requested, &completed), "msptiActivityRegisterCallbacks");
  if (!registered) unsubscribe();
  return registered;
}

void MsptiSource::unsubscribe() {
  if (std::exchange(is_subscribed_, false)) library_.functions().msptiUnsubscribe(subscriber_);
}

bool MsptiSource::enable(std::uint32_t kind) {
  last_failure_ = library_.check(library_.functions().msptiActivityEnable(kind), fmt::format("msptiActivityEnable({})", kind_name(kind)));
  if (last_failure_) enabled_.push_back(kind);
  return last_failure_.is_ok();
}

// RUNTIME_API has one record for each launch. Libraries before 26.0 have only API, whose records of all levels lie around each other.
Status MsptiSource::enable_calls() {
  if (enable(kRuntimeApi)) return Status::ok();
  if (!enable(kApi)) return last_failure_;
  if (library_.preload() != Library::Preload::kDone)
    limits_.push_back(
        fmt::format("this MSPTI is older than 26.0 and records kernels only if it is loaded before CANN: start the program with "
                    "LD_PRELOAD={}",
                    library_.path()));
  return Status::ok();
}

void MsptiSource::enable_memory_kinds() {
  bool is_preloaded = true;
  for (const std::uint32_t kind : {kMemcpy, kMemset, kMemory}) {
    const Result result = library_.functions().msptiActivityEnable(kind);
    if (result == kSuccess)
      enabled_.push_back(kind);
    else if (result == kWithoutPreload)
      is_preloaded = false;
    else
      limits_.push_back(library_.check(result, fmt::format("msptiActivityEnable({})", kind_name(kind))).reason());
  }
  if (!is_preloaded || library_.preload() == Library::Preload::kWrong) limits_.push_back(library_.preload_advice());
}

Status MsptiSource::enable_kinds() {
  Status status = enable_calls();
  if (status && !enable(kKernel)) status = last_failure_;
  if (!status) {
    disable_kinds();
    return status;
  }
  // HCCL has less to say than COMMUNICATION, and its records would describe the same transfers.
  if (!enable(kCommunication)) {
    const std::string why = last_failure_.reason();
    limits_.push_back(
        fmt::format("{}: {}", enable(kHccl) ? "collectives have neither bytes nor links to ops" : "collectives are not recorded", why));
  }
  if (!enable(kMarker)) limits_.push_back(fmt::format("markers are not recorded: {}", last_failure_.reason()));
  enable_memory_kinds();
  return Status::ok();
}

// Disabling a kind makes the driver hand over what it still has of it.
void MsptiSource::disable_kinds() {
  for (; !enabled_.empty(); enabled_.pop_back()) library_.functions().msptiActivityDisable(enabled_.back());
}

bool MsptiSource::read_clock(std::uint64_t* ns) const {
  const Functions& mspti = library_.functions();
  if (mspti.msptiGetTimestamp != nullptr) return mspti.msptiGetTimestamp(ns) == kSuccess;
  timespec now{};
  if (::clock_gettime(CLOCK_REALTIME, &now) != 0) return false;
  *ns = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
  return true;
}

std::optional<std::uint64_t> MsptiSource::now() const {
  std::uint64_t ns = 0;
  return read_clock(&ns) ? std::optional(ns) : std::nullopt;
}

Status MsptiSource::start() {
  std::uint64_t begin = 0;
  Status ready = read_clock(&begin) ? enable_kinds() : Status::unavailable("msptiGetTimestamp: MSPTI's clock cannot be read");
  if (!ready) {
    unsubscribe();
    return ready;
  }
  sampler_.start(options_->clock, {[this](std::uint64_t* ns) { return read_clock(ns); }});
  decoder_ = std::make_unique<Decoder>(library_.functions(), options_->record_bytes);
  old_records_ = {};
  record::take_queued_spans();  // of earlier sessions
  refused_before_ = buffer_pool().refused();
  thread_.start("mindtorch-mspti", {.decode = [this](const BufferPool::Filled& buffer) { decoder_->decode(buffer.bytes, buffer.valid); },
                                    .after_decoding = [this] { old_records_.remove_from(decoder_->store(), *options_, now()); },
                                    .flush = [this] { static_cast<void>(flush()); },
                                    .drain = [this] { drain(); }});
  std::lock_guard lock(mutex_);
  windows_ = {{.begin = {.vendor = now().value_or(begin)}}};
  return Status::ok();
}

// Kinds stay enabled, because each disabling waits for the driver. What comes from outside of the windows is thrown away.
void MsptiSource::toggle(bool on) {
  std::lock_guard lock(mutex_);
  const bool is_on = windows_.back().end.vendor == kEndless;
  if (on == is_on) return;
  if (on)
    windows_.push_back({.begin = {.vendor = now().value_or(windows_.back().end.vendor)}});
  else
    windows_.back().end.vendor = now().value_or(kEndless - 1);
}

record::DeviceBatch MsptiSource::stop() {
  std::vector<RecordStore::Window> windows;
  {
    std::lock_guard lock(mutex_);
    windows_.back().end.vendor = std::min(windows_.back().end.vendor, now().value_or(kEndless));
    windows = windows_;
  }
  current_device_ = current_device();
  thread_.stop();
  Decoder& decoder = *decoder_;
  decoder.store().count_dropped(buffer_pool().refused() - refused_before_, "dropped by MSPTI, because all buffers were in use");
  decoder.store().count_dropped(thread_.failures(), "or more, for want of memory");
  std::vector<ClockSampler::Samples> samples = sampler_.stop();
  record::DeviceBatch batch = decoder.finish(windows, samples.empty() ? ClockSampler::Samples{} : samples.front(), options_->clock);
  decoder_.reset();
  batch.devices = device_properties();
  batch.metadata.emplace_back("mspti_version", json_quoted(library_.version()));
  if (const std::string version = runtime_version(); !version.empty())
    batch.metadata.emplace_back("cann_runtime_version", json_quoted(version));
  return batch;
}

Status MsptiSource::flush() { return library_.check(library_.functions().msptiActivityFlushAll(1), "msptiActivityFlushAll"); }

// Flushes until every launch has its kernel and every kernel its launch, or until nothing has come for a while. Calls stay enabled: one
// that is under way must be recorded when it ends, to know that its kernel does not belong to the recording.
void MsptiSource::await_records() {
  std::unique_lock lock(mutex_);
  const std::vector<RecordStore::Window> windows = windows_;
  lock.unlock();
  auto pause = std::chrono::milliseconds(1);
  auto last_news = std::chrono::steady_clock::now();
  const auto deadline = last_news + options_->stop_deadline;
  for (std::size_t known = decoder_->store().size();; known = decoder_->store().size()) {
    static_cast<void>(flush());
    thread_.decode_filled();
    if (!decoder_->store().lacks_work(windows) && !decoder_->store().lacks_calls(windows)) return;
    const auto now = std::chrono::steady_clock::now();
    if (decoder_->store().size() != known) last_news = now;
    if (now - last_news > kDeliveryPatience || now > deadline) break;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
  if (!is_idle_)
    decoder_->store().count_dropped(1,
                                    fmt::format("or more, because the device was still busy after {} ms", options_->stop_deadline.count()));
}

// Waits for the devices that are known to have work. await_records() waits for others, for a shorter time.
void MsptiSource::synchronize() {
  static_cast<void>(flush());
  thread_.decode_filled();
  {
    std::lock_guard lock(mutex_);
    decoder_->leave_out_after(windows_.back().end.vendor);
  }
  std::set<int> devices = decoder_->devices();
  if (current_device_) devices.insert(*current_device_);
  is_idle_ = synchronize_devices({devices.begin(), devices.end()}, options_->stop_deadline);
}

void MsptiSource::drain() {
  synchronize();
  await_records();
  disable_kinds();
  const Status flushed = flush();
  std::size_t dropped = 0;
  const Functions& mspti = library_.functions();
  if (mspti.msptiActivityGetNumDroppedRecords != nullptr && mspti.msptiActivityGetNumDroppedRecords(nullptr, 0, &dropped) == kSuccess)
    decoder_->store().count_dropped(dropped, "dropped by MSPTI");
  // The end of the subscription stops the devices' tasks, which may leave records behind.
  unsubscribe();
  static_cast<void>(flush());
  if (!buffer_pool().wait_until_all_are_back(kBufferPatience))
    decoder_->store().count_dropped(1, "or more, because MSPTI has not handed back a buffer");
  thread_.decode_filled();
  if (!flushed) decoder_->store().count_dropped(1, fmt::format("or more, because the last flush failed ({})", flushed.reason()));
}

void MsptiSource::requested(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  *buffer = buffer_pool().take(true);
  *size = *buffer != nullptr ? buffer_pool().buffer_bytes() : 0;
  *max_records = 0;
}

// A refused buffer comes back too, as null.
void MsptiSource::completed(std::uint8_t* buffer, std::size_t, std::size_t valid) { buffer_pool().complete(buffer, valid); }

}  // namespace mindtorch::sources::mspti
