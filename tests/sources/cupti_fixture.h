// Recordings of the CUPTI source on the double of libcupti.
#pragma once

#include <chrono>
#include <cstdlib>
#include <string>

#include "mindtorch/record/hooks.h"
#include "mindtorch/sources/cupti/cupti_source.h"
#include "tests/doubles/cupti/cupti_double.h"
#include "tests/sources/source_fixture.h"

namespace mindtorch::sources {

class CuptiTest : public SourceTest {
 protected:
  CuptiTest() {
    ::setenv("MINDTORCH_CUDA_DRIVER", CUDA_DRIVER_DOUBLE, 1);
    cupti_double_reset();
  }
  ~CuptiTest() override {
    EXPECT_STREQ(cupti_double_violations(), "");
    cupti_double_reset();
    EXPECT_EQ(cupti_double_buffers_held(), 0u);
  }
  record::ActivitySource& source() override { return source_; }

  static std::uint32_t launch(const std::string& name, std::uint32_t stream = 7) {
    const CuptiDoubleWork work{.stream = stream, .name = name.c_str()};
    return cupti_double_issue(&work);
  }
  // An op of the host that launches a kernel named after it.
  static void run_op(const std::string& name, std::uint32_t stream = 7) {
    record::OpScope op(record::intern(name), record::known({trace::DeviceType::kCuda, 0}));
    // The call is linked to the op by its time, and the clocks of both agree only within a microsecond or so.
    spin(std::chrono::microseconds(5));
    launch(name + "_kernel", stream);
    spin(std::chrono::microseconds(5));
  }
  static void spin(std::chrono::microseconds time) {
    for (const auto end = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < end;) {
    }
  }

  cupti::CuptiSource source_;
};

}  // namespace mindtorch::sources
