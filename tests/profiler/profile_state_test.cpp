// What a Profile says about itself: metadata, warnings, device, options.
#include <gmock/gmock.h>

#include "mindtorch/profiler/job_metadata.h"
#include "mindtorch/profiler/profile.h"
#include "mindtorch/trace/invariants.h"
#include "tests/profiler/profile_fixture.h"

namespace mindtorch::profiler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(ProfileTest, MetadataIsKeptWheneverItIsAdded) {
  auto profile = make_scheduled("NSSN");
  profile->preset_metadata_json("preset", "[1]");
  profile->add_metadata("before", "a");
  profile->start();
  profile->add_metadata("waiting", "b");
  profile->step();
  profile->add_metadata("recording", "c");
  profile->step();
  profile->step();
  profile->stop();
  profile->add_metadata("stopped", "d");
  using Metadata = std::map<std::string, std::string>;
  Metadata expected{{"preset", "[1]"}, {"before", "\"a\""}, {"waiting", "\"b\""}, {"recording", "\"c\""}, {"stopped", "\"d\""}};
  expected.merge(job_metadata());
  EXPECT_EQ(profile->recording()->metadata, expected);
  EXPECT_EQ(profile->preset_metadata(), (Metadata{{"preset", "[1]"}}));
}

TEST_F(ProfileTest, MetadataIsAlwaysValidJson) {
  auto profile = make({});
  profile->start();
  profile->stop();
  profile->add_metadata("quotes", "a \"b\" \\ \n");
  profile->add_metadata_json("json", " {\"a\": [1, 2]} ");
  profile->add_metadata_json("text", "notjson");
  profile->preset_metadata_json("preset", "{broken");
  const auto recording = profile->recording();
  EXPECT_EQ(recording->metadata.at("quotes"), R"("a \"b\" \\ \n")");
  EXPECT_EQ(recording->metadata.at("json"), " {\"a\": [1, 2]} ");
  EXPECT_EQ(recording->metadata.at("text"), "\"notjson\"");
  EXPECT_EQ(recording->metadata.at("preset"), "\"{broken\"");
  EXPECT_EQ(trace::check_invariants(*recording), "");
}

TEST_F(ProfileTest, ADriverMayCountStepsItself) {
  auto profile = make({.schedule = scripted("RRRRRRRRR")});
  profile->start();
  profile->set_step_num(4);
  profile->step();
  EXPECT_EQ(profile->step_num(), 5);
  profile->set_step_num(4);
  profile->step();
  CallLog calls = script_.take();
  std::erase_if(calls, [](const std::string& call) { return !call.starts_with("mark") && !call.starts_with("open"); });
  EXPECT_THAT(calls, ElementsAre("mark 0", "open 0", "mark 5", "open 5", "open 5")) << "a step that was marked is not marked again";
}

TEST_F(ProfileTest, EventsOfANegativeStepBelongToNone) {
  auto profile = make({});
  profile->start();
  script_.take();
  profile->set_step_num(-2);
  profile->step();
  EXPECT_EQ(profile->step_num(), -1);
  EXPECT_THAT(script_.take(), IsEmpty());
}

TEST_F(ProfileTest, EachTraceMarksItsStepsAnew) {
  auto profile = make({});
  for (int i = 0; i < 2; ++i) {
    profile->start();
    profile->stop();
  }
  const CallLog calls = script_.take();
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "mark 0"), 2);
}

TEST_F(ProfileTest, ANewScheduleCountsFromTheNextStep) {
  auto profile = make({});
  profile->start();
  profile->set_schedule(scripted("RN"));
  EXPECT_TRUE(profile->record_steps());
  profile->step();
  EXPECT_EQ(profile->current_action(), ProfilerAction::kNone);
}

TEST_F(ProfileTest, TheDeviceIsTheOneTorchWouldName) {
  EXPECT_EQ(make({.activities = {Activity::kCpu}})->use_device(), std::nullopt);
  EXPECT_EQ(make({.activities = {Activity::kCpu, Activity::kNpu}})->use_device(), "npu");
  EXPECT_EQ(make({.activities = {Activity::kNpu, Activity::kCuda}})->use_device(), "cuda");
}

TEST_F(ProfileTest, AScheduleWithoutWarmupIsAmongTheWarningsOfItsProfile) {
  auto profile = make({.schedule = schedule({.active = 1})});
  EXPECT_THAT(profile->warnings(), ElementsAre(Warning{WarningCategory::kUser, std::string(kNoWarmupWarning)}));
  EXPECT_THAT(heard_, ElementsAre(kNoWarmupWarning)) << "said by schedule(), not again by the profile";
  EXPECT_THAT(make({.schedule = schedule({.warmup = 1, .active = 1})})->warnings(), IsEmpty());
}

TEST_F(ProfileTest, EachIncorrectStepIsSaidAndKeptOnce) {
  auto profile = make_scheduled("RNRNRN");
  profile->start();
  for (int i = 0; i < 5; ++i) profile->step();
  EXPECT_EQ(std::count(heard_.begin(), heard_.end(), "Incorrect schedule: RECORD followed by NONE"), 3);
  EXPECT_EQ(std::count(profile->warnings().begin(), profile->warnings().end(),
                       Warning{WarningCategory::kUser, "Incorrect schedule: RECORD followed by NONE"}),
            1);
}

TEST_F(ProfileTest, TraceOnlyGivesWayToStacksWithTorchsWarning) {
  auto profile = make({.with_stack = true, .experimental_config = {.trace_only = true}});
  EXPECT_FALSE(profile->options().experimental_config.trace_only);
  EXPECT_THAT(heard_, ElementsAre("trace_only=True is incompatible with with_stack=True (stack traces require event post-processing). "
                                  "Disabling trace_only."));
  EXPECT_TRUE(make({.experimental_config = {.trace_only = true}})->options().experimental_config.trace_only);
}

TEST_F(ProfileTest, HardwareCountersAreAskedForInVain) {
  make({.experimental_config = {.performance_events = {"cycles"}}});
  EXPECT_THAT(heard_, ElementsAre("Hardware counters (profiler_metrics, performance_events) are not recorded."));
}

}  // namespace
}  // namespace mindtorch::profiler
