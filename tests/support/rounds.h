// How often a test repeats what may go wrong by chance.
#pragma once

#include <algorithm>
#include <cstdlib>

namespace mindtorch::tests {

// A tenth of `full`, but at least 2, where MINDTORCH_QUICK is set: sanitizers make each round many times slower, and report a race or an
// invalid access whether or not it does harm in that round.
inline int rounds(int full) { return std::getenv("MINDTORCH_QUICK") != nullptr ? std::max(2, full / 10) : full; }

}  // namespace mindtorch::tests
