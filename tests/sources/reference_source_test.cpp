// The reference source beyond the contract: losses, other subscribers, a device that goes away.
#include "mindtorch/sources/reference/reference_source.h"

#include <gmock/gmock.h>

#include <map>

#include "tests/support/powered.h"

namespace mindtorch::sources {
namespace {

namespace device = reference_device;
using device::Result;
using record::DeviceBatch;
using record::DeviceRecord;
using testing::HasSubstr;
using trace::EventKind;

void start(record::ActivitySource& source) {
  ASSERT_TRUE(source.prepare({.clock = record::system_clock()}));
  ASSERT_TRUE(source.start());
}

void launch_many(int count) {
  for (int i = 0; i < count; ++i) ASSERT_EQ(device::launch(device::main_stream(), "kernel", device::nothing()), Result::kSuccess);
}

TEST(ReferenceSource, SaysWhatToSetWhenThereIsNoDevice) {
  ReferenceSource source;
  EXPECT_FALSE(source.probe());
  EXPECT_THAT(source.probe().reason(), HasSubstr("MINDTORCH_NPU=reference"));
  EXPECT_THAT(source.prepare({.clock = record::system_clock()}).reason(), HasSubstr("MINDTORCH_NPU=reference"));
  EXPECT_EQ(source.device_type(), trace::DeviceType::kNpu);
  EXPECT_EQ(source.name(), "reference");
}

TEST(ReferenceSource, ReportsExactlyTheLossThatWasInjected) {
  device::Powered on({.memory_bytes = 4096, .delivery = {.drop_every = 9}});
  ReferenceSource source;
  start(source);
  launch_many(200);
  const DeviceBatch batch = source.stop();
  EXPECT_EQ(batch.dropped, 400u / 9);
  EXPECT_EQ(batch.records.size() + batch.dropped, 400u);
  EXPECT_EQ(batch.dropped_detail, "44 dropped by the device's collector");
}

TEST(ReferenceSource, ReportsWhatDidNotFitItsOwnBuffers) {
  device::Powered on({.memory_bytes = 4096});
  ReferenceSource source({.buffer_bytes = 1024, .max_buffers = 2});
  start(source);
  launch_many(200);
  const DeviceBatch batch = source.stop();
  EXPECT_GT(batch.dropped, 300u);
  EXPECT_EQ(batch.records.size() + batch.dropped, 400u);
  start(source);
  launch_many(5);
  EXPECT_EQ(source.stop().records.size(), 10u) << "buffers are free again";
}

TEST(ReferenceSource, CountsRecordsWithoutATimeAsLost) {
  device::Powered on({.memory_bytes = 4096, .delivery = {.drop_every = 50, .blank_every = 10}});
  ReferenceSource source;
  start(source);
  launch_many(100);
  const DeviceBatch batch = source.stop();
  EXPECT_EQ(batch.records.size() + batch.dropped, 200u);
  EXPECT_THAT(batch.dropped_detail, HasSubstr("4 dropped by the device's collector, "));
  EXPECT_THAT(batch.dropped_detail, HasSubstr(" came without a time"));
  for (const DeviceRecord& record : batch.records) EXPECT_NE(record.start, 0u);
}

TEST(ReferenceSource, DescribesCopiesMemsetsWaitsAndCallsWithoutWork) {
  device::Powered on({.devices = 2, .memory_bytes = 4096});
  ReferenceSource source;
  device::Event* event = nullptr;
  void* address = nullptr;
  char on_host[64] = {};
  ASSERT_EQ(device::create_event(&event), Result::kSuccess);
  device::Stream* second = device::new_stream(1);
  start(source);
  ASSERT_EQ(device::allocate(0, 64, &address), Result::kSuccess);
  ASSERT_EQ(device::copy_async(address, on_host, 64, device::CopyKind::kHostToDevice, device::main_stream()), Result::kSuccess);
  ASSERT_EQ(device::set_async(address, 3, 32, device::main_stream()), Result::kSuccess);
  ASSERT_EQ(device::set_async(on_host, 3, 32, device::main_stream()), Result::kInvalidAddress);
  ASSERT_EQ(device::record_event(event, device::main_stream()), Result::kSuccess);
  ASSERT_EQ(device::wait_event(second, event), Result::kSuccess);
  const DeviceBatch batch = source.stop();
  ASSERT_EQ(device::destroy_event(event), Result::kSuccess);

  std::map<EventKind, const DeviceRecord*> of_kind;
  for (const DeviceRecord& record : batch.records) of_kind[record.kind] = &record;
  ASSERT_EQ(batch.records.size(), 9u) << "six calls, three of which caused work";
  const auto details = [&](const DeviceRecord& record) {
    std::map<std::string, std::int64_t> found;
    for (const trace::Attribute& attribute : batch.details.row(record.detail)) found[batch.names[attribute.key]] = attribute.bits;
    return found;
  };
  EXPECT_EQ(batch.name(*of_kind.at(EventKind::kMemcpy)), "Memcpy HtoD (Pageable -> Device)");
  EXPECT_THAT(details(*of_kind.at(EventKind::kMemcpy)), testing::ElementsAre(testing::Pair("bytes", 64)));
  EXPECT_EQ(batch.name(*of_kind.at(EventKind::kMemset)), "Memset (Device)");
  EXPECT_THAT(details(*of_kind.at(EventKind::kMemset)), testing::ElementsAre(testing::Pair("bytes", 32), testing::Pair("value", 3)));
  const DeviceRecord& wait = *of_kind.at(EventKind::kSync);
  EXPECT_EQ(batch.name(wait), "Stream Wait Event");
  EXPECT_EQ(wait.device, (trace::Device{trace::DeviceType::kNpu, 1}));
  EXPECT_EQ(wait.lane, 2);
  EXPECT_EQ(batch.clocks.at(wait.clock).name, "reference-npu:1");
  for (const DeviceRecord& record : batch.records) {
    const bool causes_no_work = batch.name(record) == "npuMalloc" || batch.name(record) == "npuEventRecord";
    EXPECT_TRUE(!causes_no_work || record.correlation == 0) << batch.name(record);
  }
  EXPECT_TRUE(std::any_of(batch.records.begin(), batch.records.end(), [&](const DeviceRecord& record) {
    return batch.name(record) == "npuMemsetAsync" && record.correlation == 0 && record.detail != 0;
  })) << "the refused call is there, marked and without work";
}

TEST(ReferenceSource, LeavesAnotherSubscriberAlone) {
  device::Powered on;
  device::KeepingSubscriber other;
  ReferenceSource source;
  EXPECT_TRUE(source.probe());
  EXPECT_THAT(source.prepare({.clock = record::system_clock()}).reason(), HasSubstr("another profiler"));
  ASSERT_EQ(device::collect(device::kAllActivities), Result::kSuccess);
  launch_many(2);
  other.drain();
  EXPECT_EQ(other.kernels.size(), 2u);
}

TEST(ReferenceSource, KeepsWhatItHasWhenTheDeviceIsTakenAway) {
  ReferenceSource source;
  {
    device::Powered on;
    start(source);
    launch_many(10);
  }
  EXPECT_EQ(source.stop().records.size(), 20u);
  device::Powered again;
  start(source);
  launch_many(1);
  EXPECT_EQ(source.stop().records.size(), 2u);
}

TEST(ReferenceSource, TellsWhatItsDevicesAre) {
  device::Powered on({.devices = 2, .memory_bytes = 8192});
  ReferenceSource source;
  start(source);
  const auto npu = [](std::uint8_t index) {
    return trace::DeviceProperties{{trace::DeviceType::kNpu, index}, "reference NPU", {{"totalGlobalMem", 8192}}};
  };
  EXPECT_THAT(source.stop().devices, testing::ElementsAre(npu(0), npu(1)));
}

TEST(ReferenceSource, GivesEachDeviceAClockWithAtLeastTwoSamples) {
  device::Powered on({.devices = 3, .memory_bytes = 4096, .clock = {.ticks_per_ns = 0.5}});
  ReferenceSource source;
  start(source);
  const DeviceBatch batch = source.stop();
  ASSERT_EQ(batch.clocks.size(), 4u);
  EXPECT_TRUE(batch.clocks[0].is_session_clock);
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(batch.clocks[i].nominal_ticks_per_ns, 0.5);
    EXPECT_GE(batch.clocks[i].samples.size(), 2u);
    for (const auto& sample : batch.clocks[i].samples) EXPECT_LE(sample.host_before, sample.host_after);
  }
}

}  // namespace
}  // namespace mindtorch::sources
