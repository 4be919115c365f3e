// A row of arguments that does not fit into the rest of its chunk.
#include "mindtorch/record/input_writer.h"

#include <algorithm>

#include "mindtorch/record/log_storage.h"

namespace mindtorch::record {

InputWriter::Row InputWriter::moved(ThreadLog* log, Row row, std::size_t words) noexcept {
  if (row.begin == nullptr) return {};
  const auto written = static_cast<std::size_t>(row.at - row.begin);
  // A new chunk holds the longest entry there can be; asking for a longer one counts the row as refused.
  const bool fits = written + words <= kWordsPerSideChunk;
  std::int64_t* begin = reserve_side_slow(log, fits ? kMaxSideWords : kMaxSideWords + 1);
  if (begin == nullptr) return {};
  std::copy_n(row.begin, written, begin);
  return {begin, begin + written, log->side_limit};
}

}  // namespace mindtorch::record
