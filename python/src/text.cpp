// Text between the languages: bytes of every str, and a str of every bytes.
#include "python/src/text.h"

#include <new>

#include "mindtorch/base/error.h"

namespace mindtorch::python {
namespace {

// Without a text there is a Python error, which is cleared.
std::string text_or_type(const nb::object& text, nb::handle object) {
  if (text.is_valid()) return text_of(text);
  PyErr_Clear();
  return Py_TYPE(object.ptr())->tp_name;
}

}  // namespace

std::string text_of(nb::handle str) {
  Py_ssize_t size = 0;
  if (const char* utf8 = PyUnicode_AsUTF8AndSize(str.ptr(), &size)) return {utf8, static_cast<std::size_t>(size)};
  for (const char* halves : {"surrogateescape", "surrogatepass"}) {
    PyErr_Clear();
    const nb::object encoded = nb::steal(PyUnicode_AsEncodedString(str.ptr(), "utf-8", halves));
    if (encoded.is_valid()) return {PyBytes_AS_STRING(encoded.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(encoded.ptr()))};
  }
  PyErr_Clear();
  return "?";
}

bool read_text(nb::handle object, std::string& text) noexcept {
  if (!PyUnicode_Check(object.ptr())) return false;
  try {
    text = text_of(object);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

std::string str_of(nb::handle object) { return text_or_type(nb::steal(PyObject_Str(object.ptr())), object); }
std::string repr_of(nb::handle object) { return text_or_type(nb::steal(PyObject_Repr(object.ptr())), object); }

nb::str to_text(std::string_view text) {
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

void throw_wrong_type(std::string_view owner, std::string_view name, nb::handle value) {
  throw TypeMismatch(fmt::format("{}: {} has the wrong type: {}, a {}", owner, name, repr_of(value), Py_TYPE(value.ptr())->tp_name));
}

}  // namespace mindtorch::python
