// The bandwidth of copies and memsets.
#include "mindtorch/analyze/copy_bandwidth.h"

#include <gtest/gtest.h>

#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;

// The bandwidth of one event of this kind and duration that has the attribute.
template <class Value>
std::optional<double> bandwidth(EventKind kind, std::int64_t duration_ns, std::string_view key, Value value) {
  Maker maker;
  maker.builder().add_attribute(maker.kernel("Memcpy HtoD", 0, duration_ns, 1, kind), key, value);
  const trace::Recording recording = maker.finish();
  return copy_bandwidth(recording, 0, recording.attributes.find(0));
}

TEST(CopyBandwidth, IsTheBytesPerNanosecondOfCopiesAndMemsets) {
  EXPECT_DOUBLE_EQ(bandwidth(EventKind::kMemcpy, 2000, "bytes", std::int64_t{8000}).value(), 4);
  EXPECT_DOUBLE_EQ(bandwidth(EventKind::kMemset, 100, "bytes", std::int64_t{50}).value(), 0.5);
}

TEST(CopyBandwidth, IsNotKnownOfOtherEventsAndWithoutSizeOrDuration) {
  EXPECT_EQ(bandwidth(EventKind::kKernel, 2000, "bytes", std::int64_t{8000}), std::nullopt);
  EXPECT_EQ(bandwidth(EventKind::kMemcpy, 0, "bytes", std::int64_t{8000}), std::nullopt);
  EXPECT_EQ(bandwidth(EventKind::kMemcpy, 2000, "size", std::int64_t{8000}), std::nullopt);
  EXPECT_EQ(bandwidth(EventKind::kMemcpy, 2000, "bytes", std::string_view("many")), std::nullopt);
}

}  // namespace
}  // namespace mindtorch::analyze
