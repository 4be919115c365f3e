// PythonProfile: profiler::Profile as the base of mindtorch_v2.profiler.profile.
//
// All of a profile's calls hold the GIL, which guards its state, and give it up where the work is (UnlockedRecorder). The C++ side owns no
// Python object: callbacks are attributes of the Python object, looked up when they are due, so that the garbage collector sees every
// reference and a callback can be replaced as torch's can.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "mindtorch/profiler/profile.h"

namespace mindtorch::python {

class PythonProfile {
 public:
  // The callbacks of `options` are replaced by those of `owner`, the Python object this is the C++ part of.
  PythonProfile(nanobind::handle owner, profiler::ProfileOptions options);
  // The object is gone, so there is nobody to call back: what still records is dropped.
  ~PythonProfile() { profile_->abandon(); }

  profiler::Profile& operator*() const { return *profile_; }
  profiler::Profile* operator->() const { return profile_.get(); }

 private:
  std::unique_ptr<profiler::Profile> profile_;
};

// mindtorch_v2.profiler's _ExperimentalConfig; None: the defaults.
profiler::ExperimentalConfig to_experimental_config(nanobind::handle config);

}  // namespace mindtorch::python
