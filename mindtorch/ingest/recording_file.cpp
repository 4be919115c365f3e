// Reading .mtrec files.
#include "mindtorch/ingest/recording_file.h"

#include <array>
#include <fstream>

#include "mindtorch/base/file.h"
#include "mindtorch/ingest/read_limits.h"
#include "mindtorch/trace/memory_budget.h"
#include "mindtorch/trace/recording_reader.h"

namespace mindtorch::ingest {

trace::LoadResult load_recording(const std::string& path, const ReadOptions& options) {
  return naming_file("ingest.load_recording", path, [&] { return load_recording_bytes(read_file(path), path, options); });
}

trace::LoadResult load_recording_bytes(std::string_view bytes, const std::string& path, const ReadOptions& options) {
  const std::uint64_t limit = memory_limit(options, bytes.size(), FileKind::kCompressed);
  trace::RecordingReader reader(bytes, path, limit);
  try {
    return reader.read();
  } catch (const trace::BudgetExceeded&) {
    throw_needs_memory("ingest.load_recording", path, limit, reader.offset());
  }
}

bool is_recording_file(const std::string& path) {
  std::array<char, 8> start{};
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), start.size());
  return file.good() && trace::has_magic({start.data(), start.size()});
}

}  // namespace mindtorch::ingest
