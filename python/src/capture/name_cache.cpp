// Names of Python scopes and ops: the first time a str object is seen.
#include "python/src/capture/name_cache.h"

namespace mindtorch::python {
namespace {

trace::NameId intern_text(PyObject* text) noexcept {
  Py_ssize_t size = 0;
  if (const char* utf8 = PyUnicode_AsUTF8AndSize(text, &size)) return record::intern_cached({utf8, static_cast<std::size_t>(size)});
  PyErr_Clear();
  PyObject* encoded = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
  if (encoded == nullptr) {
    PyErr_Clear();
    return 0;
  }
  const trace::NameId id = record::intern_cached({PyBytes_AS_STRING(encoded), static_cast<std::size_t>(PyBytes_GET_SIZE(encoded))});
  Py_DECREF(encoded);
  return id;
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
