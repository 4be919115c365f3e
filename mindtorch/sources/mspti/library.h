// Finds and loads MSPTI at run time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/base/dynamic_library.h"
#include "mindtorch/base/error.h"
#include "mindtorch/sources/mspti/mspti_abi.h"

namespace mindtorch::sources::mspti {

class Library {
 public:
  // How the process came to have the library. MSPTI sees allocations, copies and memsets only if the loader put it before CANN.
  enum class Preload {
    kNone,   // it was not preloaded
    kDone,   // LD_PRELOAD names it, and the loader has loaded it
    kWrong,  // LD_PRELOAD names it, but the loader has not found it; the library itself believes that it was preloaded
  };

  // Loads the library unless it is loaded already. The reason of a failure lists what was tried. It is never closed again.
  Status load();
  bool is_loaded() const { return functions_.msptiSubscribe != nullptr; }
  const Functions& functions() const { return functions_; }
  const std::string& path() const { return library_.path(); }
  Preload preload() const { return preload_; }
  // What to do so that everything is recorded, in a sentence; empty if nothing.
  std::string preload_advice() const;
  // "26.2.0" where the library tells; otherwise what can be told from its functions.
  std::string version() const;
  // From 26.2 on, the runtime of CANN can report copies, memsets and allocations by itself.
  bool may_record_memory_without_preload() const { return functions_.msptiGetVersion != nullptr; }

  // Ok, or "msptiX: what went wrong (number); what to do about it".
  Status check(Result result, std::string_view call) const;
  // "what went wrong (number)".
  static std::string explain(Result result);

 private:
  Status resolve();

  DynamicLibrary library_;
  Functions functions_;
  Preload preload_ = Preload::kNone;
};

// Where MSPTI may be, in the order in which it is looked for: MINDTORCH_LIBRARY_PATH, what the process has loaded, ASCEND_HOME_PATH's and
// ASCEND_TOOLKIT_HOME's, CANN's usual folders, the loader's. Exposed for tests.
std::vector<std::string> library_candidates();

}  // namespace mindtorch::sources::mspti
