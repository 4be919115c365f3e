// PythonProfile: profiler::Profile as the base of mindtorch_v2.profiler.profile.
//
// All calls of a profile hold the GIL, which guards its state, and release it during long work (UnlockedRecorder). The C++ side owns no
// Python object: callbacks are attributes of the Python object that are looked up when they are called. Therefore the garbage collector
// sees every reference, and a callback can be replaced, as in torch.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "mindtorch/profiler/profile.h"

namespace mindtorch::python {

class PythonProfile {
 public:
  // The callbacks of `options` are replaced by those of `owner`, the Python object this is the C++ part of.
  PythonProfile(nanobind::handle owner, profiler::ProfileOptions options);
  // The Python object is gone, so callbacks cannot be called: a running recording is dropped.
  ~PythonProfile() { profile_->abandon(); }

  profiler::Profile& operator*() const { return *profile_; }
  profiler::Profile* operator->() const { return profile_.get(); }

 private:
  std::unique_ptr<profiler::Profile> profile_;
};

// mindtorch_v2.profiler's _ExperimentalConfig; None: the defaults.
profiler::ExperimentalConfig to_experimental_config(nanobind::handle config);

}  // namespace mindtorch::python
