// Arguments, results and schemas of calls for execution traces (record/call_details.h).
#pragma once

#include <ATen/record_function.h>

#include "mindtorch/record/call_details.h"
#include "mindtorch/record/slot.h"

namespace mindtorch::torch_bridge {

// Call it when the callbacks of a session are added. Numbers of tensors and storages go on until no execution trace is registered.
void begin_call_details();

// Keeps what is known when a call begins, and marks its event, which has just been opened on this thread. Callbacks must ask torch for
// inputs and ids.
void keep_call_start(const at::RecordFunction& fn, record::Slot* slot);

// Keeps the results of a call that has ended. Callbacks must ask torch for outputs.
void keep_call_end(const at::RecordFunction& fn);

}  // namespace mindtorch::torch_bridge
