// What the reference device reports, written as MSPTI writes it.
#include "tests/doubles/mspti/feed.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "tests/doubles/mspti/library.h"

namespace mspti_double {
namespace {

constexpr std::size_t kFeedBufferBytes = std::size_t{64} << 10;
constexpr std::size_t kMostReplayable = 1000;

std::int64_t realtime_now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

// The reference device of libmindtorch.so, which programs may have loaded without making its symbols known to others.
const device::ActivityApi* find_device() {
  std::string path;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        if (info->dlpi_name != nullptr && std::strstr(info->dlpi_name, "libmindtorch.so") != nullptr)
          *static_cast<std::string*>(out) = info->dlpi_name;
        return 0;
      },
      &path);
  void* library = path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  const auto table = reinterpret_cast<const device::ActivityApi* (*)()>(dlsym(library, "mindtorch_reference_activity_api"));
  return table != nullptr ? table() : nullptr;
}

std::uint32_t copy_kind(device::CopyKind kind) {
  switch (kind) {
    case device::CopyKind::kHostToDevice: return abi::kHostToDevice;
    case device::CopyKind::kDeviceToHost: return abi::kDeviceToHost;
    case device::CopyKind::kDeviceToDevice: return abi::kDeviceToDevice;
  }
  return abi::kUnknownCopy;
}

}  // namespace

void HostClock::set(std::int64_t offset_ns, double drift_ppm) {
  std::lock_guard lock(mutex_);
  base_ = realtime_now();
  offset_ = offset_ns;
  drift_ = drift_ppm * 1e-6;
}

std::uint64_t HostClock::now() const {
  std::lock_guard lock(mutex_);
  const std::int64_t real = realtime_now();
  return static_cast<std::uint64_t>(real + offset_ + static_cast<std::int64_t>(static_cast<double>(real - base_) * drift_));
}

const device::ActivityApi* Feed::api() {
  std::lock_guard lock(mutex_);
  if (api_ == nullptr) api_ = find_device();
  return api_;
}

void Feed::watch(const device::ActivityApi* api) {
  std::lock_guard lock(mutex_);
  api_ = api;
}

void Feed::connect() {
  const device::ActivityApi* watched = api();
  if (watched == nullptr) return;
  is_connected_ =
      watched->subscribe({.request = &request, .complete = &complete, .host_now = &host_now, .user = this}) == device::Result::kSuccess;
  synchronize_clocks();
}

void Feed::disconnect() {
  if (std::exchange(is_connected_, false)) static_cast<void>(api()->unsubscribe());
  std::lock_guard lock(mutex_);
  calls_.clear();
  copies_.clear();
  sets_.clear();
  kernels_.clear();
  call_of_.clear();
}

void Feed::collect() {
  if (!is_connected_) return;
  std::uint32_t kinds = 0;
  if (library().is_enabled(abi::kKernel)) kinds |= device::kKernelActivity;
  if (library().is_enabled(abi::kMemcpy)) kinds |= device::kMemcpyActivity | device::kApiActivity;
  if (library().is_enabled(abi::kMemset)) kinds |= device::kMemsetActivity | device::kApiActivity;
  if (library().is_enabled(abi::kRuntimeApi) || library().is_enabled(abi::kApi)) kinds |= device::kApiActivity;
  static_cast<void>(api()->collect(kinds));
}

void Feed::synchronize_clocks() {
  if (!is_connected_) return;
  std::vector<Pair> pairs(static_cast<std::size_t>(api()->device_count()));
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::uint64_t before = clock.now();
    static_cast<void>(api()->read_clock(static_cast<int>(i), &pairs[i].ticks));
    const std::uint64_t after = clock.now();
    pairs[i].host_ns = before + (after - before) / 2;
    static_cast<void>(api()->clock_rate(static_cast<int>(i), &pairs[i].ticks_per_ns));
  }
  std::lock_guard lock(mutex_);
  pairs_ = std::move(pairs);
}

std::uint64_t Feed::to_host_time(std::uint32_t device, std::uint64_t ticks) const {
  if (ticks == 0 || device >= pairs_.size()) return 0;
  const Pair& pair = pairs_[device];
  const auto since = static_cast<double>(static_cast<std::int64_t>(ticks - pair.ticks));
  return pair.host_ns + static_cast<std::uint64_t>(static_cast<std::int64_t>(since / pair.ticks_per_ns));
}

void Feed::request(void*, std::uint8_t** buffer, std::size_t* bytes) {
  *buffer = new std::uint8_t[kFeedBufferBytes];
  *bytes = kFeedBufferBytes;
}

void Feed::complete(void* self, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  auto& feed = *static_cast<Feed*>(self);
  const device::Activity* next = nullptr;
  while ((next = feed.api_->next_record(buffer, valid, next)) != nullptr) feed.keep(*next);
  delete[] buffer;
}

std::uint64_t Feed::host_now(void* self) { return static_cast<Feed*>(self)->clock.now(); }

void Feed::keep(const device::Activity& activity) {
  std::lock_guard lock(mutex_);
  switch (activity.kind) {
    case device::kApiActivity: return calls_.push_back(static_cast<const device::ApiActivity&>(activity));
    case device::kKernelActivity: return kernels_.push_back({static_cast<const device::KernelActivity&>(activity)});
    case device::kMemcpyActivity: return copies_.push_back(static_cast<const device::MemcpyActivity&>(activity));
    case device::kMemsetActivity: return sets_.push_back(static_cast<const device::MemsetActivity&>(activity));
    case device::kWaitActivity: return;
  }
}

void Feed::pull(bool drained) {
  if (!is_connected_) return;
  std::lock_guard one_at_a_time(pulling_);
  const std::uint64_t begin = clock.now();
  static_cast<void>(api()->flush());
  std::lock_guard lock(mutex_);
  write_calls(begin);
  write_copies();
  write_kernels(drained);
}

// The device reports calls in any order; MSPTI writes them as they end. A call has the latest id of its thread. Calls that ended later than
// `until` wait: an earlier one of their thread may not have been reported yet.
void Feed::write_calls(std::uint64_t until) {
  std::vector<device::ApiActivity> calls = std::exchange(calls_, {});
  const auto has_ended = [&](const device::ApiActivity& call) { return call.end <= until; };
  const auto later = std::stable_partition(calls.begin(), calls.end(), has_ended);
  calls_.assign(later, calls.end());
  calls.erase(later, calls.end());
  std::ranges::stable_sort(calls, {}, &device::ApiActivity::end);
  for (const device::ApiActivity& call : calls) {
    std::uint64_t& current = current_id_of_thread_[call.thread_id];
    if (call.correlation != 0) {
      current = call.correlation;
      if (std::strstr(call.name, "Mem") != nullptr) call_of_[call.correlation] = call;
    }
    const std::uint32_t kind = library().is_known_kind(abi::kRuntimeApi) ? abi::kRuntimeApi : abi::kApi;
    library().delivery.append(abi::ApiRecord{.kind = kind,
                                             .start = call.start,
                                             .end = call.end,
                                             .process_id = static_cast<std::uint32_t>(getpid()),
                                             .thread_id = call.thread_id,
                                             .correlation_id = current,
                                             .name = call.name});
  }
}

// Copies and memsets have the times of their call.
void Feed::write_copies() {
  const auto write_all = [this](auto& works, auto make) {
    auto waiting = std::exchange(works, {});
    for (const auto& work : waiting) {
      const auto call = call_of_.find(work.correlation);
      if (call == call_of_.end()) {
        works.push_back(work);  // its call has not been reported yet
        continue;
      }
      library().delivery.append(make(work, call->second));
      call_of_.erase(call);
    }
  };
  write_all(copies_, [this](const device::MemcpyActivity& copy, const device::ApiActivity& call) {
    return abi::MemcpyRecord{.kind = abi::kMemcpy,
                             .copy_kind = copy_kind(copy.direction),
                             .bytes = copy.size,
                             .start = call.start,
                             .end = call.end,
                             .device_id = copy.device + first_device_number_,
                             .stream_id = copy.stream,
                             .correlation_id = copy.correlation,
                             .is_async = 1};
  });
  write_all(sets_, [this](const device::MemsetActivity& set, const device::ApiActivity& call) {
    return abi::MemsetRecord{.kind = abi::kMemset,
                             .value = static_cast<std::uint32_t>(set.value),
                             .bytes = set.size,
                             .start = call.start,
                             .end = call.end,
                             .device_id = set.device + first_device_number_,
                             .stream_id = set.stream,
                             .correlation_id = set.correlation,
                             .is_async = 1};
  });
}

void Feed::write_kernels(bool drained) {
  std::vector<WaitingKernel> waiting = std::exchange(kernels_, {});
  for (WaitingKernel& each : waiting) {
    if (drained || ++each.flushes > faults_.device_lag)
      write(each.kernel);
    else
      kernels_.push_back(each);
  }
}

void Feed::write(const device::KernelActivity& kernel) {
  ++seen_;
  if (faults_.lose_every != 0 && seen_ % faults_.lose_every == 0) {
    ++lost_;
    return;
  }
  if (replayable_.size() < kMostReplayable) replayable_.push_back(kernel);
  library().delivery.append(abi::KernelRecord{.kind = abi::kKernel,
                                              .start = to_host_time(kernel.device, kernel.start),
                                              .end = to_host_time(kernel.device, kernel.end),
                                              .device_id = kernel.device + first_device_number_,
                                              .stream_id = kernel.stream,
                                              .correlation_id = kernel.correlation,
                                              .type = "KERNEL_AICORE",
                                              .name = kernel.name});
  if (faults_.unknown_record_every != 0 && seen_ % faults_.unknown_record_every == 0) {
    library().delivery.append(abi::Activity{.kind = 77});
    library().delivery.flush();
  }
}

void Feed::replay_kernels(std::uint32_t times) {
  std::lock_guard lock(mutex_);
  const std::vector<device::KernelActivity> kernels = replayable_;
  for (std::uint32_t i = 0; i < times; ++i) {
    for (const device::KernelActivity& kernel : kernels) write(kernel);
  }
}

void Feed::set_faults(const MsptiDoubleFaults& faults) {
  std::lock_guard lock(mutex_);
  faults_ = faults;
}

void Feed::number_devices_from(std::uint32_t first) {
  std::lock_guard lock(mutex_);
  first_device_number_ = first;
}

std::uint32_t Feed::device_number(std::uint32_t device) const {
  std::lock_guard lock(mutex_);
  return device + first_device_number_;
}

std::uint64_t Feed::lost() const {
  std::lock_guard lock(mutex_);
  return lost_;
}

std::uint64_t Feed::take_id() {
  std::lock_guard lock(mutex_);
  return current_id_of_thread_[static_cast<std::uint32_t>(syscall(SYS_gettid))] = ++last_id_;
}

void Feed::write_call(const char* name, std::uint64_t start, std::uint64_t end, std::uint64_t id) {
  library().delivery.append(abi::ApiRecord{.kind = abi::kRuntimeApi,
                                           .start = start,
                                           .end = end,
                                           .process_id = static_cast<std::uint32_t>(getpid()),
                                           .thread_id = static_cast<std::uint32_t>(syscall(SYS_gettid)),
                                           .correlation_id = id,
                                           .name = name});
}

void Feed::reset() {
  disconnect();
  clock.set(0, 0);
  std::lock_guard lock(mutex_);
  faults_ = {};
  replayable_.clear();
  current_id_of_thread_.clear();
  first_device_number_ = 0;
  seen_ = 0;
  lost_ = 0;
}

}  // namespace mspti_double
