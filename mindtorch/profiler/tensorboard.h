// tensorboard_trace_handler(): an on_trace_ready that writes each cycle to a file of its own, named as TensorBoard's plugin expects.
#pragma once

#include <string>

#include "mindtorch/profiler/options.h"

namespace mindtorch::profiler {

// Writes "<dir_name>/<worker_name>.<Unix nanoseconds>.pt.trace.json", ".gz" if asked for. The directory is made when the first trace is
// ready (Error "Can't create directory: ..." if that fails). `worker_name` should differ between the processes of a job; empty:
// "<host>_<pid>", of the process in which the first trace is ready.
TraceReadyCallback tensorboard_trace_handler(std::string dir_name, std::string worker_name = "", bool use_gzip = false);

}  // namespace mindtorch::profiler
