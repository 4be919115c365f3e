// Whether a program of the preset arm64 runs under qemu, for tests of what qemu does differently from a kernel.
#pragma once

#include <cstdlib>

namespace mindtorch::tests {

// The variable tells qemu where the libraries of the program are.
inline bool is_emulated() { return std::getenv("QEMU_LD_PREFIX") != nullptr; }

}  // namespace mindtorch::tests
