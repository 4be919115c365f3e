// The whole C++ interface of the profiler, the counterpart of `import torch.profiler`.
#pragma once

#include "mindtorch/profiler/activity.h"
#include "mindtorch/profiler/observer.h"
#include "mindtorch/profiler/options.h"
#include "mindtorch/profiler/profile.h"
#include "mindtorch/profiler/record_function.h"
#include "mindtorch/profiler/schedule.h"
#include "mindtorch/profiler/status.h"
#include "mindtorch/profiler/tensorboard.h"
#include "mindtorch/profiler/warning.h"
