// RecordingReader: reads a Recording from the bytes of a recording file, up to the first damage.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/trace/chunk_file.h"
#include "mindtorch/trace/clock_mapping.h"
#include "mindtorch/trace/load_result.h"
#include "mindtorch/trace/piece.h"
#include "mindtorch/trace/recording.h"
#include "mindtorch/trace/recording_chunks.h"

namespace mindtorch::trace {

// Reads one file. `bytes` must stay valid until read() returns.
class RecordingReader {
 public:
  // Throws InvalidArgument if the bytes are not a recording file, or have a newer major version. `path` is used in messages.
  RecordingReader(std::string_view bytes, std::string path, std::uint64_t max_memory = MemoryBudget::kUnlimited);
  // Throws BudgetExceeded if it would take more than max_memory bytes.
  LoadResult read();
  std::uint64_t offset() const { return chunks_.offset(); }  // how far it got

 private:
  // Rows whose times are still ticks.
  struct Range {
    std::size_t first, last;
  };

  void read_chunks();
  void take(const Chunk& chunk);
  template <class Rows, class Decode>
  void take_timed(ByteReader& in, const Rows& rows, std::vector<Range>& ticked, Decode&& decode);

  void apply_patches();
  void map_ticks();
  std::int64_t last_time() const;
  void close_open_events(std::int64_t last_ns);
  void complete_clock(std::int64_t last_ns);
  void look_behind_damage(std::map<TrackId, std::uint64_t>& told);
  void count_damage();
  void number_steps();
  void put_in_order();

  std::string path_;
  MemoryBudget budget_;
  ChunkReader chunks_;
  PieceCodec codec_;
  LoadResult result_;
  Recording& recording_ = result_.recording;
  bool ended_ = false;
  bool has_late_rows_ = false;
  std::optional<ClockMapping> clock_;
  std::vector<PieceRows> pieces_;
  std::vector<Range> ticked_memory_, ticked_samples_, ticked_tags_, ticked_steps_, ticked_counters_;
  std::vector<PatchedEnd> patches_;
};

}  // namespace mindtorch::trace
