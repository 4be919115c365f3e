// Each open call has its slot.
#include "python/src/capture/open_calls.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <memory>

namespace mindtorch::python {
namespace {

namespace nb = nanobind;

// Ends with its thread.
struct Owner {
  std::unique_ptr<OpenCalls> calls;
  ~Owner() { thread_calls = nullptr; }
};

std::vector<nb::object> frames_from(PyFrameObject* innermost) {
  std::vector<nb::object> frames;
  for (nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(innermost)); frame.is_valid();) {
    frames.push_back(frame);
    frame = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(reinterpret_cast<PyFrameObject*>(frame.ptr()))));
  }
  return frames;
}

}  // namespace

constinit thread_local OpenCalls* thread_calls __attribute__((tls_model("initial-exec"), visibility("hidden"))) = nullptr;

OpenCalls& OpenCalls::begin_thread(std::uint64_t state, PyFrameObject* innermost) {
  thread_local Owner owner;
  if (owner.calls == nullptr) owner.calls = std::make_unique<OpenCalls>();
  thread_calls = owner.calls.get();
  thread_calls->open_.clear();
  thread_calls->state_ = state;
  const std::vector<nb::object> frames = frames_from(innermost);
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(reinterpret_cast<PyFrameObject*>(frame->ptr()))));
    thread_calls->python_call_begins(reinterpret_cast<PyCodeObject*>(code.ptr()));
  }
  return *thread_calls;
}

void OpenCalls::end_thread() noexcept {
  OpenCalls* const calls = of_thread(record::current_state());
  while (calls != nullptr && !calls->open_.empty()) calls->end_innermost();
}

void OpenCalls::end_outer(const void* function) noexcept {
  if (std::ranges::none_of(open_, [&](const OpenCall& call) { return call.function == function; })) return;
  while (open_.back().function != function) end_innermost();
  end_innermost();
}

}  // namespace mindtorch::python
