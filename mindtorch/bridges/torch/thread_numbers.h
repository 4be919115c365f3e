// From torch's thread ids to the recorder's: a backward node names the thread of its forward op by torch's id.
#pragma once

#include <cstdint>

namespace mindtorch::torch_bridge {

// This thread is `torch_id` to torch and `number` (trace::Track::number) to us.
void note_thread_number(std::uint64_t torch_id, std::uint32_t number) noexcept;

// 0 if that thread has never recorded, or thousands of threads ago.
std::uint32_t thread_number_of(std::uint64_t torch_id) noexcept;

}  // namespace mindtorch::torch_bridge
