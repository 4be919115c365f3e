// Reads any file that this library understands: a recording (.mtrec) or a Chrome trace, plain or gzip.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "mindtorch/base/export.h"
#include "mindtorch/ingest/chrome/chrome_reader.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::ingest {

struct LoadedTrace {
  trace::Recording recording;
  std::string_view format;  // "recording", "Chrome trace"
  std::uint64_t file_size = 0;
  // Set if the file is damaged: what is wrong. The recording then holds everything that could be read, and a Loss of reason kDamagedFile.
  std::optional<std::string> damage;
  // Chrome traces only.
  std::map<std::string, std::uint64_t> skipped;
  FlowEnds flows;
};

// Chooses the reader by how the file starts. Throws IoError if the file cannot be read, InvalidArgument if it is in no known format, Error
// if it needs more memory than `options` allow.
MINDTORCH_EXPORT LoadedTrace load_trace(const std::string& path, const ReadOptions& options = {});

}  // namespace mindtorch::ingest
