// From a plain function to a function of Python. What that raises is kept: ctypes would print it and go on.
#include <cstdint>

#include "python/src/capture/kept_error.h"
#include "python/src/capture/parts.h"
#include "python/src/gil.h"

namespace mindtorch::python {
namespace {

namespace nb = nanobind;

nb::object& listener() {
  static nb::object& it = *new nb::object;  // never destroyed: sessions may end after the interpreter
  return it;
}

void session_changes(std::uint32_t wants) {
  const WithGil gil;
  if (gil) call_and_keep_error([&] { listener()(wants); });
}

}  // namespace

void bind_session_listener(nb::module_& module) {
  module.def("_session_listener", [](nb::object callable) {
    listener() = std::move(callable);
    return reinterpret_cast<std::uintptr_t>(&session_changes);
  });
}

}  // namespace mindtorch::python
