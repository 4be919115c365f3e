// Reads Chrome traces of torch.profiler (Kineto), of this library, and of others that use complete events, into a Recording.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "mindtorch/base/error.h"
#include "mindtorch/base/export.h"
#include "mindtorch/ingest/read_options.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::ingest {

// A file of JSON that is whole and holds something else than a trace.
class MINDTORCH_EXPORT NotATrace : public InvalidArgument {
 public:
  using InvalidArgument::InvalidArgument;
};

struct FlowEnds {
  std::uint64_t starts = 0, ends = 0;
  std::uint64_t starts_without_end = 0, ends_without_start = 0;
};

struct ChromeReadResult {
  trace::Recording recording;
  std::uint64_t elements = 0;                    // of traceEvents
  std::map<std::string, std::uint64_t> skipped;  // elements that have no place in a Recording: what they are -> how many
  FlowEnds flows;                                // zero unless asked for
  // Set if the text ends early or holds events that are not JSON: what is wrong. The recording then holds all other events, and a Loss of
  // reason kDamagedFile.
  std::optional<std::string> damage;
};

// The file may be plain or gzip, and hold the object form or a bare list of events. A file that this library wrote is restored completely.
// torch's arguments become inputs, stacks, links and memory reports, and unknown arguments become attributes. Large files are parsed on all
// cores. Throws IoError if the file cannot be read, InvalidArgument if it does not start like a Chrome trace.
MINDTORCH_EXPORT ChromeReadResult read_chrome_trace(const std::string& path, const ReadOptions& options = {});

// Like read_chrome_trace(), for a file that is in memory already. `path` is used in messages.
MINDTORCH_EXPORT ChromeReadResult read_chrome_bytes(std::string_view bytes, const std::string& path, const ReadOptions& options = {});

}  // namespace mindtorch::ingest
