// The arguments of events: one value for each key, in time that grows in proportion to their number.
#include "mindtorch/export/chrome/arguments.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/trace/builder.h"

namespace mindtorch::exporter::chrome {
namespace {

TEST(EventArguments, AKeyThatIsSetAgainHasItsLastValue) {
  trace::RecordingBuilder builder;
  const trace::TrackId track = builder.add_thread(1);
  for (std::int64_t i = 0; i < 2; ++i) {
    const auto event = builder.add_event({.name = "op", .track = track, .start_ns = i});
    builder.add_attribute(event, "size", 10 * i);
    builder.add_attribute(event, "color", "red");
    if (i == 0) builder.add_attribute(event, "size", std::int64_t{7});
  }
  const trace::Recording recording = builder.finish();
  const analyze::Analysis analysis(recording);
  EventArguments arguments(analysis);
  std::string first, second;
  arguments.append(first, 0);
  arguments.append(second, 1);
  EXPECT_EQ(first, R"(,"color":"red","size":7)");
  EXPECT_EQ(second, R"(,"size":10,"color":"red")");
}

// Comparing each key with all others would take minutes.
TEST(EventArguments, AMillionKeysAreWrittenAtOnce) {
  constexpr int kKeys = 1'000'000;
  trace::RecordingBuilder builder;
  const auto event = builder.add_event({.name = "op", .track = builder.add_thread(1)});
  for (int i = 0; i < kKeys; ++i) builder.add_attribute(event, fmt::format("key {}", i), std::int64_t{i});
  const trace::Recording recording = builder.finish();
  const analyze::Analysis analysis(recording);
  std::string text;
  EventArguments(analysis).append(text, 0);
  EXPECT_EQ(std::count(text.begin(), text.end(), ':'), kKeys);
}

}  // namespace
}  // namespace mindtorch::exporter::chrome
