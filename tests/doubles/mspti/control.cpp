// The functions of tests: work, behaviour and truth.
#include "tests/doubles/mspti/library.h"
#include "tests/doubles/mspti/mspti_double.h"

namespace {

using mspti_double::library;
namespace abi = mindtorch::sources::mspti;

// Records of HCCL have no correlation.
void write_transfer(const MsptiDoubleCollective& collective) {
  const std::uint64_t start = library().feed.clock.now();
  library().delivery.append(abi::HcclRecord{.kind = abi::kHccl,
                                            .start = start,
                                            .end = library().feed.clock.now(),
                                            .device_id = library().feed.device_number(collective.device),
                                            .stream_id = collective.stream,
                                            .bandwidth = collective.bandwidth,
                                            .name = library().keep(collective.name),
                                            .communicator = library().keep(collective.group)});
}

void run_collective(const MsptiDoubleCollective* collective) {
  if (library().is_enabled(abi::kHccl)) write_transfer(*collective);
  if (!library().is_enabled(abi::kCommunication)) return;
  const std::uint64_t start = library().feed.clock.now();
  const std::uint64_t id = library().feed.take_id();
  library().delivery.append(abi::CommunicationRecord{.kind = abi::kCommunication,
                                                     .data_type = collective->data_type,
                                                     .count = collective->count,
                                                     .device_id = library().feed.device_number(collective->device),
                                                     .stream_id = collective->stream,
                                                     .start = start,
                                                     .end = library().feed.clock.now(),
                                                     .algorithm = library().keep(collective->algorithm),
                                                     .name = library().keep(collective->name),
                                                     .communicator = library().keep(collective->group),
                                                     .correlation_id = id});
  library().feed.write_call("HcclLaunchKernel", start, library().feed.clock.now(), id);
}

void allocate(const MsptiDoubleAllocation* allocation) {
  const std::uint64_t start = library().feed.clock.now();
  const std::uint64_t id = library().feed.take_id();
  const std::uint64_t end = library().feed.clock.now();
  if (allocation->with_call) library().feed.write_call(allocation->is_release ? "DevFree" : "DevMalloc", start, end, id);
  if (!library().is_enabled(abi::kMemory)) return;
  library().delivery.append(abi::MemoryRecord{.kind = abi::kMemory,
                                              .operation = allocation->is_release ? abi::kRelease : abi::kAllocation,
                                              .memory_kind = 1,
                                              .correlation_id = id,
                                              .start = start,
                                              .end = end,
                                              .address = allocation->address,
                                              .bytes = allocation->bytes,
                                              .process_id = 1,
                                              .device_id = library().feed.device_number(0),
                                              .stream_id = abi::kNoStream});
}

constexpr MsptiDoubleControls kControls = {
    .reset = [] { library().reset(); },
    .watch = [](const mindtorch::reference_device::ActivityApi* device) { library().feed.watch(device); },
    .set_faults = [](const MsptiDoubleFaults* faults) { library().feed.set_faults(faults != nullptr ? *faults : MsptiDoubleFaults{}); },
    .fail = [](const char* function, std::int32_t result, std::uint32_t skip,
               std::uint32_t times) { library().calls.fail(function, result, skip, times); },
    .set_host_clock = [](std::int64_t offset_ns, double drift_ppm) { library().feed.clock.set(offset_ns, drift_ppm); },
    .synchronize_clocks = [] { library().feed.synchronize_clocks(); },
    .number_devices_from = [](std::uint32_t first) { library().feed.number_devices_from(first); },
    .set_other_subscriber = [](bool is_there) { library().set_other_subscriber(is_there); },
    .hold_retired_buffers = [](bool hold) { library().delivery.hold_retired_buffers(hold); },
    .hoard_buffers = [] { library().delivery.hoard_buffers(); },
    .run_collective = &run_collective,
    .allocate = &allocate,
    .replay_kernels = [](std::uint32_t times) { library().feed.replay_kernels(times); },
    .calls = [](const char* function) { return library().calls.count(function); },
    .lost_records = [] { return library().feed.lost(); },
    .refused_buffers = [] { return library().delivery.refused(); },
    .buffers_held = [] { return library().delivery.buffers_held(); },
    .violations = [] { return library().violations(); },
};

}  // namespace

const MsptiDoubleControls* mspti_double_controls() { return &kControls; }
