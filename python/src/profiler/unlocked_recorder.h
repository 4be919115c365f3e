// UnlockedRecorder: lets other Python threads run while a recorder works.
//
// A Profile's own state is guarded by the GIL: its calls hold it throughout, and give it up only here, where the work is.
#pragma once

#include <memory>

#include "mindtorch/profiler/recorder.h"

namespace mindtorch::python {

std::unique_ptr<profiler::Recorder> make_unlocked_recorder(std::unique_ptr<profiler::Recorder> recorder);

}  // namespace mindtorch::python
