// How tests speak to the doubles of libmspti: which device they watch, how the library misbehaves, and what really happened.
//
// A double records the work of the reference device as MSPTI does: into one buffer for the whole process, which it requests from its client
// and retires when it is 80 % full. Host times are nanoseconds since 1970; device times are the device's ticks, converted with one pair of
// simultaneous readings and the nominal rate. Every function may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mindtorch::reference_device {
struct ActivityApi;
}

// 0 switches a fault off.
struct MsptiDoubleFaults {
  std::uint32_t lose_every = 0;            // each n-th kernel's record is lost
  std::uint32_t unknown_record_every = 0;  // each n-th kernel's record is followed by one of a kind that no version knows
  std::uint32_t device_lag = 2;            // records of kernels wait in the driver for so many flushes
};

// A collective operation that a device is said to have carried out, now. It is recorded as COMMUNICATION or, if only that is enabled, as
// HCCL, which knows less of it.
struct MsptiDoubleCollective {
  const char* name = "hcom_allReduce_";
  const char* group = "group_0";
  const char* algorithm = "MESH";
  std::uint32_t data_type = 4;
  std::uint64_t count = 0;
  std::uint32_t device = 0;
  std::uint32_t stream = 1;
  double bandwidth = 0;  // GB/s; only HCCL tells it
};

// An allocation or a release through AscendCL, by a call of this thread that is recorded if `with_call`.
struct MsptiDoubleAllocation {
  bool is_release = false;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  bool with_call = true;
};

struct MsptiDoubleControls {
  // Forgets everything, as if the library had just been loaded. Only while no client uses it.
  void (*reset)();
  // The device to record. By default it is the one in libmindtorch.so, if the process has that.
  void (*watch)(const mindtorch::reference_device::ActivityApi* device);
  void (*set_faults)(const MsptiDoubleFaults* faults);
  // The calls of `function` ("*": of all functions) fail with `result`: `skip` of them succeed, then `times` fail (0: all that follow).
  void (*fail)(const char* function, std::int32_t result, std::uint32_t skip, std::uint32_t times);
  // The library's host clock runs `offset_ns` ahead of CLOCK_REALTIME and faster than it by `drift_ppm`, from now on.
  void (*set_host_clock)(std::int64_t offset_ns, double drift_ppm);
  // Reads the devices' clocks and the host's side by side again, as the library does every seven seconds.
  void (*synchronize_clocks)();
  // Adds to every number of a device in records: the machine's numbers differ from the program's.
  void (*number_devices_from)(std::uint32_t first);
  // Another tool has subscribed. In programs that tests start, the variable MSPTI_DOUBLE_OTHER_SUBSCRIBER says so.
  void (*set_other_subscriber)(bool is_there);
  // Buffers that fill up retire on threads that wait until this is called with false.
  void (*hold_retired_buffers)(bool hold);
  // Takes all buffers that the client gives, and hands them back, empty, when the client unsubscribes. The client refuses one buffer now
  // and one for every record that follows.
  void (*hoard_buffers)();

  void (*run_collective)(const MsptiDoubleCollective* collective);
  void (*allocate)(const MsptiDoubleAllocation* allocation);
  // Graph replay: the kernels so far ran `times` more times, with the correlation of their launch.
  void (*replay_kernels)(std::uint32_t times);

  std::uint64_t (*calls)(const char* function);  // how often a function ("*": any) has been called
  std::uint64_t (*lost_records)();
  std::uint64_t (*refused_buffers)();
  std::uint64_t (*buffers_held)();  // that the client has handed over and not got back
  // What the client did that MSPTI does not allow, one sentence per line; empty if nothing. Valid until the next call.
  const char* (*violations)();
};

extern "C" __attribute__((visibility("default"))) const MsptiDoubleControls* mspti_double_controls();
