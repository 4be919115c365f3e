// The double of libcupti behaves as the library does: what a client is told, gets, and does not get.
#include "tests/doubles/cupti/cupti_double.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <thread>

#include "tests/doubles/cupti/client.h"

namespace cupti_double {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

class CuptiDoubleTest : public testing::Test {
 protected:
  CuptiDoubleTest() {
    cupti_double_reset();
    client_.subscribe();
  }
  ~CuptiDoubleTest() override {
    client_.stop();
    EXPECT_STREQ(cupti_double_violations(), "");
    cupti_double_reset();
    EXPECT_EQ(cupti_double_buffers_held(), 0u);
  }

  static std::uint32_t launch(const char* name, std::uint32_t stream = 7) {
    const CuptiDoubleWork work{.stream = stream, .name = name};
    return cupti_double_issue(&work);
  }

  Client client_;
};

TEST_F(CuptiDoubleTest, RecordsNothingThatIsNotEnabled) {
  launch("kernel");
  cupti_double_synchronize();
  EXPECT_EQ(cuptiActivityFlushAll(abi::kFlushForced), abi::kSuccess);
  EXPECT_TRUE(client_.records().empty());
}

TEST_F(CuptiDoubleTest, RecordsACallAndItsKernelWithOneCorrelation) {
  client_.enable({abi::kRuntime, abi::kConcurrentKernel});
  const std::uint32_t correlation = launch("kernel");
  cupti_double_synchronize();
  cuptiActivityFlushAll(0);
  ASSERT_EQ(client_.kernels().size(), 1u);
  const abi::KernelRecord kernel = client_.kernels()[0];
  EXPECT_STREQ(kernel.name, "kernel");
  EXPECT_EQ(kernel.correlation_id, correlation);
  ASSERT_EQ(client_.calls().size(), 2u);
  EXPECT_EQ(client_.calls()[0].correlation_id, correlation);
  EXPECT_LE(client_.calls()[0].start, kernel.start);
  EXPECT_LT(kernel.start, kernel.end);
}

TEST_F(CuptiDoubleTest, KeepsRecordsOfRunningWorkUnlessTheFlushIsForced) {
  client_.enable({abi::kConcurrentKernel});
  cupti_double_hold_device(true);
  launch("kernel");
  cuptiActivityFlushAll(0);
  EXPECT_TRUE(client_.kernels().empty());
  cuptiActivityFlushAll(abi::kFlushForced);
  ASSERT_EQ(client_.kernels().size(), 1u);
  EXPECT_EQ(client_.kernels()[0].end, 0u);
}

TEST_F(CuptiDoubleTest, WritesTheRecordsOfEachVersionInTheirSize) {
  for (const std::uint32_t version : {26u, 130001u, 130401u}) {
    cupti_double_set_version(version);
    client_.enable({abi::kConcurrentKernel, abi::kMemcpy, abi::kMemset});
    for (const std::uint32_t kind : {abi::kMemcpy, abi::kConcurrentKernel, abi::kMemset}) {
      const CuptiDoubleWork work{.activity_kind = kind, .bytes = 64};
      cupti_double_issue(&work);
    }
    cupti_double_synchronize();
    cuptiActivityFlushAll(0);
    EXPECT_EQ(client_.take_records().size(), 3u) << version;
  }
}

TEST_F(CuptiDoubleTest, CountsWhatItCouldNotStoreAfterTheClientRefusedABuffer) {
  client_.refuse_buffers(true);
  client_.enable({abi::kConcurrentKernel});
  for (int i = 0; i < 10; ++i) launch("kernel");
  cupti_double_synchronize();
  cuptiActivityFlushAll(abi::kFlushForced);
  std::size_t dropped = 0;
  EXPECT_EQ(cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped), abi::kSuccess);
  EXPECT_EQ(dropped, 10u);
}

TEST_F(CuptiDoubleTest, LosesShufflesAndDelaysAsTold) {
  client_.enable({abi::kConcurrentKernel});
  const CuptiDoubleFaults faults{.lose_every = 4, .zero_times_every = 5, .shuffle_seed = 3, .late_by_flushes = 2};
  cupti_double_set_faults(&faults);
  for (int i = 0; i < 20; ++i) launch("kernel");
  cupti_double_synchronize();
  cuptiActivityFlushAll(0);
  EXPECT_TRUE(client_.kernels().empty());
  cuptiActivityFlushAll(0);
  cuptiActivityFlushAll(0);
  EXPECT_EQ(client_.kernels().size(), 15u);
  EXPECT_EQ(cupti_double_lost_records(), 5u);
  EXPECT_EQ(cupti_double_zeroed_records(), 3u);
  std::size_t dropped = 0;
  cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped);
  EXPECT_EQ(dropped, 5u);
  bool is_in_order = true;
  for (std::size_t i = 1; i < 15; ++i)
    is_in_order = is_in_order && client_.kernels()[i - 1].correlation_id < client_.kernels()[i].correlation_id;
  EXPECT_FALSE(is_in_order);
}

TEST_F(CuptiDoubleTest, FailsTheCallsThatATestNames) {
  cupti_double_fail("cuptiActivityEnable", abi::kInsufficientPrivileges, 1, 1);
  EXPECT_EQ(cuptiActivityEnable(abi::kMemcpy), abi::kSuccess);
  EXPECT_EQ(cuptiActivityEnable(abi::kMemcpy), abi::kInsufficientPrivileges);
  EXPECT_EQ(cuptiActivityEnable(abi::kMemcpy), abi::kSuccess);
  EXPECT_STREQ(cupti_double_last_failed(), "cuptiActivityEnable");
  EXPECT_EQ(cupti_double_calls("cuptiActivityEnable"), 3u);
}

TEST_F(CuptiDoubleTest, NamesTheSubscriberThatIsInTheWay) {
  char name[64] = "";
  abi::SubscriberParams params{sizeof params, "second", name, sizeof name};
  abi::Subscriber second = nullptr;
  EXPECT_EQ(cuptiSubscribe_v2(&second, &Client::on_callback, this, &params), abi::kMultipleSubscribersNotSupported);
  EXPECT_STREQ(name, "CUPTI for client");
  cupti_double_set_other_subscriber("Nsight Systems");
  EXPECT_EQ(cuptiSubscribe_v2(&second, &Client::on_callback, this, &params), abi::kMultipleSubscribersNotSupported);
  EXPECT_STREQ(name, "Nsight Systems");
  cupti_double_set_other_subscriber(nullptr);
}

TEST_F(CuptiDoubleTest, ClonesTheNodesOfAGraphThatIsInstantiatedAndReplaysTheClones) {
  client_.enable({abi::kRuntime, abi::kConcurrentKernel});
  client_.watch_graphs();
  cupti_double_begin_capture(7);
  launch("first");
  launch("second");
  void* graph = cupti_double_end_capture(7);
  void* executable = cupti_double_instantiate_graph(graph);
  cupti_double_destroy_graph(graph);
  const std::uint32_t correlation = cupti_double_launch_graph(executable, 13);
  cupti_double_synchronize();
  cuptiActivityFlushAll(0);
  ASSERT_EQ(client_.created_nodes().size(), 4u);
  const std::uint64_t captured = client_.created_nodes()[0], clone = captured + (std::uint64_t{1} << 32);
  EXPECT_THAT(client_.created_nodes(), UnorderedElementsAre(captured, captured + 1, clone, clone + 1));
  EXPECT_THAT(client_.cloned_nodes(), UnorderedElementsAre(Pair(clone, captured), Pair(clone + 1, captured + 1)));
  ASSERT_EQ(client_.kernels().size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(client_.kernels()[i].graph_node_id, clone + i);
    EXPECT_EQ(client_.kernels()[i].graph_id, clone >> 32);
    EXPECT_EQ(client_.kernels()[i].correlation_id, correlation);
    EXPECT_EQ(client_.kernels()[i].stream_id, 13u);
  }
  cupti_double_destroy_graph(executable);
}

TEST_F(CuptiDoubleTest, WritesOneRecordForAReplayIfGraphsAreTracedAsAWhole) {
  client_.enable({abi::kConcurrentKernel, abi::kGraphTrace});
  cupti_double_begin_capture(7);
  for (int i = 0; i < 5; ++i) launch("kernel");
  void* executable = cupti_double_instantiate_graph(cupti_double_end_capture(7));
  const std::uint32_t correlation = cupti_double_launch_graph(executable, 7);
  cupti_double_synchronize();
  cuptiActivityFlushAll(0);
  ASSERT_EQ(client_.records().size(), 1u);
  EXPECT_EQ(read_value<std::uint32_t>(client_.records()[0].data(), offsetof(abi::GraphTraceRecord, correlation_id)), correlation);
}

TEST_F(CuptiDoubleTest, ReplaysEveryCaptureWithTheCountsThatTorchReported) {
  client_.enable({abi::kConcurrentKernel, abi::kMemcpy, abi::kMemset, abi::kRuntime});
  client_.watch_graphs();
  const std::map<std::string, std::vector<std::size_t>> expected = {{"mlp", {105, 9, 6}},
                                                                    {"cnn_amp", {219, 18, 9}},
                                                                    {"transformer_sdpa", {348, 21, 12}},
                                                                    {"two_streams", {48, 36, 0}},
                                                                    {"cuda_graph", {253, 6, 48}}};
  for (const auto& [name, counts] : expected) {
    const std::string path = std::string(CUPTI_DOUBLE_DATA) + "/" + name + ".cupti.zst";
    ASSERT_GT(cupti_double_replay(path.c_str(), 0, 0), 0) << path;
    cuptiActivityFlushAll(0);
    std::map<std::uint32_t, std::size_t> found;
    std::set<std::uint32_t> calls;
    for (const abi::ApiRecord& call : client_.calls()) calls.insert(call.correlation_id);
    for (const abi::KernelRecord& kernel : client_.kernels()) {
      EXPECT_GT(std::string_view(kernel.name).size(), 3u);
      EXPECT_LT(kernel.start, kernel.end);
    }
    for (const std::string& record : client_.take_records()) ++found[read_value<std::uint32_t>(record.data(), 0)];
    EXPECT_THAT((std::vector{found[abi::kConcurrentKernel], found[abi::kMemcpy], found[abi::kMemset]}), testing::ElementsAreArray(counts))
        << name;
  }
  EXPECT_EQ(client_.cloned_nodes().size(), 50u);
  EXPECT_EQ(cupti_double_replay("no such file", 0, 0), -1);
}

TEST_F(CuptiDoubleTest, ServesThreadsThatLaunchAndFlushAtOnce) {
  client_.enable({abi::kRuntime, abi::kConcurrentKernel});
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 3; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 200; ++i) launch("kernel", 7 + t);
    });
  }
  for (int i = 0; i < 50; ++i) cuptiActivityFlushAll(0);
  for (std::thread& thread : threads) thread.join();
  cupti_double_synchronize();
  cuptiActivityFlushAll(0);
  EXPECT_EQ(client_.kernels().size(), 600u);
  EXPECT_EQ(client_.calls().size(), 601u);
  EXPECT_EQ(cupti_double_take_truth(nullptr, 0), 600u);
}

}  // namespace
}  // namespace cupti_double
