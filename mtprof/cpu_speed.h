// What the CPU of this machine can do at most, measured.
#pragma once

#include "mindtorch/trace/device_peaks.h"

namespace mindtorch::mtprof {

// Takes about two seconds and all processors that this process may use, so that nothing else should run meanwhile. Rates of types for which
// the processor has no instructions that are known here stay 0.
trace::DevicePeaks measure_cpu();

}  // namespace mindtorch::mtprof
