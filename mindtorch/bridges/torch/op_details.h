// Optional details of an op: arguments, overload, keyword values, the parameters of a collective.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>

#include <cstdint>

#include "mindtorch/bridges/torch/op_names.h"
#include "mindtorch/record/hooks.h"
#include "mindtorch/record/slot.h"

namespace mindtorch::torch_bridge {

// Records sizes, strides and types of tensors, and the values of scalars and short lists of them: what torch's profiler records. `slot`
// must have just been opened on this thread.
void record_inputs(c10::ArrayRef<const c10::IValue> inputs, record::Slot* slot);

// The same, and for each tensor which one it is (trace/tensor_identity.h).
void record_identified_inputs(c10::ArrayRef<const c10::IValue> inputs, record::Slot* slot);

// The Want bits that record_details() serves.
inline constexpr std::uint32_t kDetails = record::kShapes | record::kOverloads;

// Sessions that record shapes and memory are told which tensors ops took: the two together say what happened to memory.
inline constexpr std::uint32_t kIdentities = record::kShapes | record::kMemory;

// Those that few ops have.
void record_rare_details(const at::RecordFunction& fn, std::uint64_t state, record::Slot* slot);

// Records the arguments of the op whose event `slot` has just been opened on this thread, if `state` asks for them. Copies values; keeps no
// tensor.
inline void record_arguments(c10::ArrayRef<const c10::IValue> inputs, std::uint64_t state, record::Slot* slot) {
  if ((state & kIdentities) == kIdentities) [[unlikely]]
    record_identified_inputs(inputs, slot);
  else if ((state & record::kShapes) != 0)
    record_inputs(inputs, slot);
}

// Records what `state` asks for about that op.
inline void record_details(const at::RecordFunction& fn, const OpName& name, std::uint64_t state, record::Slot* slot) {
  record_arguments(fn.inputs(), state, slot);
  if (!name.is_aten || (state & record::kOverloads) != 0) record_rare_details(fn, state, slot);
}

// The same for a call that may be a torch.autograd.Function that Python applies.
void record_applied_details(const at::RecordFunction& fn, const OpName& name, std::uint64_t state, record::Slot* slot);
inline bool may_be_applied(const at::RecordFunction& fn, const OpName& name) {
  return fn.scope() == at::RecordScope::FUNCTION && !name.is_aten && !name.is_evaluation;
}

// The parameters that torch.distributed announces before a collective, as torch's profiler writes them.
void record_collective(const at::RecordFunction& fn, record::Slot* slot);

}  // namespace mindtorch::torch_bridge
