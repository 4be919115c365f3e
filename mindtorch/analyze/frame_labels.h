// Functions as pictures show them: their name comes first, because a narrow box has room for the beginning of a text only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "mindtorch/trace/recording.h"

namespace mindtorch::analyze {

// The file below the folder that packages are installed in, as torch shows it.
std::string_view shown_file(std::string_view file);

// The name that torch gives a call: "torch/nn/modules/linear.py(130): forward".
std::string call_name(std::string_view file, std::uint32_t line, std::string_view function);

// "forward (torch/nn/modules/linear.py:134)".
std::string frame_label(const trace::Recording& recording, const trace::Frame& frame);

// The same from the name of a recorded call (call_name()). Other names are returned unchanged.
std::string call_label(std::string_view name);

}  // namespace mindtorch::analyze
