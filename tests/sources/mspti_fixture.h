// The MSPTI source on a double of libmspti, which records the work of the reference device.
#pragma once

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "mindtorch/record/hooks.h"
#include "mindtorch/reference_device/activity_table.h"
#include "mindtorch/sources/mspti/mspti_source.h"
#include "tests/doubles/mspti/mspti_double.h"
#include "tests/sources/source_fixture.h"
#include "tests/support/powered.h"

namespace mindtorch::sources {

// One of the doubles, opened as a program opens the vendor's library, for the lifetime of this object. The process then looks as if it had
// been started with LD_PRELOAD, unless `is_preloaded` is false.
class MsptiDouble {
 public:
  explicit MsptiDouble(int version = 262, bool is_preloaded = true)
      : path_(std::string(MSPTI_DOUBLES) + "/mspti_" + std::to_string(version) + "/libmspti.so") {
    void* library = ::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library, nullptr) << ::dlerror();
    controls_ = reinterpret_cast<decltype(&mspti_double_controls)>(::dlsym(library, "mspti_double_controls"))();
    ::setenv("MINDTORCH_LIBRARY_PATH", fmt::format("mspti={0},ascendcl={0}", path_).c_str(), 1);
    preload(is_preloaded ? path_ : "");
    reset();
  }
  ~MsptiDouble() {
    EXPECT_STREQ(controls_->violations(), "");
    controls_->reset();
    EXPECT_EQ(controls_->buffers_held(), 0u);
    preload("");
  }
  const MsptiDoubleControls* operator->() const { return controls_; }
  const std::string& path() const { return path_; }
  void reset() const {
    controls_->reset();
    controls_->watch(reference_device::mindtorch_reference_activity_api());
  }
  template <class Function>
  Function* find(const char* name) const {
    return reinterpret_cast<Function*>(::dlsym(::dlopen(path_.c_str(), RTLD_NOW | RTLD_NOLOAD), name));
  }
  static void preload(const std::string& path) { path.empty() ? ::unsetenv("LD_PRELOAD") : ::setenv("LD_PRELOAD", path.c_str(), 1); }

 private:
  std::string path_;
  const MsptiDoubleControls* controls_ = nullptr;
};

class MsptiTest : public SourceTest {
 protected:
  explicit MsptiTest(int version = 262, bool is_preloaded = true, const reference_device::Config& config = {.memory_bytes = 1 << 20})
      : on_(config), double_(version, is_preloaded) {}
  record::ActivitySource& source() override { return source_; }

  static void launch(const std::string& name, reference_device::Stream* stream = reference_device::main_stream()) {
    EXPECT_EQ(reference_device::launch(stream, name, reference_device::nothing()), reference_device::Result::kSuccess);
  }
  // An op of the host that launches a kernel named after it.
  static void run_op(const std::string& name) {
    record::OpScope op(record::intern(name), record::known({trace::DeviceType::kNpu, 0}));
    launch(name + "_kernel");
  }
  static void run_ops(int count) {
    for (int i = 0; i < count; ++i) run_op("op" + std::to_string(i));
  }

  reference_device::Powered on_;
  MsptiDouble double_;
  mspti::MsptiSource source_;
};

}  // namespace mindtorch::sources
