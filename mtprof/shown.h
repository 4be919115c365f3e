// Text from files as a terminal may show it.
#pragma once

#include <string>
#include <string_view>

#include "mindtorch/base/text.h"

namespace mindtorch::mtprof {

// One line without control characters: a name may hold escape sequences that would move the cursor, change the title of the window, or do
// worse. Everything from a file or a command line passes through this function, or is printed as JSON or CSV, which have rules of their
// own.
inline std::string shown(std::string_view text) { return without_controls(text); }

}  // namespace mindtorch::mtprof
