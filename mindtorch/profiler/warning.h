// Warnings. The library never prints: a warning goes to the process's sink, if there is one, and is kept by the Profile it is about.
#pragma once

#include <functional>
#include <string>

#include "mindtorch/base/export.h"

namespace mindtorch::profiler {

enum class WarningCategory { kUser, kFuture };  // Python: UserWarning, FutureWarning

struct Warning {
  WarningCategory category = WarningCategory::kUser;
  std::string text;
  friend bool operator==(const Warning&, const Warning&) = default;
};

// May throw (Python's "error" filter does): the exception comes out of the call that warned, which has then done its work nevertheless.
using WarningSink = std::function<void(WarningCategory, const std::string& text)>;

// Installs the sink of the process; an empty one removes it. Any thread. A new sink has seen nothing: what is said once is said to it
// again.
MINDTORCH_EXPORT void set_warning_sink(WarningSink sink);

// Hands a warning to the sink, on this thread. Any thread.
MINDTORCH_EXPORT void warn(WarningCategory category, const std::string& text);
// As warn(), but a text the present sink has had this way before is left out.
MINDTORCH_EXPORT void warn_once(WarningCategory category, const std::string& text);

}  // namespace mindtorch::profiler
