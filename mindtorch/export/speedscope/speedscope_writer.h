// speedscope's file format: one evented profile for each row, to be opened in the speedscope viewer.
#pragma once

#include <string>

#include "mindtorch/trace/recording.h"

namespace mindtorch::exporter {

// Writes `recording` to `path` (".gz": compressed). Can be repeated. Throws IoError.
void write_speedscope(const trace::Recording& recording, const std::string& path);

}  // namespace mindtorch::exporter
