// The code objects that captured stacks speak of.
#include "python/src/capture/seen_code.h"

#include <utility>

#include "python/src/gil.h"

namespace mindtorch::python {

bool SeenCode::is_hidden(const PyCodeObject* code) const noexcept {
  constexpr int kFromTheStart = -1;
  return hidden_folder_ != nullptr && PyUnicode_Check(code->co_filename) &&
         PyUnicode_Tailmatch(code->co_filename, hidden_folder_, 0, PY_SSIZE_T_MAX, kFromTheStart) == 1;
}

std::uint32_t SeenCode::add(PyCodeObject* code, std::size_t at) noexcept {
  try {
    const bool hidden = is_hidden(code);
    (hidden ? hidden_codes_ : codes_).push_back(code);
    Py_INCREF(code);
    const std::uint32_t number = hidden ? kHidden : static_cast<std::uint32_t>(codes_.size() - 1);
    enter(code, number, at);
    return number;
  } catch (const std::bad_alloc&) {
    // The stack lacks this frame, or the table stays fuller than it should be; the next code object tries again.
    return entries_[at].code == code ? entries_[at].number : kHidden;
  }
}

void SeenCode::enter(PyCodeObject* code, std::uint32_t number, std::size_t at) {
  entries_[at] = {code, number};
  if (++used_ * 2 > entries_.size()) grow();
}

std::uint32_t BorrowedCode::add(PyCodeObject* code, std::size_t at) noexcept {
  std::uint32_t number = kHidden;
  {
    const WithGil gil;
    if (!gil) return kHidden;
    number = owner_.number_of(code);
  }
  try {
    enter(code, number, at);
  } catch (const std::bad_alloc&) {
    // It is noted; the table stays fuller than it should be.
  }
  return number;
}

void SeenCode::grow() {
  std::vector<Entry> larger(entries_.size() * 2);
  std::swap(entries_, larger);
  mask_ = entries_.size() - 1;
  for (const Entry& entry : larger) {
    if (entry.code == nullptr) continue;
    std::size_t at = first_place(entry.code);
    while (entries_[at].code != nullptr) at = (at + 1) & mask_;
    entries_[at] = entry;
  }
}

void SeenCode::hide_folder(PyObject* folder) noexcept {
  Py_INCREF(folder);
  Py_XSETREF(hidden_folder_, folder);
}

void SeenCode::clear() noexcept {
  // Emptied first: a finalizer may open scopes.
  const std::vector<PyCodeObject*> codes = std::exchange(codes_, {});
  const std::vector<PyCodeObject*> hidden = std::exchange(hidden_codes_, {});
  entries_.assign(entries_.size(), {});
  used_ = 0;
  for (PyCodeObject* code : codes) Py_DECREF(code);
  for (PyCodeObject* code : hidden) Py_DECREF(code);
}

}  // namespace mindtorch::python
