// The RecordFunction callbacks: each op, autograd node and annotation of torch becomes an event.
#pragma once

#include <cstdint>

namespace mindtorch::torch_bridge {

// Adds the callbacks for a session that wants `wants` (record::Want bits): on all threads, or with kOneThread on this thread and the
// threads that torch gives its work to. They must not be added twice. Returns null, or a static string that says why there are none.
const char* add_op_callbacks(std::uint32_t wants) noexcept;

// Ops that have begun still record their end afterwards.
void remove_op_callbacks() noexcept;

}  // namespace mindtorch::torch_bridge
