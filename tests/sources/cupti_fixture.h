// Recordings of the CUPTI source on the double of libcupti.
#pragma once

#include <chrono>
#include <cstdlib>
#include <ostream>
#include <string>

#include "mindtorch/record/hooks.h"
#include "mindtorch/sources/cupti/cupti_source.h"
#include "tests/doubles/cupti/cupti_double.h"
#include "tests/sources/source_fixture.h"

namespace mindtorch::sources {

// The interface of the library that the source finds, and with it the records.
struct CuptiRecords {
  const char* name;
  std::uint32_t version;
  CuptiDoubleLayouts layouts;

  bool is_user_defined() const { return version >= 130300; }
  // The name of a function, for the interface that is used.
  std::string function(const std::string& classic) const { return classic + (is_user_defined() ? "_v2" : ""); }
};
inline const CuptiRecords kClassicRecords{"Classic", 130001, {}};
inline const CuptiRecords kUserDefinedRecords{"UserDefined", 130401, {.seed = 11, .change_every = 1}};
inline void PrintTo(const CuptiRecords& records, std::ostream* out) { *out << records.name; }

class CuptiTest : public SourceTest {
 protected:
  explicit CuptiTest(const CuptiRecords& records = kClassicRecords) : records_(records) {
    ::setenv("MINDTORCH_LIBRARY_PATH", "cuda=" CUDA_DRIVER_DOUBLE, 1);
    reset_double();
  }
  void reset_double() const {
    cupti_double_reset();
    cupti_double_set_version(records_.version);
    cupti_double_set_layouts(&records_.layouts);
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

  const CuptiRecords records_;
  cupti::CuptiSource source_;
};

// A suite of tests for both kinds of records: INSTANTIATE_TEST_SUITE_P(Cupti, Suite, testing::Values(kClassicRecords, ...),
// name_of_records).
class CuptiRecordsTest : public CuptiTest, public testing::WithParamInterface<CuptiRecords> {
 protected:
  CuptiRecordsTest() : CuptiTest(GetParam()) {}
};
inline std::string name_of_records(const testing::TestParamInfo<CuptiRecords>& each) { return each.param.name; }

}  // namespace mindtorch::sources
