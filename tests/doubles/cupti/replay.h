// Plays captured activity.
#pragma once

#include <cstdint>

namespace cupti_double {

// As cupti_double_replay() says.
std::int64_t replay(const char* path, std::uint64_t end_ns, std::uint32_t thread_id);

}  // namespace cupti_double
