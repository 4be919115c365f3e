// The code objects that captured stacks speak of.
#include "python/src/capture/seen_code.h"

#include <new>
#include <utility>

#include "python/src/gil.h"

namespace mindtorch::python {

bool SeenCode::is_hidden(const PyCodeObject* code) const noexcept {
  constexpr int kFromTheStart = -1;
  return hidden_folder_ != nullptr && PyUnicode_Check(code->co_filename) &&
         PyUnicode_Tailmatch(code->co_filename, hidden_folder_, 0, PY_SSIZE_T_MAX, kFromTheStart) == 1;
}

std::uint32_t SeenCode::add(PyCodeObject* code) noexcept {
  try {
    const bool hidden = is_hidden(code);
    const std::uint32_t number = hidden ? kHidden : static_cast<std::uint32_t>(codes_.size());
    numbers_.make_room();
    (hidden ? hidden_codes_ : codes_).push_back(code);
    Py_INCREF(code);
    numbers_.enter(code, number);
    return number;
  } catch (const std::bad_alloc&) {
    return kHidden;
  }
}

std::uint32_t BorrowedCode::add(PyCodeObject* code) noexcept {
  std::uint32_t number = kHidden;
  {
    const WithGil gil;
    if (!gil) return kHidden;
    number = owner_.number_of(code);
  }
  try {
    numbers_.enter(code, number);
  } catch (const std::bad_alloc&) {
    // The GIL is acquired for it again the next time.
  }
  return number;
}

void SeenCode::hide_folder(PyObject* folder) noexcept {
  Py_INCREF(folder);
  Py_XSETREF(hidden_folder_, folder);
}

void SeenCode::clear() noexcept {
  // Emptied first: a finalizer may open scopes.
  const std::vector<PyCodeObject*> codes = std::exchange(codes_, {});
  const std::vector<PyCodeObject*> hidden = std::exchange(hidden_codes_, {});
  numbers_.clear();
  for (PyCodeObject* code : codes) Py_DECREF(code);
  for (PyCodeObject* code : hidden) Py_DECREF(code);
}

}  // namespace mindtorch::python
