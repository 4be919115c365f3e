// Files of peaks.
#include "mindtorch/ingest/peaks_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "mindtorch/base/error.h"
#include "tests/support/temporary_folder.h"

namespace mindtorch::ingest {
namespace {

using testing::HasSubstr;

class PeaksFileTest : public testing::Test {
 protected:
  std::string file_of(std::string_view text) const {
    std::ofstream(path_) << text;
    return path_;
  }
  std::string refusal_of(std::string_view text) const {
    try {
      read_peaks(file_of(text));
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  }

 private:
  tests::TemporaryFolder folder_;
  std::string path_ = folder_ / "peaks.json";
};

TEST_F(PeaksFileTest, HoldsDevicesWithTheirNumbers) {
  const auto peaks = read_peaks(file_of(
      R"({"peaks": [{"device": "NVIDIA H200", "tflops": {"bfloat16": 800, "tf32": 400.5}, "memory_tbytes": 4.2, "cache_mbytes": 50, "clock_mhz": 1830},
                    {"device": "a processor", "host": "machine", "source": "measured"}]})"));
  ASSERT_EQ(peaks.size(), 2);
  EXPECT_EQ(peaks[0].device, "NVIDIA H200");
  EXPECT_EQ(peaks[0].of(trace::ComputeUnit::kBFloat16), 800);
  EXPECT_EQ(peaks[0].of(trace::ComputeUnit::kTf32), 400.5);
  EXPECT_EQ(peaks[0].of(trace::ComputeUnit::kFloat32), 0);
  EXPECT_EQ(peaks[0].tbytes, 4.2);
  EXPECT_EQ(peaks[0].cache_mbytes, 50);
  EXPECT_EQ(peaks[0].clock_mhz, 1830);
  EXPECT_THAT(peaks[0].source, HasSubstr("peaks.json"));
  EXPECT_EQ(peaks[1].host, "machine");
  EXPECT_EQ(peaks[1].source, "measured");
}

TEST_F(PeaksFileTest, SaysWhatIsWrong) {
  EXPECT_THAT(refusal_of("{"), HasSubstr("it is not JSON"));
  EXPECT_THAT(refusal_of("[]"), HasSubstr("no list \"peaks\""));
  EXPECT_THAT(refusal_of(R"({"peaks": [1]})"), HasSubstr("not an object"));
  EXPECT_THAT(refusal_of(R"({"peaks": [{}]})"), HasSubstr("no \"device\""));
  EXPECT_THAT(refusal_of(R"({"peaks": [{"device": 1}]})"), HasSubstr("not a text"));
  EXPECT_THAT(refusal_of(R"({"peaks": [{"device": "x", "bandwidth": 1}]})"), HasSubstr("'bandwidth' is not a key"));
  EXPECT_THAT(refusal_of(R"({"peaks": [{"device": "x", "tflops": {"bf16": 1}}]})"), HasSubstr("'bf16' is not a key"));
  EXPECT_THAT(refusal_of(R"({"peaks": [{"device": "x", "memory_tbytes": -1}]})"), HasSubstr("not a number from 0 on"));
  EXPECT_THROW(read_peaks("no/such/file"), IoError);
}

}  // namespace
}  // namespace mindtorch::ingest
