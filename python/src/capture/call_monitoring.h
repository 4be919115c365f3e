// Calls of functions through sys.monitoring, which Python has since 3.12. It costs about half of a profile function.
#pragma once

namespace mindtorch::python {

// Records the calls of all threads from now on. False if this Python has no sys.monitoring, or if other tools have taken all places that a
// profiler may take. Needs the GIL. Throws nb::python_error.
bool start_monitoring_calls();

// Does nothing if calls are not monitored. Throws nb::python_error.
void stop_monitoring_calls();

}  // namespace mindtorch::python
