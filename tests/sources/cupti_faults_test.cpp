// The CUPTI source when the library misbehaves: what is missing is told, and the recording of the host is whole.
#include <memory>

#include "tests/sources/cupti_fixture.h"
#include "tests/support/rounds.h"

namespace mindtorch::sources {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using trace::EventKind;
using trace::LossReason;
using trace::Recording;

class CuptiFaultsTest : public CuptiRecordsTest {
 protected:
  static constexpr int kOps = 40;

  static void run_ops() {
    for (int i = 0; i < kOps; ++i) run_op("op" + std::to_string(i), 7 + static_cast<std::uint32_t>(i % 2));
  }
  Recording record_with(const CuptiDoubleFaults& faults) {
    cupti_double_set_faults(&faults);
    return record(run_ops);
  }
};

TEST_P(CuptiFaultsTest, NothingIsMissingWhenNothingIsWrong) {
  const Recording recording = record(run_ops);
  EXPECT_THAT(problems_, IsEmpty());
  EXPECT_EQ(count_of(recording, EventKind::kOp), std::size_t{kOps});
  EXPECT_EQ(count_of(recording, EventKind::kKernel), std::size_t{kOps});
  EXPECT_THAT(recording.losses, IsEmpty()) << loss_text(recording);
}

TEST_P(CuptiFaultsTest, LostRecordsThatTheLibraryCountsAreReported) {
  const Recording recording = record_with({.lose_every = 8});
  const std::uint64_t lost = cupti_double_lost_records();
  EXPECT_EQ(lost, 5u);
  EXPECT_EQ(count_of(recording, EventKind::kKernel), kOps - lost);
  EXPECT_EQ(losses_of(recording)[LossReason::kDeviceDropped], lost);
  EXPECT_EQ(losses_of(recording)[LossReason::kNoDeviceRecord], lost);
  EXPECT_EQ(count_of(recording, EventKind::kOp), std::size_t{kOps});
}

TEST_P(CuptiFaultsTest, LostRecordsThatTheLibraryKeepsQuietAboutAreFoundByTheirLaunches) {
  const Recording recording = record_with({.lose_every = 8, .count_lost = false});
  EXPECT_EQ(losses_of(recording), (std::map<LossReason, std::uint64_t>{{LossReason::kNoDeviceRecord, cupti_double_lost_records()}}));
}

TEST_P(CuptiFaultsTest, RecordsWithoutATimeAreNotPlacedAnywhere) {
  const Recording recording = record_with({.zero_times_every = 10});
  EXPECT_EQ(count_of(recording, EventKind::kKernel), std::size_t{kOps - 4});
  EXPECT_EQ(losses_of(recording)[LossReason::kDeviceDropped], cupti_double_zeroed_records());
  EXPECT_THAT(loss_text(recording), HasSubstr("without a time"));
}

TEST_P(CuptiFaultsTest, ARecordOfAnUnknownKindIsCounted) {
  const Recording recording = record_with({.unknown_record_every = 20});
  EXPECT_EQ(count_of(recording, EventKind::kKernel), std::size_t{kOps});
  EXPECT_EQ(losses_of(recording)[LossReason::kDeviceDropped], 2u);
  EXPECT_THAT(loss_text(recording), HasSubstr("unknown kind"));
}

TEST_P(CuptiFaultsTest, ShuffledRecordsFindTheirLaunches) {
  const Recording recording = record_with({.shuffle_seed = 11});
  EXPECT_THAT(recording.losses, IsEmpty()) << loss_text(recording);
  std::map<std::uint64_t, std::string> call_of;
  for (const trace::EventIndex call : events_of(recording, EventKind::kRuntime))
    call_of[recording.events.link[call]] = recording.name(call);
  for (const trace::EventIndex kernel : events_of(recording, EventKind::kKernel))
    EXPECT_EQ(call_of[recording.events.link[kernel]], "cudaLaunchKernel");
}

TEST_P(CuptiFaultsTest, RecordsThatComeAfterTheEndAreMissedThereAndDoNotTurnUpInTheNextRecording) {
  const Recording first = record_with({.late_by_flushes = 3});
  EXPECT_EQ(count_of(first, EventKind::kKernel), 0u);
  EXPECT_EQ(count_of(first, EventKind::kOp), std::size_t{kOps});
  cupti_double_set_faults(nullptr);
  const Recording second = record([] { run_op("second"); });
  EXPECT_EQ(names_of(second, EventKind::kKernel), (std::map<std::string, int>{{"second_kernel", 1}}));
  EXPECT_EQ(losses_of(second)[LossReason::kNoLaunch], 0u);
}

TEST_P(CuptiFaultsTest, WorkThatOutlastsTheDeadlineIsGivenUp) {
  cupti_double_hold_device(true);
  const Recording recording = record(run_ops, {.stop_deadline = std::chrono::milliseconds(5)});
  EXPECT_EQ(count_of(recording, EventKind::kOp), std::size_t{kOps});
  EXPECT_EQ(count_of(recording, EventKind::kKernel), 0u);
  EXPECT_EQ(losses_of(recording)[LossReason::kNoDeviceRecord], std::uint64_t{kOps});
  EXPECT_THAT(loss_text(recording), HasSubstr("5 ms"));
  cupti_double_hold_device(false);
}

TEST_P(CuptiFaultsTest, MissingPrivilegesAreToldWithWhatToDo) {
  cupti_double_fail("cuptiActivityEnable", 35, 0, 0);
  cupti_double_fail("cuptiActivityEnable_v2", 35, 0, 0);
  auto session = record::Session::prepare({.sources = {&source_}});
  session->start();
  run_op("op");
  const std::vector<std::string> problems = session->source_problems();
  const Recording recording = session->stop();
  EXPECT_THAT(problems, ElementsAre(HasSubstr("NVreg_RestrictProfilingToAdminUsers")));
  EXPECT_EQ(count_of(recording, EventKind::kOp), 1u);
  EXPECT_EQ(count_of(recording, EventKind::kKernel), 0u);
}

TEST_P(CuptiFaultsTest, ASessionThatCannotStartLeavesTheLibraryToOtherTools) {
  for (const char* function : {"cuptiActivityEnable", "cuptiGetTimestamp", "cuptiActivityRegisterCallbacks"}) {
    reset_double();
    cupti_double_fail(function, 999, 0, 0);
    cupti_double_fail(records_.function(function).c_str(), 999, 0, 0);
    auto session = record::Session::prepare({.sources = {&source_}});
    session->start();
    EXPECT_GE(cupti_double_calls("cuptiUnsubscribe"), 1u) << function;
    EXPECT_EQ(cupti_double_subscribers(), 0u) << function;
    session->stop();
  }
}

TEST_P(CuptiFaultsTest, AnotherSubscriberIsNamed) {
  cupti_double_set_other_subscriber("Nsight Systems");
  auto session = record::Session::prepare({.sources = {&source_}});
  std::string told;
  for (const std::string& problem : session->source_problems()) told += problem;
  for (const std::string& limit : source_.limits()) told += limit;
  EXPECT_THAT(told, HasSubstr("Nsight Systems"));
  session->start();
  run_op("op");
  EXPECT_EQ(count_of(session->stop(), EventKind::kOp), 1u);
}

TEST_P(CuptiFaultsTest, TwoHundredRecordingsInARowEachHaveTheirOwnKernel) {
  for (int round = 0; round < tests::rounds(200); ++round) {
    const std::string name = "op" + std::to_string(round);
    const Recording recording = record([&] { run_op(name); });
    launch("between recordings");
    ASSERT_EQ(names_of(recording, EventKind::kKernel), (std::map<std::string, int>{{name + "_kernel", 1}}));
    ASSERT_THAT(recording.losses, IsEmpty()) << loss_text(recording);
  }
}

INSTANTIATE_TEST_SUITE_P(Cupti, CuptiFaultsTest, testing::Values(kClassicRecords, kUserDefinedRecords), name_of_records);

class CuptiFailingCallsTest : public FailingCallsTest<CuptiRecordsTest> {
 protected:
  // A source that has used classic records once goes on with them, while each step here is a process of its own.
  record::ActivitySource& source() override { return *fresh_; }

  std::unique_ptr<cupti::CuptiSource> fresh_ = std::make_unique<cupti::CuptiSource>();
  const FailureControls controls_ = {
      .reset =
          [this] {
            fresh_ = std::make_unique<cupti::CuptiSource>();
            reset_double();
          },
      .fail = [](const char* function, std::uint32_t skip, std::uint32_t times) { cupti_double_fail(function, 999, skip, times); },
      .calls = &cupti_double_calls};
};

TEST_P(CuptiFailingCallsTest, EachCallThatFailsIsToldOrHarmsNothing) {
  fail_each_call_once(controls_, {"cuptiSubscribe_v2", "cuptiEnableCallback", "cuptiActivityFlushAll", "cuptiUnsubscribe"});
  if (records_.is_user_defined())
    fail_each_call_once(controls_, {"cuptiActivityRegisterCallbacks_v2", "cuptiActivityEnable_v2", "cuptiActivityDisable_v2",
                                    "cuptiGetTimestamp_v2", "cuptiActivityGetNumDroppedRecords_v2", "cuptiActivitySetAttribute_v2"});
  else
    fail_each_call_once(controls_, {"cuptiActivityRegisterCallbacks", "cuptiActivityEnable", "cuptiActivityDisable",
                                    "cuptiActivityGetNextRecord", "cuptiGetTimestamp", "cuptiActivityGetNumDroppedRecords"});
}

TEST_P(CuptiFailingCallsTest, ALibraryThatFailsForeverIsToldAndTheHostIsRecorded) {
  fail_for_ever(controls_, {"cuptiActivityFlushAll", "cuptiSubscribe_v2", "cuptiEnableCallback", "cuptiUnsubscribe", "cuptiGetTimestamp",
                            "cuptiActivityGetNextRecord", "cuptiActivityRegisterCallbacks", "cuptiActivityEnable",
                            "cuptiActivityGetNumDroppedRecords", "cuptiActivityDisable"});
  if (!records_.is_user_defined()) return;
  fail_for_ever(controls_, {"cuptiGetTimestamp_v2", "cuptiActivityRegisterCallbacks_v2", "cuptiActivityEnable_v2",
                            "cuptiActivityGetNumDroppedRecords_v2", "cuptiActivityDisable_v2", "cuptiActivitySetAttribute_v2"});
}

INSTANTIATE_TEST_SUITE_P(Cupti, CuptiFailingCallsTest, testing::Values(kClassicRecords, kUserDefinedRecords), name_of_records);

}  // namespace
}  // namespace mindtorch::sources
