// What a Profile answers about what it recorded, and the files it writes.
#include <gmock/gmock.h>

#include "mindtorch/base/file.h"
#include "mindtorch/base/text.h"
#include "mindtorch/profiler/profile.h"
#include "mindtorch/profiler/record_function.h"
#include "mindtorch/record/stack_provider.h"
#include "tests/profiler/profile_fixture.h"
#include "tests/support/temporary_folder.h"

namespace mindtorch::profiler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(ProfileTest, QuestionsBeforeTheFirstTraceFailWithTorchsTexts) {
  const auto never_started = make({});
  auto waiting = make_scheduled("N");
  waiting->start();
  waiting->stop();
  for (const Profile* profile : {never_started.get(), waiting.get()}) {
    EXPECT_EQ(error_of<AssertionFailed>([&] { profile->events(); }), "Profiler must be initialized before accessing events");
    EXPECT_EQ(error_of<AssertionFailed>([&] { profile->key_averages(); }), "Profiler must be initialized before getting key averages");
    EXPECT_EQ(error_of<AssertionFailed>([&] { profile->export_chrome_trace("x.json"); }),
              "Profiler must be initialized before exporting chrome trace");
    EXPECT_EQ(error_of<AssertionFailed>([&] { profile->export_trace("x.json"); }), "Profiler must be initialized before exporting trace");
  }
}

TEST_F(ProfileTest, WhileTheFirstTraceRunsThereAreNoEventsAndNothingToExport) {
  auto profile = make({});
  profile->start();
  script_.op();
  EXPECT_TRUE(profile->events().empty());
  EXPECT_THAT(profile->key_averages().rows, IsEmpty());
  EXPECT_THAT(error_of<Error>([&] { profile->export_chrome_trace("x.json"); }), HasSubstr("the first trace has not ended yet"));
  EXPECT_THAT(error_of<Error>([&] { profile->export_trace("x.json"); }), HasSubstr("the first trace has not ended yet"));
}

TEST_F(ProfileTest, EventsAndAveragesAreOfTheLastCycleOrOfAllOfThem) {
  for (const bool acc_events : {false, true}) {
    auto profile = make({.schedule = scripted("SSN"), .acc_events = acc_events});
    profile->start();
    for (int i = 0; i < 2; ++i) {
      script_.op();
      profile->step();
    }
    EXPECT_EQ(profile->events().size(), acc_events ? 2U : 1U);
    EXPECT_EQ(profile->key_averages().rows[0].count, acc_events ? 2 : 1);
  }
}

TEST_F(ProfileTest, AnAnalysisThatIsHeldOutlivesTheCyclesAndTheProfile) {
  auto profile = make({.schedule = scripted("SSN"), .acc_events = true});
  profile->start();
  script_.op();
  profile->step();
  const auto held = profile->analysis();
  const analyze::Events& events = held->events();
  profile->step();
  profile.reset();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].name(), "op");
}

TEST_F(ProfileTest, WithTraceOnlyThereAreFilesButNoEvents) {
  const tests::TemporaryFolder folder;
  auto profile = make({.experimental_config = {.trace_only = true}});
  profile->start();
  profile->stop();
  EXPECT_EQ(error_of<Error>([&] { profile->events(); }),
            "events() is not available when trace_only=True in ExperimentalConfig. Use export_chrome_trace() instead.");
  EXPECT_THROW(profile->key_averages(), Error);
  profile->export_chrome_trace(folder / "trace.json");
  EXPECT_THAT(folder.names(), ElementsAre("trace.json"));
}

// Every stack is main() calling train().
class FakeStacks : public record::StackProvider {
 public:
  FakeStacks() { record::set_stack_provider(this); }
  ~FakeStacks() override { record::set_stack_provider(nullptr); }
  std::size_t capture(std::uint64_t* words, std::size_t) noexcept override {
    words[0] = 7;
    words[1] = 3;
    return 2;
  }
  std::vector<record::SourcePlace> resolve(std::span<const std::uint64_t> words) override {
    return {{"model.py", "train", static_cast<int>(words[0])}, {"main.py", "main", static_cast<int>(words[1])}};
  }
};

TEST_F(ProfileTest, StacksAreExportedOutermostFirstWithWeightsInMicroseconds) {
  const tests::TemporaryFolder folder;
  const FakeStacks stacks;
  record::FakeClock clock;
  Profile profile({.activities = {Activity::kCpu}, .with_stack = true, .clock = &clock});
  profile.start();
  {
    RecordFunction scope("op");
    clock.advance(2500);
  }
  profile.stop();
  profile.export_stacks(folder / "stacks.txt");
  EXPECT_EQ(read_file(folder / "stacks.txt"), "main.py:3:main;model.py:7:train 3\n");
  EXPECT_THAT(error_of<InvalidArgument>([&] { profile.export_stacks(folder / "other.txt", "calls"); }),
              StartsWith("metric should be one of: ['self_cpu_time_total', 'self_cuda_time_total'"));
  EXPECT_THAT(error_of<IoError>([&] { profile.export_stacks(folder / "missing/stacks.txt"); }), HasSubstr("missing/stacks.txt"));
  EXPECT_THAT(folder.names(), ElementsAre("stacks.txt"));
}

TEST_F(ProfileTest, StacksThatWereNotRecordedAreRefusedWithTorchsText) {
  auto profile = make({});
  EXPECT_EQ(error_of<AssertionFailed>([&] { profile->export_stacks("x"); }), "Profiler must be initialized before exporting stacks");
  profile->start();
  profile->stop();
  EXPECT_EQ(error_of<AssertionFailed>([&] { profile->export_stacks("x"); }), "export_stacks() requires with_stack=True");
}

class ExportTest : public ProfileTest {
 protected:
  void SetUp() override {
    ProfileTest::SetUp();
    profile_.start();
    { RecordFunction scope("a \"quoted\" name"); }
    profile_.stop();
    profile_.add_metadata("run", "seven");
  }
  const tests::TemporaryFolder folder_;
  Profile profile_{{.activities = {Activity::kCpu}}};
};

TEST_F(ExportTest, AChromeTraceIsJsonWithEventsMetadataAndTraceId) {
  profile_.export_chrome_trace(folder_ / "trace.json");
  const std::string text = read_file(folder_ / "trace.json");
  EXPECT_TRUE(is_json(text));
  EXPECT_THAT(text, HasSubstr(R"(a \"quoted\" name)"));
  EXPECT_THAT(text, HasSubstr(R"("seven")"));
  EXPECT_THAT(text, HasSubstr(*profile_.get_trace_id()));
}

TEST_F(ExportTest, ExportsCanBeRepeatedAndMetadataAddedInBetween) {
  profile_.export_chrome_trace(folder_ / "1.json");
  profile_.add_metadata_json("later", "{\"x\": 1}");
  profile_.export_chrome_trace(folder_ / "2.json");
  EXPECT_THAT(read_file(folder_ / "1.json"), Not(HasSubstr("later")));
  EXPECT_THAT(read_file(folder_ / "2.json"), HasSubstr("later"));
  profile_.export_chrome_trace(folder_ / "2.json");
  EXPECT_EQ(profile_.events().size(), 1U);
}

TEST_F(ExportTest, TheSuffixChoosesTheFormat) {
  profile_.export_chrome_trace(folder_ / "trace.json.gz");
  profile_.export_chrome_trace(folder_ / "trace.pftrace");
  profile_.export_chrome_trace(folder_ / "trace");
  EXPECT_THAT(read_file(folder_ / "trace.json.gz"), StartsWith("\x1f\x8b"));
  EXPECT_THAT(read_file(folder_ / "trace.pftrace"), Not(HasSubstr("traceEvents")));
  EXPECT_THAT(read_file(folder_ / "trace"), HasSubstr("traceEvents"));
  profile_.export_trace(folder_ / "other.json");
  EXPECT_THAT(error_of<InvalidArgument>([&] { profile_.export_trace(folder_ / "trace.xyz"); }), HasSubstr(".json"));
}

TEST_F(ExportTest, ABadPathIsAnErrorThatNamesItAndLosesNothing) {
  const std::string path = folder_ / "missing/trace.json";
  EXPECT_THAT(error_of<IoError>([&] { profile_.export_chrome_trace(path); }), HasSubstr(path));
  EXPECT_THAT(error_of<IoError>([&] { profile_.export_chrome_trace(folder_ / "."); }), HasSubstr(folder_ / "."));
  EXPECT_THAT(folder_.names(), IsEmpty());
  profile_.export_chrome_trace(folder_ / "trace.json");
  EXPECT_THAT(read_file(folder_ / "trace.json"), HasSubstr("quoted"));
}

TEST_F(ExportTest, FilesHoldTheLastCycleAlsoWhenEventsAreAccumulated) {
  std::vector<std::string> texts;
  Profile profile({.activities = {Activity::kCpu},
                   .schedule = scripted("SSN"),
                   .on_trace_ready =
                       [&](Profile& p) {
                         p.export_chrome_trace(folder_ / "cycle.json");
                         texts.push_back(read_file(folder_ / "cycle.json"));
                       },
                   .acc_events = true});
  profile.start();
  for (int i = 0; i < 2; ++i) {
    { RecordFunction scope(fmt::format("cycle{}", i)); }
    profile.step();
  }
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_THAT(texts[1], HasSubstr("cycle1"));
  EXPECT_THAT(texts[1], Not(HasSubstr("cycle0")));
  EXPECT_EQ(profile.events().size(), 4U);
}

TEST_F(ExportTest, TheTableListsScopesAndStepsInTorchsColumns) {
  Profile profile({.activities = {Activity::kCpu}, .schedule = scripted("RRRN")});
  profile.start();
  for (int i = 0; i < 2; ++i) {
    { RecordFunction scope("forward"); }
    profile.step();
  }
  profile.stop();
  const std::string table = profile.key_averages().table({.sort_by = "self_cpu_time_total", .row_limit = 10});
  EXPECT_THAT(table, HasSubstr("Self CPU %"));
  EXPECT_THAT(table, HasSubstr("ProfilerStep*"));
  EXPECT_THAT(table, HasSubstr("forward"));
  EXPECT_EQ(error_of<NoSuchAttribute>([&] { profile.key_averages().table({.sort_by = "zz"}); }),
            "'FunctionEventAvg' object has no attribute 'zz'");
}

}  // namespace
}  // namespace mindtorch::profiler
