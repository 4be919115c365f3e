// Are two recordings the same, whatever numbers their names, frames and stacks have?
#pragma once

#include <string>

#include "mindtorch/trace/recording.h"

namespace mindtorch::tests {

// Empty if they are; else the first thing that differs, in words.
std::string first_difference(const trace::Recording& a, const trace::Recording& b);

}  // namespace mindtorch::tests
