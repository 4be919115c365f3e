// ExecutionTrace: alone, inside a profile, in stretches.
#include "mindtorch/profiler/execution_trace.h"

#include <gmock/gmock.h>

#include "mindtorch/base/error.h"
#include "mindtorch/base/file.h"
#include "mindtorch/profiler/profile.h"
#include "mindtorch/profiler/record_function.h"
#include "tests/support/temporary_folder.h"

namespace mindtorch::profiler {
namespace {

using testing::HasSubstr;
using testing::Not;

void call(std::string_view name) { const RecordFunction scope(name); }

class ExecutionTraceTest : public testing::Test {
 protected:
  std::string text() const { return read_file(path); }

  const tests::TemporaryFolder folder;
  const std::string path = folder / "et.json";
};

TEST_F(ExecutionTraceTest, AloneItRecordsWhatHappensBetweenStartAndStop) {
  ExecutionTrace trace;
  trace.register_output(path);
  call("before");
  trace.start();
  call("inside");
  trace.stop();
  call("after");
  trace.start();
  call("again");
  trace.unregister();
  EXPECT_THAT(text(), HasSubstr("\"inside\""));
  EXPECT_THAT(text(), HasSubstr("\"again\""));
  EXPECT_THAT(text(), Not(HasSubstr("\"before\"")));
  EXPECT_THAT(text(), Not(HasSubstr("\"after\"")));
}

TEST_F(ExecutionTraceTest, AProfileDrivesItAndSharesItsRecording) {
  const auto trace = std::make_shared<ExecutionTrace>();
  trace->register_output(path);
  Profile profile({.activities = {Activity::kCpu}, .execution_trace_observer = trace});
  profile.start();
  EXPECT_TRUE(trace->running());
  call("profiled");
  profile.close();
  EXPECT_FALSE(trace->registered());
  EXPECT_THAT(text(), HasSubstr("\"profiled\""));
  EXPECT_EQ(profile.events().size(), 1u);
}

TEST_F(ExecutionTraceTest, EveryCycleOfAProfileIsInTheFile) {
  const auto trace = std::make_shared<ExecutionTrace>();
  trace->register_output(path);
  Profile profile({.activities = {Activity::kCpu}, .schedule = schedule({.wait = 1, .active = 1}), .execution_trace_observer = trace});
  profile.start();
  for (int i = 0; i < 4; ++i) {
    call(fmt::format("step {}", i));
    profile.step();
  }
  profile.close();
  EXPECT_THAT(text(), HasSubstr("\"step 1\""));
  EXPECT_THAT(text(), HasSubstr("\"step 3\""));
  EXPECT_THAT(text(), Not(HasSubstr("\"step 0\"")));
  EXPECT_THAT(text(), Not(HasSubstr("\"step 2\"")));
}

TEST_F(ExecutionTraceTest, InsideAProfileItMayBeStartedAndStoppedByHand) {
  ExecutionTrace trace;
  trace.register_output(path);
  Profile profile({.activities = {Activity::kCpu}});
  profile.start();
  call("before");
  trace.start();
  call("inside");
  trace.stop();
  call("after");
  profile.stop();
  trace.unregister();
  EXPECT_THAT(text(), HasSubstr("\"inside\""));
  EXPECT_THAT(text(), Not(HasSubstr("\"before\"")));
  EXPECT_THAT(text(), Not(HasSubstr("\"after\"")));
}

TEST_F(ExecutionTraceTest, WithoutAnOutputStartDoesNothing) {
  ExecutionTrace trace;
  trace.start();
  EXPECT_FALSE(trace.running());
  Profile profile({.activities = {Activity::kCpu}});
  profile.start();  // nobody is in its way
  profile.stop();
}

TEST_F(ExecutionTraceTest, NeverStartedItWritesATraceOfNothing) {
  ExecutionTrace trace;
  trace.register_output(path);
  trace.unregister();
  EXPECT_THAT(text(), HasSubstr("execution_trace|process"));
}

TEST_F(ExecutionTraceTest, ASecondOneInTheProcessIsRefused) {
  ExecutionTrace first, second;
  first.register_output(path);
  EXPECT_THROW(second.register_output(folder / "other.json"), Error);
  first.unregister();
  second.register_output(folder / "other.json");
}

TEST_F(ExecutionTraceTest, AProfileMayStartAndStopWhileItRuns) {
  ExecutionTrace trace;
  trace.register_output(path);
  trace.start();
  { record::NamedScope scope("before"); }
  Profile profile({.activities = {Activity::kCpu}});
  profile.start();
  { record::NamedScope scope("inside"); }
  profile.stop();
  { record::NamedScope scope("after"); }
  trace.stop();
  trace.unregister();
  EXPECT_EQ(profile.recording()->events.size(), 1U);
  for (const char* name : {"before", "inside", "after"}) EXPECT_THAT(text(), HasSubstr(fmt::format("\"name\": \"{}\"", name)));
}

TEST_F(ExecutionTraceTest, APathThatCannotBeWrittenIsAnErrorAndFreesTheProcess) {
  ExecutionTrace trace;
  trace.register_output("/nowhere/et.json");
  EXPECT_THROW(trace.unregister(), IoError);
  EXPECT_FALSE(trace.registered());
  trace.register_output(path);
  trace.unregister();
}

}  // namespace
}  // namespace mindtorch::profiler
