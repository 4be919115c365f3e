// The tracks of a Perfetto trace: processes, threads, devices with their streams, overlap lanes, counters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mindtorch/export/layout.h"
#include "mindtorch/export/output.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::exporter::perfetto {

// Identities of tracks and flows. Made from the recording's own id, so that files of many ranks can be shown together.
class Uuids {
 public:
  enum class Of : std::uint8_t { kProcess, kRow, kAllocated, kReserved, kForwardBackward, kLaunch, kCollective, kCounter };

  explicit Uuids(const trace::Recording& recording);
  std::uint64_t operator()(Of what, std::uint64_t number) const;

 private:
  std::uint64_t seed_;
};

// Devices whose memory has a counter.
std::vector<trace::Device> counted_devices(const trace::Recording& recording);

// Describes every track of the layout, the memory counters and those of the recording.
void append_track_descriptors(Output& out, const trace::Recording& recording, const Layout& layout, const Uuids& uuids);

}  // namespace mindtorch::exporter::perfetto
