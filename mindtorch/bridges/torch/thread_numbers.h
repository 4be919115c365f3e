// Maps torch's thread ids to the recorder's numbers. A backward node names the thread of its forward op by torch's id.
#pragma once

#include <cstdint>

namespace mindtorch::torch_bridge {

// Registers that this thread has the id `torch_id` in torch and the number `number` (trace::Track::number) here.
void note_thread_number(std::uint64_t torch_id, std::uint32_t number) noexcept;

// 0 if that thread has never recorded, or if its entry was replaced by thousands of later threads.
std::uint32_t thread_number_of(std::uint64_t torch_id) noexcept;

}  // namespace mindtorch::torch_bridge
