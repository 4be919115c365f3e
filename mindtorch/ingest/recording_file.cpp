// Reading .mtrec files.
#include "mindtorch/ingest/recording_file.h"

#include <array>
#include <fstream>

#include "mindtorch/base/file.h"
#include "mindtorch/trace/recording_reader.h"

namespace mindtorch::ingest {

trace::LoadResult load_recording(const std::string& path) { return load_recording_bytes(read_file(path), path); }

trace::LoadResult load_recording_bytes(std::string_view bytes, const std::string& path) {
  return trace::RecordingReader(bytes, path).read();
}

bool is_recording_file(const std::string& path) {
  std::array<char, 8> start{};
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), start.size());
  return file.good() && trace::has_magic({start.data(), start.size()});
}

}  // namespace mindtorch::ingest
