// Hosts that are separate binaries: plain functions are told what a Host is told.
#include "mindtorch/record/foreign_host.h"

#include <gmock/gmock.h>

#include "mindtorch/record/host.h"
#include "mindtorch/record/session.h"

namespace mindtorch::record {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> calls;
const char* problem = nullptr;

const char* starts(std::uint32_t wants) noexcept {
  calls.push_back((wants & kShapes) != 0 ? "starts with shapes" : "starts");
  return problem;
}
void stops() noexcept { calls.emplace_back("stops"); }

const ForeignHost kHost{.name = "foreign", .session_starts = starts, .session_stops = stops};

std::size_t count_of(std::string_view name) {
  std::size_t count = 0;
  for (const Host* host : hosts()) count += host->name() == name;
  return count;
}

TEST(ForeignHost, IsToldWhenSessionsStartAndStop) {
  ASSERT_EQ(register_foreign_host(kHost), nullptr);
  calls.clear();
  const auto session = Session::prepare({.shapes = true});
  session->start();
  session->stop();
  EXPECT_THAT(calls, ElementsAre("starts with shapes", "stops"));
}

TEST(ForeignHost, SaysWhatItCannotRecordAndRecordingGoesOn) {
  ASSERT_EQ(register_foreign_host(kHost), nullptr);
  problem = "no memory today";
  const auto session = Session::prepare({});
  session->start();
  EXPECT_THAT(session->source_problems(), Contains(HasSubstr("host foreign: no memory today")));
  session->stop();
  problem = nullptr;
}

TEST(ForeignHost, IsRegisteredOnce) {
  ASSERT_EQ(register_foreign_host(kHost), nullptr);
  ASSERT_EQ(register_foreign_host(kHost), nullptr);
  EXPECT_EQ(count_of("foreign"), 1u);
}

TEST(ForeignHost, OfAnotherVersionIsRefusedWithWhatToDo) {
  ForeignHost old = kHost;
  old.name = "old";
  old.abi_version = kAbiVersion + 1;
  EXPECT_THAT(register_foreign_host(old), HasSubstr("rebuild it"));
  EXPECT_EQ(count_of("old"), 0u);
}

}  // namespace
}  // namespace mindtorch::record
