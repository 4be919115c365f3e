// Names of Python scopes and ops: the first time a str object is seen.
#include "python/src/capture/name_cache.h"

#include <new>

#include "python/src/text.h"

namespace mindtorch::python {
namespace {

trace::NameId intern_text(PyObject* text) noexcept {
  Py_ssize_t size = 0;
  if (const char* utf8 = PyUnicode_AsUTF8AndSize(text, &size)) return record::intern_cached({utf8, static_cast<std::size_t>(size)});
  PyErr_Clear();
  try {
    return record::intern_cached(text_of(text));
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

}  // namespace

namespace name_cache {

Entry entries[kSize];

trace::NameId fill(Entry& entry, PyObject* text) noexcept {
  const trace::NameId id = intern_text(text);
  if (!PyUnicode_CheckExact(text)) return id;  // an object of a subclass may hold much more than its text
  Py_INCREF(text);
  PyObject* const old = entry.text;
  entry = {text, id};
  Py_XDECREF(old);
  return id;
}

}  // namespace name_cache
}  // namespace mindtorch::python
