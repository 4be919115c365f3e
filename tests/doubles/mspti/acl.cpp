// The functions of AscendCL that the MSPTI source calls, on the reference device. And mstx, whose markers MSPTI records.
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "tests/doubles/mspti/library.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

using mspti_double::library;
namespace abi = mindtorch::sources::mspti;
namespace device = mindtorch::reference_device;

constexpr int kOk = 0;
constexpr int kInvalid = 100000;
thread_local int chosen_device = 0;

int device_count() {
  const device::ActivityApi* api = library().feed.api();
  return api != nullptr ? api->device_count() : 0;
}

std::atomic<std::uint64_t> last_marker{0};

void write_marker(std::uint32_t flag, std::uint64_t id, const char* name) {
  if (!library().is_enabled(abi::kMarker)) return;
  library().delivery.append(abi::MarkerRecord{.kind = abi::kMarker,
                                              .flag = flag,
                                              .source = abi::kFromHost,
                                              .timestamp = library().feed.clock.now(),
                                              .id = id,
                                              .process_or_device = static_cast<std::uint32_t>(getpid()),
                                              .thread_or_stream = static_cast<std::uint32_t>(syscall(SYS_gettid)),
                                              .name = library().keep(name),
                                              .domain = library().keep(flag == abi::kRangeEnd ? "" : "default")});
}

// The device's half of a marker; `stream` is the number of a stream of device 0.
void write_device_marker(std::uint32_t flag, std::uint64_t id, const void* stream) {
  if (stream == nullptr || !library().is_enabled(abi::kMarker)) return;
  library().delivery.append(abi::MarkerRecord{.kind = abi::kMarker,
                                              .flag = flag,
                                              .source = abi::kFromDevice,
                                              .timestamp = library().feed.clock.now(),
                                              .id = id,
                                              .process_or_device = library().feed.device_number(0),
                                              .thread_or_stream = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(stream)),
                                              .name = "",
                                              .domain = ""});
}

std::map<std::uint64_t, const void*>& streams_of_ranges() {
  static auto& streams = *new std::map<std::uint64_t, const void*>();
  return streams;
}

}  // namespace

EXPORTED int aclrtGetDeviceCount(std::uint32_t* count) {
  *count = static_cast<std::uint32_t>(device_count());
  return kOk;
}
EXPORTED int aclrtSetDevice(std::int32_t device) {
  if (device < 0 || device >= device_count()) return kInvalid;
  chosen_device = device;
  return kOk;
}
EXPORTED int aclrtGetDevice(std::int32_t* device) {
  *device = chosen_device;
  return device_count() > 0 ? kOk : kInvalid;
}
EXPORTED int aclrtSynchronizeDevice() {
  const device::ActivityApi* api = library().feed.api();
  ++library().synchronizing;
  const bool is_done = api != nullptr && api->synchronize_device(chosen_device) == device::Result::kSuccess;
  --library().synchronizing;
  library().synchronizing.notify_all();
  return is_done ? kOk : kInvalid;
}
EXPORTED int aclrtGetMemInfo(int, std::size_t* free, std::size_t* total) {
  const device::ActivityApi* api = library().feed.api();
  return api != nullptr && api->memory_info(chosen_device, free, total) == device::Result::kSuccess ? kOk : kInvalid;
}
EXPORTED int aclrtGetVersion(std::int32_t* major, std::int32_t* minor, std::int32_t* patch) {
  *major = 1;
  *minor = 15;
  *patch = 0;
  return kOk;
}
EXPORTED const char* aclrtGetSocName() { return "NPU of the tests"; }

EXPORTED void mstxMarkA(const char* message, void* stream) {
  const std::uint64_t id = ++last_marker;
  write_marker(stream != nullptr ? abi::kInstantaneousWithDevice : abi::kInstantaneous, id, message);
  write_device_marker(abi::kInstantaneousWithDevice, id, stream);
}
EXPORTED std::uint64_t mstxRangeStartA(const char* message, void* stream) {
  const std::uint64_t id = ++last_marker;
  write_marker(stream != nullptr ? abi::kRangeStartWithDevice : abi::kRangeStart, id, message);
  write_device_marker(abi::kRangeStartWithDevice, id, stream);
  if (stream != nullptr) streams_of_ranges()[id] = stream;
  return id;
}
EXPORTED void mstxRangeEnd(std::uint64_t id) {
  const auto stream = streams_of_ranges().find(id);
  const bool has_stream = stream != streams_of_ranges().end();
  write_marker(has_stream ? abi::kRangeEndWithDevice : abi::kRangeEnd, id, "");
  if (has_stream) write_device_marker(abi::kRangeEndWithDevice, id, stream->second);
}
