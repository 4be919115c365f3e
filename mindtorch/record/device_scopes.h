// The spans of the user's scopes on devices. Internal to record.
#pragma once

#include "mindtorch/trace/recording.h"

namespace mindtorch::record {

// For each scope and stream, an event of kind kDeviceScope from the first to the last piece of work that was launched in the scope, as
// torch draws them: work counts for the innermost scope around its launch. Events must be in order; they are still in order afterwards.
void add_device_scopes(trace::Recording& recording);

}  // namespace mindtorch::record
