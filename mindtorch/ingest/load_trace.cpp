// Chooses the reader by the first bytes of a file.
#include "mindtorch/ingest/load_trace.h"

#include <filesystem>

#include "mindtorch/ingest/recording_file.h"

namespace mindtorch::ingest {

LoadedTrace load_trace(const std::string& path, const ReadOptions& options) {
  LoadedTrace loaded;
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  loaded.file_size = error ? 0 : size;
  if (is_recording_file(path)) {
    trace::LoadResult result = load_recording(path, options);
    loaded.format = "recording";
    loaded.recording = std::move(result.recording);
    loaded.damage = std::move(result.damage);
  } else {
    ChromeReadResult result = read_chrome_trace(path, options);
    loaded.format = "Chrome trace";
    loaded.recording = std::move(result.recording);
    loaded.damage = std::move(result.damage);
    loaded.skipped = std::move(result.skipped);
    loaded.flows = result.flows;
  }
  return loaded;
}

}  // namespace mindtorch::ingest
