// A stack frame from its text.
#pragma once

#include <cstdint>
#include <string_view>

namespace mindtorch::ingest::chrome {

struct FrameText {
  std::string_view file;
  std::int32_t line = 0;
  std::string_view function;
};

// "file:12:function" (ours) or "file(12): function" (torch's); any other text is all function.
FrameText split_frame(std::string_view text);

}  // namespace mindtorch::ingest::chrome
