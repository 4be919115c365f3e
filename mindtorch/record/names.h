// Names are ids. Op names are interned once, at registration; user strings go through a cache of their thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/event.h"

namespace mindtorch::record {

// Returns the id of `text`, which stays the same for the life of the process. It takes a lock, so use it for registration and not on the
// record path.
MINDTORCH_EXPORT trace::NameId intern(std::string_view text);

// Like intern(), but a text that this thread has used before costs only a few nanoseconds, without a lock or an allocation.
MINDTORCH_EXPORT trace::NameId intern_cached(std::string_view text) noexcept;

// Returns the text of an id. The reference is valid for the life of the process.
MINDTORCH_EXPORT const std::string& name_text(trace::NameId id);

// Returns the number of names. Ids are 0 .. name_count() - 1.
MINDTORCH_EXPORT std::size_t name_count();

}  // namespace mindtorch::record
