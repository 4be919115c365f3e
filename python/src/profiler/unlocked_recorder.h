// UnlockedRecorder: releases the GIL while a recorder works.
//
// The GIL guards the state of a Profile. Its calls hold it, and release it only here, during long work.
#pragma once

#include <memory>

#include "mindtorch/profiler/recorder.h"

namespace mindtorch::python {

std::unique_ptr<profiler::Recorder> make_unlocked_recorder(std::unique_ptr<profiler::Recorder> recorder);

}  // namespace mindtorch::python
