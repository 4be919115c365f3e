// Reading .mtrec files.
#include "mindtorch/ingest/recording_file.h"

#include <array>
#include <filesystem>
#include <fstream>

#include "mindtorch/ingest/file_bytes.h"
#include "mindtorch/ingest/read_limits.h"
#include "mindtorch/trace/memory_budget.h"
#include "mindtorch/trace/recording_reader.h"

namespace mindtorch::ingest {
namespace {

constexpr std::string_view kLoadRecording = "ingest.load_recording";

}  // namespace

trace::LoadResult load_recording(const std::string& path, const ReadOptions& options) {
  return naming_file(kLoadRecording, path,
                     [&] { return load_recording_bytes(FileBytes(kLoadRecording, path, options).view(), path, options); });
}

trace::LoadResult load_recording_bytes(std::string_view bytes, const std::string& path, const ReadOptions& options) {
  const std::uint64_t limit = memory_limit(options, bytes.size(), FileKind::kRecording);
  trace::RecordingReader reader(bytes, path, limit);
  try {
    return reader.read();
  } catch (const trace::BudgetExceeded&) {
    throw_needs_memory(kLoadRecording, path, limit, {reader.offset(), "file", "what a chunk holds"});
  }
}

bool is_recording_file(const std::string& path) {
  // Opening a pipe would wait for its writer.
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  std::array<char, 8> start{};
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), start.size());
  return file.good() && trace::has_magic({start.data(), start.size()});
}

}  // namespace mindtorch::ingest
