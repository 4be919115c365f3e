// The RecordFunction callbacks: each op, autograd node and annotation of torch becomes an event.
#pragma once

#include <cstdint>

namespace mindtorch::torch_bridge {

// Adds the callbacks for a session that wants `wants` (record::Want bits): on all threads, or with kOneThread on this thread and those that
// torch hands its work to. Not while they are added.
void add_op_callbacks(std::uint32_t wants) noexcept;

// Ops that have begun still end after it.
void remove_op_callbacks() noexcept;

}  // namespace mindtorch::torch_bridge
