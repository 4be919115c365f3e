// Averages, events and counters as JSON and CSV files, for spreadsheets and scripts.
#pragma once

#include <string>

#include "mindtorch/trace/recording.h"

namespace mindtorch::exporter {

// The averages by name and device. The columns are those of tabular.h. Throw IoError.
void write_averages_json(const trace::Recording& recording, const std::string& path);
void write_averages_csv(const trace::Recording& recording, const std::string& path);

// Tables for databases: texts are as they are, where those for spreadsheets have ' in front of what looks like a formula, and an empty text
// is told apart from none.
void write_averages_plain_csv(const trace::Recording& recording, const std::string& path);
void write_events_plain_csv(const trace::Recording& recording, const std::string& path);
void write_counters_plain_csv(const trace::Recording& recording, const std::string& path);
void write_samples_plain_csv(const trace::Recording& recording, const std::string& path);

// Every event, streamed.
void write_events_json(const trace::Recording& recording, const std::string& path);
void write_events_csv(const trace::Recording& recording, const std::string& path);

// Memory and queued device work over time.
void write_counters_csv(const trace::Recording& recording, const std::string& path);

// What the threads did whenever a sampler looked at them.
void write_samples_csv(const trace::Recording& recording, const std::string& path);

}  // namespace mindtorch::exporter
