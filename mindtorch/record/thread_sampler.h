// The sampler of the process: a source that looks at the threads of the host at intervals, and reports what they do
// (DeviceBatch::samples). A host that can read the stacks of other threads installs it.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/record/source.h"

namespace mindtorch::record {

// null removes it. The sampler must outlive every session that uses it. Must not be called while a session runs.
MINDTORCH_EXPORT void set_thread_sampler(ActivitySource* sampler);
MINDTORCH_EXPORT ActivitySource* thread_sampler();

}  // namespace mindtorch::record
