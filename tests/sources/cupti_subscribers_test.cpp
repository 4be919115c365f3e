// Which interface of CUPTI the source uses, and how it gets along with other tools.
#include <gmock/gmock.h>

#include <array>
#include <cstdlib>

#include "mindtorch/sources/cupti/record_reader.h"
#include "tests/doubles/cupti/second_tool.h"
#include "tests/sources/cupti_fixture.h"

namespace mindtorch::sources {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::StartsWith;
using trace::EventKind;
using trace::Recording;

const CuptiRecords kPlain{"Plain", 130401, {}};

class CuptiSubscribersTest : public CuptiTest {
 protected:
  CuptiSubscribersTest() : CuptiTest(kPlain) {}
  ~CuptiSubscribersTest() override { ::unsetenv("MINDTORCH_CUPTI_RECORDS"); }

  Recording record_three() {
    return record([] {
      for (int i = 0; i < 3; ++i) run_op("op");
    });
  }
  static std::string records_of(const Recording& recording) { return recording.metadata.at("cupti_records"); }
};

TEST_F(CuptiSubscribersTest, RecordsAreUserDefinedFrom133On) {
  EXPECT_EQ(records_of(record_three()), "\"user-defined\"");
  cupti_double_reset();
  cupti_double_set_version(130200);
  cupti::CuptiSource older;
  auto session = record::Session::prepare({.sources = {&older}});
  session->start();
  EXPECT_EQ(records_of(session->stop()), "\"classic\"");
}

TEST_F(CuptiSubscribersTest, TheEnvironmentCanForceClassicRecords) {
  ::setenv("MINDTORCH_CUPTI_RECORDS", "classic", 1);
  const Recording recording = record_three();
  EXPECT_EQ(records_of(recording), "\"classic\"");
  EXPECT_EQ(count_of(recording, EventKind::kKernel), 3u);
  EXPECT_EQ(cupti_double_calls("cuptiSubscribe_v2"), 0u);
}

TEST_F(CuptiSubscribersTest, EachRecordingHasASubscriberOfItsOwnAndNobodyIsLeft) {
  for (int i = 0; i < 10; ++i) EXPECT_EQ(count_of(record_three(), EventKind::kKernel), 3u);
  EXPECT_EQ(cupti_double_calls("cuptiSubscribe_v2"), 10u);
  EXPECT_EQ(cupti_double_subscribers(), 0u);
}

TEST_F(CuptiSubscribersTest, AnotherToolThatSharesCuptiRecordsAtTheSameTime) {
  cupti_double::SecondTool tool;
  ASSERT_TRUE(tool.subscribe(true));
  const Recording recording = record_three();
  EXPECT_THAT(problems_, IsEmpty());
  EXPECT_EQ(records_of(recording), "\"user-defined\"");
  EXPECT_EQ(count_of(recording, EventKind::kKernel), 3u);
  EXPECT_THAT(recording.losses, IsEmpty()) << loss_text(recording);
  run_op("after");
  EXPECT_EQ(tool.stop(), 4u) << "the other tool misses nothing, also after we have gone";
}

TEST_F(CuptiSubscribersTest, AnotherToolThatWantsCuptiForItselfIsNamed) {
  cupti_double::SecondTool tool;
  ASSERT_TRUE(tool.subscribe(false));
  auto session = record::Session::prepare({.sources = {&source_}});
  session->start();
  std::string told;
  for (const std::string& problem : session->source_problems()) told += problem;
  EXPECT_THAT(told, HasSubstr("second tool"));
  session->stop();
  tool.stop();
  cupti_double_reset();  // forgets that the classic interface was tried beside the other tool
}

TEST_F(CuptiSubscribersTest, ADriverThatAllowsOneSubscriberGetsOne) {
  cupti_double_fail("cuptiSubscribe_v2", cupti::kNotSupported, 0, 1);
  const Recording recording = record_three();
  EXPECT_EQ(records_of(recording), "\"user-defined\"");
  EXPECT_EQ(count_of(recording, EventKind::kKernel), 3u);
}

TEST_F(CuptiSubscribersTest, WhateverFailsOfTheNewerInterfaceTheClassicOneIsUsed) {
  for (const char* function : {"cuptiSubscribe_v2", "cuptiActivitySetAttribute_v2", "cuptiActivityRegisterCallbacks_v2",
                               "cuptiActivityEnable_v2", "cuptiGetTimestamp_v2"}) {
    reset_double();
    cupti_double_fail(function, cupti::kNotCompatible, 0, 0);
    cupti::CuptiSource source;
    auto session = record::Session::prepare({.sources = {&source}});
    session->start();
    EXPECT_THAT(session->source_problems(), IsEmpty()) << function;
    run_op("op");
    const Recording recording = session->stop();
    EXPECT_EQ(records_of(recording), "\"classic\"") << function;
    EXPECT_EQ(count_of(recording, EventKind::kKernel), 1u) << function;
    EXPECT_THAT(recording.losses, IsEmpty()) << function;
    EXPECT_THAT(source.diagnose(), Contains(Pair("records", StartsWith("classic (cupti")))) << function;
  }
}

// As a process in which torch.profiler has run.
TEST_F(CuptiSubscribersTest, AProcessThatHasUsedTheClassicInterfaceStaysWithIt) {
  ::setenv("MINDTORCH_CUPTI_RECORDS", "classic", 1);
  record_three();
  ::unsetenv("MINDTORCH_CUPTI_RECORDS");
  cupti::CuptiSource fresh;  // does not know
  auto session = record::Session::prepare({.sources = {&fresh}});
  session->start();
  run_op("op");
  const Recording recording = session->stop();
  EXPECT_EQ(records_of(recording), "\"classic\"");
  EXPECT_EQ(count_of(recording, EventKind::kKernel), 1u);
  const std::uint64_t tried = cupti_double_calls("cuptiSubscribe_v2");
  EXPECT_EQ(tried, 1u);
  session = record::Session::prepare({.sources = {&fresh}});
  session->start();
  session->stop();
  EXPECT_EQ(cupti_double_calls("cuptiSubscribe_v2"), tried) << "it is not tried again";
}

TEST_F(CuptiSubscribersTest, TheDoctorSaysWhichRecordsAreUsed) {
  ASSERT_TRUE(source_.probe());
  EXPECT_THAT(source_.diagnose(), Contains(Pair("records", "user-defined (other tools may record at the same time)")));
  EXPECT_EQ(cupti_double_subscribers(), 0u);
}

TEST_F(CuptiSubscribersTest, CorrelationsOfRecordsHave64Bits) {
  ::setenv("MINDTORCH_CUPTI_RECORDS", "calls", 1);
  const CuptiDoubleLayouts layouts{.correlation_base = std::uint64_t{5} << 32};
  cupti_double_set_layouts(&layouts);
  const Recording recording = record_three();
  EXPECT_THAT(recording.losses, IsEmpty()) << loss_text(recording);
  for (const trace::EventIndex kernel : events_of(recording, EventKind::kKernel)) EXPECT_EQ(recording.events.link[kernel] >> 32, 5u);
}

TEST_F(CuptiSubscribersTest, BuffersWhoseLayoutIsNotToldAreCountedAsLost) {
  const CuptiDoubleLayouts layouts{.are_kept_secret = true};
  cupti_double_set_layouts(&layouts);
  const Recording recording = record_three();
  EXPECT_EQ(count_of(recording, EventKind::kKernel), 0u);
  EXPECT_THAT(loss_text(recording), HasSubstr("unknown kind"));
}

TEST_F(CuptiSubscribersTest, WholeGraphsAreLeftAsAnotherToolHasChosen) {
  cupti_double::SecondTool tool;
  ASSERT_TRUE(tool.subscribe(true));  // records kernels, so that graphs are recorded node by node
  auto session = record::Session::prepare({.device = {.whole_graphs = true}, .sources = {&source_}});
  session->start();
  EXPECT_THAT(session->source_problems(), Contains(AllOf(HasSubstr("kernel by kernel"), HasSubstr("second tool"))));
  session->stop();
  tool.stop();
}

TEST(CuptiRecordReader, ANarrowRecordHoldsEverythingTheDecoderUses) {
  const std::vector<std::int32_t> fields = cupti::selected_fields(cupti::kConcurrentKernel);
  EXPECT_EQ(fields.front(), cupti::kFieldOfKind);
  EXPECT_THAT(fields, Contains(cupti::kKernelName));
  EXPECT_THAT(cupti::selected_fields(cupti::kExternalCorrelation), IsEmpty());
}

TEST(CuptiRecordReader, ARecordThatIsCutOffIsNotRead) {
  std::array<std::int32_t, 1> unused{};
  cupti::FieldEntry entry{0, cupti::kFieldOfKind, 0, 4, 4};
  cupti::LayoutOfKind layout{0, &entry, unused.size(), 24};
  std::array<cupti::LayoutOfKind*, 64> by_kind{};
  by_kind[cupti::kOverhead] = &layout;
  const cupti::CompleteInfo info{sizeof info, 0, by_kind.data(), by_kind.size()};
  const cupti::RecordLayouts layouts(&info);
  std::array<std::uint8_t, 40> buffer{};
  buffer[0] = cupti::kOverhead;
  buffer[24] = cupti::kOverhead;
  cupti::UserDefinedRecords records(layouts, buffer.data(), buffer.size());
  EXPECT_NE(records.next(), nullptr) << "a record that lacks fields is stepped over";
  EXPECT_EQ(records.next(), nullptr);
  EXPECT_FALSE(records.has_been_read());
}

}  // namespace
}  // namespace mindtorch::sources
