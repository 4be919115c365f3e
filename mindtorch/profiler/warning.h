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

// The sink may throw, as Python's "error" filter does. The call that warned then throws the exception after it has done its work.
using WarningSink = std::function<void(WarningCategory, const std::string& text)>;

// Installs the sink of the process; an empty one removes it. May be called on any thread. A new sink receives warnings that are given only
// once again.
MINDTORCH_EXPORT void set_warning_sink(WarningSink sink);

// Passes a warning to the sink, on the calling thread. May be called on any thread.
MINDTORCH_EXPORT void warn(WarningCategory category, const std::string& text);
// Like warn(), but skips a text that the present sink has already received through this function.
MINDTORCH_EXPORT void warn_once(WarningCategory category, const std::string& text);

}  // namespace mindtorch::profiler
