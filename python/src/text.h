// Text between the languages. A str of Python may hold what no UTF-8 has, and a text of C++ bytes that are no UTF-8: neither is an error.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

namespace mindtorch::python {

namespace nb = nanobind;

// The text of a str as UTF-8. Halves of surrogate pairs, which Python makes of file names that are not UTF-8, become the bytes of the file
// name again; other halves become bytes that are not UTF-8, which files and tables show as U+FFFD. "?" if there is no memory for it.
std::string text_of(nb::handle str);
// The same into `text`; false for anything but a str, and if there is no memory for it.
bool read_text(nb::handle object, std::string& text) noexcept;
// The same of str(object) and repr(object); if these fail, the name of the type.
std::string str_of(nb::handle object);
std::string repr_of(nb::handle object);

// A str for people: bytes that are not UTF-8 are replaced by U+FFFD.
nb::str to_text(std::string_view text);

// The attribute `name` as a T. Throws TypeMismatch, which names the owner, the attribute and the value, if it is something else.
template <class T>
T attribute(nb::handle object, const char* name, std::string_view owner);
[[noreturn]] void throw_wrong_type(std::string_view owner, std::string_view name, nb::handle value);

template <class T>
T attribute(nb::handle object, const char* name, std::string_view owner) {
  const nb::object value = object.attr(name);
  T converted{};
  if (!nb::try_cast(value, converted)) throw_wrong_type(owner, name, value);
  return converted;
}

}  // namespace mindtorch::python

// Instead of nanobind's own casters, which refuse what is not UTF-8. A path goes to C++ and back unchanged.
template <>
struct nanobind::detail::type_caster<std::string> {
  NB_TYPE_CASTER(std::string, const_name("str"))

  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept { return mindtorch::python::read_text(source, value); }
  static handle from_cpp(std::string_view text, rv_policy, cleanup_list*) noexcept {
    return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
  }
};

// Only results: an argument would be a view of nothing.
template <>
struct nanobind::detail::type_caster<std::string_view> {
  NB_TYPE_CASTER(std::string_view, const_name("str"))

  static handle from_cpp(std::string_view text, rv_policy policy, cleanup_list* cleanup) noexcept {
    return type_caster<std::string>::from_cpp(text, policy, cleanup);
  }
};
