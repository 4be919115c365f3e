// Names are ids. Op names are interned once, at registration; user strings go through a cache of their thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/event.h"

namespace mindtorch::record {

// The id of `text`, the same for the life of the process. Takes a lock: for registration, not for the record path.
MINDTORCH_EXPORT trace::NameId intern(std::string_view text);

// As intern(), but a text that this thread has used before costs a few nanoseconds: no lock, no allocation.
MINDTORCH_EXPORT trace::NameId intern_cached(std::string_view text) noexcept;

// The text of an id; the reference lives as long as the process.
MINDTORCH_EXPORT const std::string& name_text(trace::NameId id);

// Number of names known; ids are 0 .. name_count() - 1.
MINDTORCH_EXPORT std::size_t name_count();

}  // namespace mindtorch::record
