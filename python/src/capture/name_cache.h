// Names of Python scopes and ops: from a str object to a NameId without looking at its text.
#pragma once

#include <Python.h>

#include <cstddef>
#include <cstdint>

#include "mindtorch/record/names.h"

namespace mindtorch::python {

namespace name_cache {
struct Entry {
  PyObject* text = nullptr;  // owned, so that the address stays this text's
  trace::NameId id = 0;
};
inline constexpr std::size_t kSize = 1024;
extern Entry entries[kSize];  // direct-mapped by address; under the GIL
trace::NameId fill(Entry& entry, PyObject* text) noexcept;
}  // namespace name_cache

// The id of `text`, a str. Needs the GIL. A str object seen before, such as a literal, costs a nanosecond; a new object with an old
// text costs a few more. Halves of surrogate pairs, which UTF-8 cannot hold, stay as bytes; files show them as U+FFFD.
inline trace::NameId name_id(PyObject* text) noexcept {
  name_cache::Entry& entry = name_cache::entries[(reinterpret_cast<std::uintptr_t>(text) >> 4) % name_cache::kSize];
  if (entry.text == text) [[likely]]
    return entry.id;
  return name_cache::fill(entry, text);
}

}  // namespace mindtorch::python
