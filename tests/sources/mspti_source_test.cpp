// The MSPTI source where the contract of sources says nothing: what records hold, which library is loaded, and how many are kept.
#include "mindtorch/sources/mspti/mspti_source.h"

#include <thread>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/record/launch_queue.h"
#include "mindtorch/sources/mspti/call_links.h"
#include "tests/sources/mspti_fixture.h"

namespace mindtorch::sources {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using trace::EventIndex;
using trace::EventKind;
using trace::LossReason;
using trace::Recording;

class MsptiSourceTest : public MsptiTest {};

TEST_F(MsptiSourceTest, KernelsHaveTheirTypeAndTheRecordingItsVersions) {
  const Recording recording = record([] { run_op("add"); });
  const auto kernels = events_of(recording, EventKind::kKernel);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(recording.name(kernels[0]), "add_kernel");
  EXPECT_EQ(text_of(recording, kernels[0], "type"), "KERNEL_AICORE");
  EXPECT_EQ(recording.metadata.at("mspti_version"), "\"26.2.0\"");
  EXPECT_EQ(recording.metadata.at("cann_runtime_version"), "\"1.15.0\"");
  ASSERT_EQ(recording.devices.size(), 1u);
  EXPECT_EQ(recording.devices[0].device, (trace::Device{trace::DeviceType::kNpu, 0}));
  EXPECT_EQ(recording.devices[0].name, "NPU of the tests");
  EXPECT_EQ(recording.devices[0].numbers, (std::vector<trace::DeviceProperty>{{"totalGlobalMem", 1 << 20}}));
}

TEST_F(MsptiSourceTest, CollectivesHaveGroupTypeAndBytes) {
  const Recording recording = record([&] {
    const MsptiDoubleCollective collective{.data_type = 11, .count = 1000};
    double_->run_collective(&collective);
  });
  const auto collectives = events_of(recording, EventKind::kCollective);
  ASSERT_EQ(collectives.size(), 1u);
  EXPECT_EQ(recording.name(collectives[0]), "hcom_allReduce_");
  EXPECT_EQ(
      attributes_of(recording, collectives[0]),
      (std::map<std::string, std::string>{
          {"Process Group Name", "group_0"}, {"dtype", "BFloat16"}, {"In msg nelems", "1000"}, {"bytes", "2000"}, {"algorithm", "MESH"}}));
  EXPECT_THAT(recording.losses, IsEmpty()) << loss_text(recording);
}

TEST_F(MsptiSourceTest, CollectivesAreLinkedToTheOpThatStartedThem) {
  const Recording recording = record([&] {
    record::OpScope op(record::intern("all_reduce"), record::known({trace::DeviceType::kNpu, 0}));
    const MsptiDoubleCollective collective{.count = 8};
    double_->run_collective(&collective);
  });
  const analyze::Analysis analysis(recording);
  const auto collectives = events_of(recording, EventKind::kCollective);
  ASSERT_EQ(collectives.size(), 1u);
  const EventIndex host = analysis.launches().host_of(collectives[0]);
  ASSERT_NE(host, analyze::kNoEvent);
  EXPECT_EQ(recording.name(host), "all_reduce");
}

// COMMUNICATION is the third kind that a recording enables, after RUNTIME_API and KERNEL.
TEST_F(MsptiSourceTest, WithoutTheKindOfCollectivesThoseOfHcclAreRecordedAndWhatTheyLackIsTold) {
  double_->fail("msptiActivityEnable", 1, 2, 1);
  const Recording recording = record([&] {
    run_op("op");
    const MsptiDoubleCollective collective{.name = "hcom_send_", .bandwidth = 12.5};
    double_->run_collective(&collective);
  });
  EXPECT_THAT(problems_, testing::ElementsAre(testing::AllOf(HasSubstr("collectives have neither bytes nor links to ops"),
                                                             HasSubstr("msptiActivityEnable(COMMUNICATION)"))));
  const auto collectives = events_of(recording, EventKind::kCollective);
  ASSERT_EQ(collectives.size(), 1u);
  EXPECT_EQ(recording.name(collectives[0]), "hcom_send_");
  EXPECT_EQ(text_of(recording, collectives[0], "Process Group Name"), "group_0");
  EXPECT_THAT(attributes_of(recording, collectives[0]), testing::Contains(testing::Key("bandwidth (GB/s)")));
  EXPECT_EQ(count_of(recording, EventKind::kKernel), 1u);
  EXPECT_THAT(recording.losses, IsEmpty()) << loss_text(recording);
}

TEST_F(MsptiSourceTest, WithoutAnyKindOfCollectivesTheRestIsRecordedAndThatIsTold) {
  double_->fail("msptiActivityEnable", 1, 2, 2);
  const Recording recording = record([&] {
    run_op("op");
    const MsptiDoubleCollective collective;
    double_->run_collective(&collective);
  });
  EXPECT_THAT(problems_, testing::ElementsAre(HasSubstr("collectives are not recorded")));
  EXPECT_EQ(count_of(recording, EventKind::kCollective), 0u);
  EXPECT_EQ(count_of(recording, EventKind::kKernel), 1u);
}

TEST_F(MsptiSourceTest, AllocationsAreDetailsOfTheirCall) {
  const Recording recording = record([&] {
    const MsptiDoubleAllocation allocation{.address = 0xAB00, .bytes = 512};
    const MsptiDoubleAllocation release{.is_release = true, .address = 0xAB00, .bytes = 512, .with_call = false};
    double_->allocate(&allocation);
    double_->allocate(&release);
  });
  std::map<std::string, std::map<std::string, std::string>> found;
  for (const EventIndex call : events_of(recording, EventKind::kRuntime))
    found[std::string(recording.name(call))] = attributes_of(recording, call);
  EXPECT_EQ(found["DevMalloc"], (std::map<std::string, std::string>{{"allocated bytes", "512"}, {"address", "0xab00"}}));
  EXPECT_EQ(found["aclrtFree"], (std::map<std::string, std::string>{{"released bytes", "512"}, {"address", "0xab00"}}));
}

TEST_F(MsptiSourceTest, WorkOfALaunchQueueBelongsToTheOpThatAskedForIt) {
  const Recording recording = record([] {
    std::vector<record::LaunchTicket> queue;
    for (const char* name : {"first", "second"}) {
      record::OpScope op(record::intern(name), record::known({trace::DeviceType::kNpu, 0}));
      queue.push_back(record::enqueue_launch(record::intern("enqueue")));
    }
    std::thread([&] {
      for (std::size_t i = 0; i < queue.size(); ++i) {
        record::QueuedLaunch launched(queue[i]);
        launch("kernel" + std::to_string(i));
      }
    }).join();
  });
  const analyze::Analysis analysis(recording);
  std::map<std::string, std::string> op_of;
  for (const EventIndex kernel : events_of(recording, EventKind::kKernel)) {
    const EventIndex host = analysis.launches().host_of(kernel);
    op_of[std::string(recording.name(kernel))] = host != analyze::kNoEvent ? recording.name(host) : "";
  }
  EXPECT_EQ(op_of, (std::map<std::string, std::string>{{"kernel0", "first"}, {"kernel1", "second"}}));
}

TEST_F(MsptiSourceTest, KeepsNoMoreRecordsThanTheBudgetHolds) {
  auto session = record::Session::prepare({.budget = {.bytes = std::int64_t{4} << 20}, .sources = {&source_}});
  session->start();
  for (int i = 0; i < 60'000; ++i) launch("kernel");
  const Recording recording = session->stop();
  const auto kept = count_of(recording, EventKind::kKernel) + count_of(recording, EventKind::kRuntime);
  EXPECT_LT(kept, 110'000u);
  const std::uint64_t dropped = losses_of(recording)[LossReason::kDeviceDropped];
  EXPECT_GE(kept + dropped, 120'000u);
  EXPECT_LE(kept + dropped, 120'010u) << "the source's own wait for the device is a call too";
}

TEST(MsptiLibrary, SaysWhatWasTriedWhenItIsNotThere) {
  ::setenv("MINDTORCH_LIBRARY_PATH", "mspti=/nowhere/libmspti.so", 1);
  const Status status = mspti::MsptiSource().probe();
  EXPECT_THAT(status.reason(), HasSubstr("/nowhere/libmspti.so"));
  EXPECT_THAT(status.reason(), HasSubstr("set_env.sh"));
}

TEST(MsptiLibrary, IsLookedForBelowTheHomeOfCann) {
  ::unsetenv("MINDTORCH_LIBRARY_PATH");
  ::setenv("ASCEND_HOME_PATH", (std::string(MSPTI_DOUBLES) + "/nowhere").c_str(), 1);
  EXPECT_EQ(mspti::library_candidates().back(), "libmspti.so");
  ::unsetenv("ASCEND_HOME_PATH");
}

TEST(MsptiVersions, AreToldApartByWhatTheLibraryExports) {
  std::map<int, std::string> versions;
  for (const int version : {85, 260, 261, 262}) {
    const MsptiDouble one(version);
    mspti::Library library;
    EXPECT_TRUE(library.load());
    versions[version] = library.version();
  }
  EXPECT_EQ(versions, (std::map<int, std::string>{{85, "26.0 or earlier"}, {260, "26.0 or earlier"}, {261, "26.1"}, {262, "26.2.0"}}));
}

TEST(MsptiCallLinks, TheFirstCallThatEndsWithAnIdMadeIt) {
  const auto call = [](std::int32_t thread, std::uint64_t start, std::uint64_t end, std::uint64_t id, bool launches = true) {
    return record::DeviceRecord{
        .start = start, .end = end, .correlation = id, .lane = thread, .kind = EventKind::kRuntime, .launches = launches};
  };
  // In any order: a wait that has the id of the launch before it, an outer call that ends with its second launch, and other threads, of
  // which one begins with a wait after a launch that was not recorded, and one with a copy.
  std::vector<record::DeviceRecord> records = {call(1, 50, 60, 7, false), call(1, 0, 45, 7),      call(1, 20, 40, 7),
                                               call(1, 1, 19, 6),         call(2, 0, 30, 8),      call(3, 0, 5, 2, false),
                                               call(3, 6, 8, 9),          call(4, 0, 5, 3, false)};
  mspti::keep_ids_of_makers(records, {3});
  std::vector<std::uint64_t> ids;
  for (const record::DeviceRecord& record : records) ids.push_back(record.correlation);
  EXPECT_EQ(ids, (std::vector<std::uint64_t>{0, 0, 7, 6, 8, 0, 9, 3}));
}

}  // namespace
}  // namespace mindtorch::sources
