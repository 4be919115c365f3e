// From the file of a Chrome trace to one TracePart, without the whole text in memory.
#pragma once

#include <optional>

#include "mindtorch/ingest/chrome/text_reading.h"
#include "mindtorch/ingest/chrome/trace_part.h"
#include "mindtorch/ingest/file_bytes.h"

namespace mindtorch::ingest::chrome {

// Each thread reads its share of the file into a buffer that stays in the cache, piece by piece. Empty if the file is compressed, is
// damaged, changes, or has no places between events at which it can be cut: read_text() deals with such a text. Throws
// trace::BudgetExceeded.
std::optional<TracePart> read_file(const InputFile& file, TextLimits limits);

}  // namespace mindtorch::ingest::chrome
