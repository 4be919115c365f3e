// Averages, events and counters as JSON and CSV files, for spreadsheets and scripts.
#pragma once

#include <string>

#include "mindtorch/trace/recording.h"

namespace mindtorch::exporter {

// The averages by name and device. The columns are those of tabular.h. Throw IoError.
void write_averages_json(const trace::Recording& recording, const std::string& path);
void write_averages_csv(const trace::Recording& recording, const std::string& path);

// Every event, streamed.
void write_events_json(const trace::Recording& recording, const std::string& path);
void write_events_csv(const trace::Recording& recording, const std::string& path);

// Memory and queued device work over time.
void write_counters_csv(const trace::Recording& recording, const std::string& path);

}  // namespace mindtorch::exporter
