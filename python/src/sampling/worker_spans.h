// WorkerSpans: what the workers of data loaders have written about themselves (capture/data_worker.py), as records of a source.
//
// Each worker appends to a file of its own in the folder of the process that started it, so that what it has written outlives it. A line is
//   w PID TID WORKER           the worker; first line
//   l COUNT                    spans that were dropped because the files are bounded
//   n NUMBER NAME\tSOURCE      the name of spans, and the file and line of their code, which may be empty
//   s NUMBER BEGIN END [WAIT]  a span, in nanoseconds of CLOCK_MONOTONIC, and for how long its thread waited for a processor
// A file that has grown is renamed to *.old, and another one begins. A line that is torn or makes no sense is left out.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "mindtorch/record/clock.h"
#include "mindtorch/record/device_batch.h"

namespace mindtorch::python {

// The folder of this process; empty: there are no workers. Any thread.
void watch_data_workers(std::string folder);

class WorkerSpans {
 public:
  // Spans that end from now on are wanted.
  void begin(record::Clock& clock);
  // Adds the spans that have ended by now, and the clock that they are on.
  void add_to(record::DeviceBatch& batch, record::Clock& clock);

 private:
  record::BracketedSample began_;
  std::map<std::string, std::uint64_t> counted_;  // by file: dropped spans that a batch has counted
};

}  // namespace mindtorch::python
