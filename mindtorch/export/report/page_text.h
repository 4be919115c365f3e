// The files of the folder page/, embedded by the build.
#pragma once

#include <string_view>

namespace mindtorch::exporter {

// The text of a file; empty for a name that is not there.
std::string_view page_text(std::string_view file);

}  // namespace mindtorch::exporter
