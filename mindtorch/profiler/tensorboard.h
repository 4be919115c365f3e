// tensorboard_trace_handler(): an on_trace_ready that writes each cycle to a file of its own, named as TensorBoard's plugin expects.
#pragma once

#include <string>

#include "mindtorch/base/export.h"
#include "mindtorch/profiler/options.h"

namespace mindtorch::profiler {

// The files of one handler.
class MINDTORCH_EXPORT TraceFiles {
 public:
  TraceFiles(std::string dir_name, std::string worker_name, bool use_gzip);
  // The path of the next file, which no other call has returned. Makes the directory if it is missing; throws Error "Can't create
  // directory:
  // ..." if that fails. One thread at a time.
  std::string next_path();

 private:
  std::string dir_name_;
  std::string worker_name_;
  bool use_gzip_;
};

// Writes "<dir_name>/<worker_name>.<Unix nanoseconds>.pt.trace.json", ".gz" if asked for. The directory is made when the first trace is
// ready (Error "Can't create directory: ..." if that fails). `worker_name` should differ between the processes of a job; empty:
// "<host>_<pid>" of the process in which the first trace is ready, with "_rank<rank>" if a launcher gave it a rank.
MINDTORCH_EXPORT TraceReadyCallback tensorboard_trace_handler(std::string dir_name, std::string worker_name = "", bool use_gzip = false);

}  // namespace mindtorch::profiler
