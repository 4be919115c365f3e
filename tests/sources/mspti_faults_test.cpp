// The MSPTI source when the library misbehaves: what is missing is told, and the recording of the host is whole.
#include "tests/sources/mspti_fixture.h"
#include "tests/support/rounds.h"

namespace mindtorch::sources {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using trace::EventKind;
using trace::LossReason;
using trace::Recording;

class MsptiFaultsTest : public MsptiTest {};

TEST_F(MsptiFaultsTest, NothingIsMissingWhenNothingIsWrong) {
  const Recording recording = record([] { run_ops(40); });
  EXPECT_THAT(problems_, IsEmpty());
  EXPECT_EQ(count_of(recording, EventKind::kOp), 40u);
  EXPECT_EQ(count_of(recording, EventKind::kKernel), 40u);
  EXPECT_THAT(recording.losses, IsEmpty()) << loss_text(recording);
}

TEST_F(MsptiFaultsTest, WorkThatOutlastsTheDeadlineIsGivenUp) {
  reference_device::Gate gate;
  const Recording recording = record(
      [&] {
        record::OpScope op(record::intern("op"), record::known({trace::DeviceType::kNpu, 0}));
        EXPECT_EQ(reference_device::launch(reference_device::main_stream(), "held", gate.kernel()), reference_device::Result::kSuccess);
      },
      {.stop_deadline = std::chrono::milliseconds(5)});
  gate.open();
  EXPECT_EQ(count_of(recording, EventKind::kOp), 1u);
  EXPECT_EQ(count_of(recording, EventKind::kKernel), 0u);
  EXPECT_EQ(losses_of(recording)[LossReason::kNoDeviceRecord], 1u);
  EXPECT_THAT(loss_text(recording), HasSubstr("5 ms"));
}

TEST_F(MsptiFaultsTest, TwoHundredRecordingsInARowEachHaveTheirOwnKernel) {
  for (int round = 0; round < tests::rounds(200); ++round) {
    const std::string name = "op" + std::to_string(round);
    const Recording recording = record([&] { run_op(name); });
    launch("between recordings");
    ASSERT_EQ(names_of(recording, EventKind::kKernel), (std::map<std::string, int>{{name + "_kernel", 1}}));
    ASSERT_THAT(recording.losses, IsEmpty()) << loss_text(recording);
  }
}

class MsptiOnAForgetfulDeviceTest : public MsptiTest {
 protected:
  MsptiOnAForgetfulDeviceTest() : MsptiTest(262, true, {.memory_bytes = 4096, .delivery = {.blank_every = 10}}) {}
};

TEST_F(MsptiOnAForgetfulDeviceTest, RecordsWithoutATimeAreNotPlacedAnywhere) {
  const Recording recording = record([] { run_ops(40); });
  EXPECT_EQ(count_of(recording, EventKind::kKernel), 36u);
  EXPECT_EQ(losses_of(recording)[LossReason::kDeviceDropped], 4u);
  EXPECT_THAT(loss_text(recording), HasSubstr("without a time"));
}

class MsptiFailingCallsTest : public FailingCallsTest<MsptiTest> {
 protected:
  const FailureControls controls_ = {
      .reset = [this] { double_.reset(); },
      .fail = [this](const char* function, std::uint32_t skip, std::uint32_t times) { double_->fail(function, 999, skip, times); },
      .calls = [this](const char* function) { return double_->calls(function); }};
};

TEST_F(MsptiFailingCallsTest, EachCallThatFailsIsToldOrHarmsNothing) {
  fail_each_call_once(controls_, {"msptiSubscribe", "msptiUnsubscribe", "msptiActivityRegisterCallbacks", "msptiActivityEnable",
                                  "msptiActivityDisable", "msptiActivityFlushAll", "msptiGetTimestamp", "msptiActivityGetNumDroppedRecords",
                                  "msptiActivityGetStructSize", "msptiGetVersion"});
}

TEST_F(MsptiFailingCallsTest, ALibraryThatFailsForeverIsToldAndTheHostIsRecorded) {
  fail_for_ever(controls_, {"msptiSubscribe", "msptiActivityRegisterCallbacks", "msptiActivityEnable", "msptiActivityDisable",
                            "msptiActivityFlushAll", "msptiGetTimestamp", "msptiActivityGetNumDroppedRecords", "msptiUnsubscribe"});
}

}  // namespace
}  // namespace mindtorch::sources
