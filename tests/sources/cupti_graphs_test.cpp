// CUDA graphs on the double of libcupti: a kernel of a replay belongs to the op that captured it.
#include "mindtorch/analyze/analysis.h"
#include "mindtorch/record/input_writer.h"
#include "mindtorch/trace/inputs.h"
#include "tests/sources/cupti_fixture.h"

namespace mindtorch::sources {
namespace {

using testing::ElementsAre;
using testing::Pair;
using trace::EventIndex;
using trace::EventKind;
using trace::Recording;

class CuptiGraphsTest : public CuptiRecordsTest {
 protected:
  // An executable graph of one kernel for each op; instantiated inside an op of its own, as programs do.
  static void* capture(const std::vector<std::string>& ops) {
    cupti_double_begin_capture(7);
    for (const std::string& name : ops) run_op(name);
    void* graph = cupti_double_end_capture(7);
    record::OpScope op(record::intern("instantiate"));
    void* executable = cupti_double_instantiate_graph(graph);
    cupti_double_destroy_graph(graph);
    return executable;
  }
  static void replay(void* executable) {
    record::OpScope op(record::intern("replay"));
    cupti_double_launch_graph(executable, 7);
  }
  // (kernel, the op that captured it), as often as it is there.
  static std::map<std::pair<std::string, std::string>, int> captured_by(const Recording& recording) {
    std::map<std::pair<std::string, std::string>, int> pairs;
    for (const EventIndex kernel : events_of(recording, EventKind::kKernel))
      ++pairs[{std::string(recording.name(kernel)), text_of(recording, kernel, "captured by")}];
    return pairs;
  }
};

TEST_P(CuptiGraphsTest, AKernelOfAReplayBelongsToTheOpThatCapturedIt) {
  const Recording recording = record([] {
    void* executable = capture({"mm", "relu"});
    for (int i = 0; i < 3; ++i) replay(executable);
    run_op("eager");
  });
  EXPECT_THAT(captured_by(recording),
              ElementsAre(Pair(Pair("eager_kernel", ""), 1), Pair(Pair("mm_kernel", "mm"), 3), Pair(Pair("relu_kernel", "relu"), 3)));
  EXPECT_THAT(recording.losses, testing::IsEmpty()) << loss_text(recording);
}

TEST_P(CuptiGraphsTest, EveryKernelOfAReplayIsLinkedToTheLaunchOfTheGraph) {
  const Recording recording = record([] { replay(capture({"a", "b", "c"})); });
  std::map<std::uint64_t, std::string> call_of;
  for (const EventIndex call : events_of(recording, EventKind::kRuntime)) call_of[recording.events.link[call]] = recording.name(call);
  ASSERT_EQ(count_of(recording, EventKind::kKernel), 3u);
  for (const EventIndex kernel : events_of(recording, EventKind::kKernel))
    EXPECT_EQ(call_of[recording.events.link[kernel]], "cudaGraphLaunch");
}

TEST_P(CuptiGraphsTest, AGraphCapturedInOneRecordingIsKnownInTheNext) {
  void* executable = nullptr;
  record([&] { executable = capture({"mm"}); });
  for (int round = 0; round < 3; ++round) {
    const Recording recording = record([&] { replay(executable); });
    EXPECT_THAT(captured_by(recording), ElementsAre(Pair(Pair("mm_kernel", "mm"), 1)));
    EXPECT_THAT(recording.losses, testing::IsEmpty()) << loss_text(recording);
  }
}

TEST_P(CuptiGraphsTest, TheTimeOfAReplayIsCountedUnderTheOpThatCapturedItAlsoInLaterRecordings) {
  void* executable = nullptr;
  const auto ops_with_kernels = [](const Recording& recording) {
    const analyze::Analysis analysis(recording);
    std::map<std::string, std::size_t> counts;
    for (const EventIndex op : events_of(recording, EventKind::kOp)) {
      const std::size_t kernels = analysis.launches().activities_of(op).size();
      if (kernels > 0) counts[std::string(recording.name(op))] += kernels;
      EXPECT_EQ(kernels > 0, analysis.launches().self_ns(op) > 0);
    }
    return counts;
  };
  const Recording first = record([&] {
    record::NamedScope scope("forward");
    executable = capture({"mm", "relu"});
    for (int i = 0; i < 3; ++i) replay(executable);
  });
  EXPECT_THAT(ops_with_kernels(first), ElementsAre(Pair("mm", 3), Pair("relu", 3)));
  for (int round = 0; round < 2; ++round) {
    const Recording later = record([&] {
      for (int i = 0; i < 4; ++i) replay(executable);
      run_op("mm");
    });
    EXPECT_THAT(ops_with_kernels(later), ElementsAre(Pair("mm", 5), Pair("relu", 4)));
    EXPECT_THAT(names_of(later, EventKind::kScope), ElementsAre(Pair("forward", 1))) << "what was around a captured op is known too";
    EXPECT_THAT(names_of(later, EventKind::kRuntime), testing::Contains(Pair("cudaLaunchKernel (captured)", 2)));
    EXPECT_THAT(names_of(later, EventKind::kOp), testing::Not(testing::Contains(testing::Key("instantiate"))));
    EXPECT_THAT(later.losses, testing::IsEmpty()) << loss_text(later);
  }
}

TEST_P(CuptiGraphsTest, AnOpThatWasCapturedEarlierHasItsShapes) {
  void* executable = nullptr;
  const std::vector<std::int64_t> sizes = {2, 3};
  const auto inputs_of = [&](const Recording& recording) {
    for (const EventIndex op : events_of(recording, EventKind::kOp))
      if (recording.name(op) == "mm") return trace::decode_inputs(recording.inputs.find(op));
    return std::vector<trace::Input>{};
  };
  auto session = record::Session::prepare({.shapes = true, .sources = {&source_}});
  session->start();
  cupti_double_begin_capture(7);
  {
    record::OpScope op(record::intern("mm"), record::known({trace::DeviceType::kCuda, 0}));
    record::InputWriter(op).tensor(trace::ScalarType::kFloat, sizes.data(), nullptr, 2, true);
    launch("mm_kernel");
  }
  executable = cupti_double_instantiate_graph(cupti_double_end_capture(7));
  const Recording first = session->stop();
  ASSERT_EQ(inputs_of(first).size(), 1u);
  const Recording later = record([&] { replay(executable); });
  EXPECT_EQ(inputs_of(later), inputs_of(first));
}

TEST_P(CuptiGraphsTest, AGraphCapturedBeforeAnyRecordingIsToldAsSuch) {
  void* executable = capture({"mm"});
  const Recording recording = record([&] { replay(executable); });
  EXPECT_THAT(captured_by(recording), ElementsAre(Pair(Pair("mm_kernel", "not recorded when the graph was captured"), 1)));
}

TEST_P(CuptiGraphsTest, AReplayIsOneRecordIfGraphsAreWantedWhole) {
  if (!records_.is_user_defined()) cupti_double_set_version(130100);
  const Recording recording = record(
      [] {
        void* executable = capture({"mm", "relu"});
        for (int i = 0; i < 3; ++i) replay(executable);
      },
      {.whole_graphs = true});
  EXPECT_THAT(names_of(recording, EventKind::kKernel), ElementsAre(Pair(testing::StartsWith("CUDA graph "), 3)));
  EXPECT_EQ(losses_of(recording)[trace::LossReason::kNoLaunch], 0u);
}

TEST_P(CuptiGraphsTest, AReplayOfAGraphThatIsOlderThanARecordingOfWholeGraphsIsMissed) {
  if (!records_.is_user_defined()) cupti_double_set_version(130100);
  void* executable = capture({"mm", "relu"});
  const Recording recording = record([&] { replay(executable); }, {.whole_graphs = true});
  EXPECT_EQ(count_of(recording, EventKind::kKernel), 0u);
  EXPECT_EQ(losses_of(recording)[trace::LossReason::kNoDeviceRecord], 1u);
}

TEST_P(CuptiGraphsTest, AReplayIsItsKernelsWhereTheLibraryCannotRecordItWhole) {
  cupti_double_set_version(130001);
  const Recording recording = record([] { replay(capture({"mm", "relu"})); }, {.whole_graphs = true});
  EXPECT_EQ(events_of(recording, EventKind::kKernel).size(), 2u);
}

TEST_P(CuptiGraphsTest, CopiesAndMemsetsInAGraphHaveTheirOpToo) {
  const Recording recording = record([] {
    cupti_double_begin_capture(7);
    {
      record::OpScope op(record::intern("copy"));
      const CuptiDoubleWork copy{.activity_kind = cupti::kMemcpy, .bytes = 64};
      cupti_double_issue(&copy);
    }
    {
      record::OpScope op(record::intern("zero"));
      const CuptiDoubleWork set{.activity_kind = cupti::kMemset, .bytes = 32};
      cupti_double_issue(&set);
    }
    replay(cupti_double_instantiate_graph(cupti_double_end_capture(7)));
  });
  ASSERT_EQ(count_of(recording, EventKind::kMemcpy), 1u);
  ASSERT_EQ(count_of(recording, EventKind::kMemset), 1u);
  EXPECT_EQ(text_of(recording, events_of(recording, EventKind::kMemcpy)[0], "captured by"), "copy");
  EXPECT_EQ(text_of(recording, events_of(recording, EventKind::kMemset)[0], "captured by"), "zero");
}

INSTANTIATE_TEST_SUITE_P(Cupti, CuptiGraphsTest, testing::Values(kClassicRecords, kUserDefinedRecords), name_of_records);

}  // namespace
}  // namespace mindtorch::sources
