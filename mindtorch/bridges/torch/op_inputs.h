// Arguments of an op, copied at its start.
#pragma once

#include <ATen/core/ivalue.h>

#include "mindtorch/record/slot.h"

namespace mindtorch::torch_bridge {

// Records sizes, strides and types of tensors, and the values of scalars and short lists of them: what torch's profiler records. `slot`
// must have just been opened on this thread.
void record_inputs(c10::ArrayRef<const c10::IValue> inputs, record::Slot* slot);

// The same, and for each tensor which one it is (trace/tensor_identity.h).
void record_identified_inputs(c10::ArrayRef<const c10::IValue> inputs, record::Slot* slot);

}  // namespace mindtorch::torch_bridge
