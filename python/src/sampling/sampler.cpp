// The sampler as a source of sessions.
#include "python/src/sampling/sampler.h"

#include <nanobind/nanobind.h>

#include <optional>
#include <string>

#include "python/src/gil.h"
#include "python/src/sampling/own_memory.h"
#include "python/src/sampling/sampling_thread.h"
#include "python/src/text.h"

namespace mindtorch::python {
namespace {

namespace nb = nanobind;

struct Surroundings {
  std::optional<InterpreterPlaces> places;
  std::string package;  // the folder of this package, with a separator
};

// Read once; the interpreter does not move.
const Surroundings& surroundings() {
  static const Surroundings& it = *[] {
    auto* const found = new Surroundings;
    if (const WithGil gil; gil) {
      found->places = interpreter_places();
      const nb::object folder = nb::module_::import_("mindtorch_v2").attr("__path__")[0];
      found->package = text_of((folder + nb::module_::import_("os").attr("sep")).ptr());
    }
    return found;
  }();
  return it;
}

}  // namespace

PythonSampler::PythonSampler() = default;
PythonSampler::~PythonSampler() = default;

void PythonSampler::forget_parent() {
  if (!thread_ || thread_->belongs_to_this_process()) return;
  static_cast<void>(thread_.release());  // leaked: its thread and locks are the parent's
}

Status PythonSampler::probe() {
  if (!surroundings().places) return Status::unavailable("the frames of this build of Python are not known");
  if (!can_read_memory()) return Status::unavailable("the system does not let a process read its own memory (process_vm_readv)");
  return Status::ok();
}

Status PythonSampler::prepare(const record::SourceOptions& options) {
  forget_parent();
  options_ = std::make_unique<record::SourceOptions>(options);
  return Status::ok();
}

Status PythonSampler::start() {
  forget_parent();
  try {
    thread_ = std::make_unique<SamplingThread>(*surroundings().places, *options_, surroundings().package);
  } catch (const std::exception& error) {  // no thread
    return Status::unavailable(error.what());
  }
  workers_.begin(options_->clock);
  return Status::ok();
}

record::DeviceBatch PythonSampler::stop() {
  forget_parent();
  if (!thread_) return {};
  record::DeviceBatch batch = thread_->stop();
  thread_.reset();
  workers_.add_to(batch, options_->clock);
  return batch;
}

PythonSampler& python_sampler() {
  static PythonSampler& it = *new PythonSampler;
  return it;
}

}  // namespace mindtorch::python
