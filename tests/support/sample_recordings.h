// Recordings for the tests of exporters: small ones that show every feature, hostile ones, and large ones.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "mindtorch/trace/recording.h"

namespace mindtorch::tests {

// Two training steps on one CPU thread and an autograd thread; forward and backward ops, scopes, no side data.
trace::Recording cpu_recording();

// The same ops with shapes, stacks, Python frames, modules, memory reports and categories, losses and metadata.
trace::Recording full_recording();

// Three steps whose ops launch kernels, copies and a collective on two streams of a device; one kernel overlaps its predecessor. The device
// is NPU 0 or CUDA 0.
trace::Recording device_recording(trace::DeviceType type);

// Names, keys, texts and metadata nobody should use: quotes, backslashes, control characters, invalid UTF-8, "</script>", one megabyte.
trace::Recording hostile_recording();
std::vector<std::string> hostile_names();

// Two threads of a loop with ops, and a worker of another process, all of which were looked at every millisecond. A Chrome trace of it does
// not come back whole: looks have no duration there.
trace::Recording sampled_recording();

// No events at all.
trace::Recording empty_recording();

// `events` ops named after torch's, nested up to four deep, on four threads.
trace::Recording large_recording(std::size_t events);

// All of them but the sampled and the large one, with the names files are given.
std::vector<std::pair<std::string, trace::Recording>> sample_recordings();

}  // namespace mindtorch::tests
