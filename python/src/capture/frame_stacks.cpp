// Python call stacks for events.
#include "python/src/capture/frame_stacks.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <new>

#include "python/src/capture/interpreter_frames.h"
#include "python/src/gil.h"
#include "python/src/text.h"

namespace mindtorch::python {
record::StackProvider::Innermost FrameStacks::innermost() noexcept {
  PyThreadState* const thread = PyGILState_GetThisThreadState();
  return thread != nullptr ? innermost_frame(thread) : Innermost{};
}

std::size_t FrameStacks::capture(std::uint64_t* words, std::size_t capacity) noexcept {
  PyThreadState* const thread = PyGILState_GetThisThreadState();
  if (thread == nullptr) return 0;
  SeenCode* const seen = holds_gil() ? &seen_ : seen_without_gil();
  return seen != nullptr ? write_frames(thread, *seen, words, capacity) : 0;
}

SeenCode* FrameStacks::seen_without_gil() noexcept try {
  thread_local BorrowedCode borrowed(seen_);
  thread_local std::uint64_t epoch = 0;
  if (const std::uint64_t now = epoch_.load(std::memory_order_acquire); epoch != now) {
    borrowed.clear();
    epoch = now;
  }
  return &borrowed;
} catch (const std::bad_alloc&) {
  return nullptr;
}

std::vector<record::SourcePlace> FrameStacks::resolve(std::span<const std::uint64_t> words) {
  std::vector<record::SourcePlace> places;
  places.reserve(words.size());
  for (const std::uint64_t word : words) {
    if (code_of(word) >= sources_.size()) read_new_code();
    if (code_of(word) >= sources_.size()) continue;  // the interpreter is gone
    const Source& source = sources_[code_of(word)];
    places.push_back({source.file, source.function, line_at(source, offset_of(word))});
  }
  return places;
}

int FrameStacks::line_at(const Source& source, std::uint32_t offset) {
  const auto at = std::upper_bound(source.lines.begin(), source.lines.end(), offset,
                                   [](std::uint32_t value, const Lines& range) { return value < range.end; });
  return at != source.lines.end() && at->line > 0 ? at->line : source.first_line;
}

FrameStacks::Source FrameStacks::read(PyCodeObject* code) {
  Source source{text_of(code->co_filename), text_of(code->co_name), {}, code->co_firstlineno};
  for (const nb::handle range : nb::iter(nb::borrow(reinterpret_cast<PyObject*>(code)).attr("co_lines")())) {
    const nb::object line = range[2];
    source.lines.push_back({nb::cast<std::uint32_t>(range[1]), line.is_none() ? 0 : nb::cast<int>(line)});
  }
  return source;
}

void FrameStacks::read_new_code() {
  const WithGil gil;
  if (!gil) return;
  while (sources_.size() < seen_.size()) sources_.push_back(read(seen_[sources_.size()]));
}

void FrameStacks::session_begins() {
  forget();
  if (const WithGil gil; gil && !package_is_hidden_) hide_package();
}

void FrameStacks::hide_package() {
  const nb::object folder = nb::module_::import_("mindtorch_v2").attr("__path__")[0];
  seen_.hide_folder((folder + nb::module_::import_("os").attr("sep")).ptr());
  package_is_hidden_ = true;
}

void FrameStacks::forget() {
  sources_.clear();
  if (const WithGil gil; gil) seen_.clear();
  epoch_.fetch_add(1, std::memory_order_release);
}

}  // namespace mindtorch::python
