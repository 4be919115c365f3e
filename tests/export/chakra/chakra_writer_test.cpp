// Chakra execution traces: who is whose parent, what is left out. The schema is checked by test_chakra.py with a reader of its own.
#include "mindtorch/export/chakra/chakra_writer.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <regex>

#include "mindtorch/base/file.h"
#include "mindtorch/base/text.h"
#include "mindtorch/trace/builder.h"
#include "tests/support/temporary_folder.h"

namespace mindtorch::exporter {
namespace {

using testing::ElementsAre;
using trace::EventKind;

// "name id<-parent" of each node, in the order of the file; the process and its threads have short names.
std::vector<std::string> nodes_of(const std::string& text) {
  std::vector<std::string> nodes;
  const std::regex node(R"re("id": (\d+), "name": "([^"]*)", "ctrl_deps": (\d+))re");
  for (std::sregex_iterator at(text.begin(), text.end(), node), end; at != end; ++at) {
    const std::string name = (*at)[2];
    const std::string shown = name.ends_with("process]") ? "process" : name.ends_with("thread]") ? "thread" : name;
    nodes.push_back(shown + " " + (*at)[1].str() + "<-" + (*at)[3].str());
  }
  return nodes;
}

std::string written(const trace::Recording& recording, const ChakraOptions& options = {}) {
  const tests::TemporaryFolder folder;
  write_chakra_trace(recording, folder / "et.json", options);
  std::string text = read_file(folder / "et.json");
  EXPECT_TRUE(is_json(text)) << text;
  return text;
}

std::int64_t attribute(const std::string& text, const std::string& node, const std::string& name) {
  const std::regex pattern("\"name\": \"" + node + "\"[^}]*\\}[^}]*\\}[^\\]]*?\"name\": \"" + name +
                           "\", \"type\": \"u?int64\", \"value\": (-?\\d+)");
  std::smatch match;
  return std::regex_search(text, match, pattern) ? std::stoll(match[1]) : -99;
}

TEST(ChakraWriter, ChildrenComeBeforeTheirParentsAndTheProcessComesLast) {
  trace::RecordingBuilder builder;
  builder.add_thread(7);
  builder.add_event({.name = "outer", .kind = EventKind::kScope, .start_ns = 0, .duration_ns = 100});
  builder.add_event({.name = "aten::linear", .start_ns = 10, .duration_ns = 50});
  builder.add_event({.name = "aten::addmm", .start_ns = 20, .duration_ns = 10});
  builder.add_event({.name = "aten::relu", .start_ns = 70, .duration_ns = 10});
  builder.add_event({.name = "aten::sum", .start_ns = 200, .duration_ns = 10});
  EXPECT_THAT(nodes_of(written(builder.finish())), ElementsAre("thread 2<-1", "aten::addmm 5<-4", "aten::linear 4<-3", "aten::relu 6<-3",
                                                               "outer 3<-2", "aten::sum 7<-2", "process 1<-1"));
}

TEST(ChakraWriter, OnlyWhatBeganInAWindowIsThereAndItsParentIsTheNextThatIs) {
  trace::RecordingBuilder builder;
  builder.add_thread(7);
  builder.add_event({.name = "around", .kind = EventKind::kScope, .start_ns = 0, .duration_ns = 100});
  builder.add_event({.name = "in", .start_ns = 10, .duration_ns = 10});
  builder.add_event({.name = "between", .start_ns = 30, .duration_ns = 10});
  builder.add_event({.name = "in again", .start_ns = 50, .duration_ns = 10});
  const std::vector<TimeWindow> windows{{5, 25}, {45, 60}};
  EXPECT_THAT(nodes_of(written(builder.finish(), {.windows = windows})),
              ElementsAre("thread 2<-1", "in 3<-2", "in again 4<-2", "process 1<-1"));
}

TEST(ChakraWriter, AWindowWithoutEventsLeavesTheProcessAlone) {
  trace::RecordingBuilder builder;
  builder.add_thread(7);
  builder.add_event({.name = "op", .start_ns = 10, .duration_ns = 10});
  EXPECT_THAT(nodes_of(written(builder.finish(), {.windows = {{50, 60}}})), ElementsAre("process 1<-1"));
}

TEST(ChakraWriter, ModuleCallsLaunchesAndDeviceWorkAreNoNodes) {
  trace::RecordingBuilder builder;
  const auto thread = builder.add_thread(7);
  const auto stream = builder.add_stream({trace::DeviceType::kNpu, 0}, 1);
  builder.add_event({.name = "nn.Module: Linear_0", .kind = EventKind::kModule, .track = thread, .duration_ns = 100});
  builder.add_event({.name = "aten::add", .track = thread, .start_ns = 10, .duration_ns = 50});
  builder.add_event({.name = "launch", .kind = EventKind::kRuntime, .track = thread, .start_ns = 20, .duration_ns = 5, .link = 1});
  builder.add_event({.name = "kernel", .kind = EventKind::kKernel, .track = stream, .start_ns = 30, .duration_ns = 5, .link = 1});
  EXPECT_THAT(nodes_of(written(builder.finish())), ElementsAre("thread 2<-1", "aten::add 3<-2", "process 1<-1"));
}

TEST(ChakraWriter, AnAutogradNodeNamesItsForwardThreadAndWhatWasOpenThere) {
  trace::RecordingBuilder builder;
  const auto forward = builder.add_thread(7);
  const auto engine = builder.add_thread(8);
  builder.add_event({.name = "step", .kind = EventKind::kScope, .track = forward, .duration_ns = 1000});
  builder.add_event({.name = "aten::mul", .track = forward, .start_ns = 10, .duration_ns = 10, .link = trace::make_sequence_link(5)});
  builder.add_event({.name = "MulBackward0",
                     .kind = EventKind::kBackward,
                     .track = engine,
                     .start_ns = 500,
                     .duration_ns = 10,
                     .link = trace::make_sequence_link(5, 1)});
  trace::Recording recording = builder.finish();
  recording.tracks[0].number = 1;
  recording.tracks[1].number = 2;
  const std::string text = written(recording);
  EXPECT_EQ(attribute(text, "MulBackward0", "seq_id"), 5);
  EXPECT_EQ(attribute(text, "MulBackward0", "fw_tid"), 1);
  EXPECT_EQ(attribute(text, "MulBackward0", "tid"), 2);
  EXPECT_EQ(attribute(text, "MulBackward0", "scope"), 1);
  EXPECT_EQ(attribute(text, "MulBackward0", "fw_parent"), 3) << "the scope `step` was open on the forward thread";
  EXPECT_EQ(attribute(text, "step", "scope"), 7);
  EXPECT_EQ(attribute(text, "step", "seq_id"), -1);
}

// Looking through all threads for each node would be ten billion comparisons.
TEST(ChakraWriter, TheTimeDoesNotGrowWithTheProductOfThreadsAndNodes) {
  constexpr int kThreads = 500'000, kNodes = 20'000;
  trace::RecordingBuilder builder;
  builder.add_thread(1);
  for (int i = 0; i < kNodes; ++i)
    builder.add_event({.name = "MulBackward0",
                       .kind = EventKind::kBackward,
                       .start_ns = 10 * i,
                       .duration_ns = 5,
                       .link = trace::make_sequence_link(i, kThreads)});
  trace::Recording recording = builder.finish();
  for (std::uint32_t i = 2; i <= kThreads; ++i) recording.tracks.push_back({.id = i, .number = i, .first_event = kNodes});
  const std::string text = written(recording);
  EXPECT_EQ(attribute(text.substr(0, 4000), "MulBackward0", "fw_tid"), kThreads);
  EXPECT_EQ(std::count(text.begin(), text.end(), '{'), 1 + (kNodes + 2) * 13) << "the root, and in each node its values and attributes";
}

TEST(ChakraWriter, ACallWithDetailsShowsThem) {
  trace::RecordingBuilder builder;
  builder.add_thread(7);
  const auto op = builder.add_event({.name = "aten::sin", .duration_ns = 100});
  builder.add_attribute(op, trace::kCallId, std::int64_t{41});
  const trace::CallDetailsById details{
      {41,
       {.inputs = {.values = "[1,2,0,3,4,\"cpu\"]", .shapes = "[3]", .types = "\"Tensor(float)\"", .strides = "[1]"},
        .outputs = {.values = "7", .shapes = "[]", .types = "\"Int\"", .strides = "[]"},
        .schema = "aten::sin(Tensor self) -> Tensor",
        .attributes = R"({"name": "pg_name", "type": "string", "value": "0"})"}}};
  const std::string text = written(builder.finish(), {.details = &details});
  EXPECT_EQ(attribute(text, "aten::sin", "rf_id"), 41);
  EXPECT_THAT(text, testing::HasSubstr(R"("inputs": {"values": [[1,2,0,3,4,"cpu"]], "shapes": [[3]])"));
  EXPECT_THAT(text, testing::HasSubstr(R"("outputs": {"values": [7], "shapes": [[]], "types": ["Int"], "strides": [[]]})"));
  EXPECT_THAT(text, testing::HasSubstr(R"("name": "op_schema", "type": "string", "value": "aten::sin(Tensor self) -> Tensor"})"));
  EXPECT_THAT(text, testing::HasSubstr(R"(, {"name": "pg_name", "type": "string", "value": "0"}])"));
}

TEST(ChakraWriter, ProcessGroupsAreANode) {
  trace::RecordingBuilder builder;
  builder.add_thread(7);
  builder.add_event({.name = "op", .duration_ns = 100});
  const std::string text = written(builder.finish(), {.process_groups = R"([{"pg_name": "0"}])"});
  EXPECT_THAT(nodes_of(text), ElementsAre("thread 2<-1", "op 3<-2", "## process_group:init ## 5<-1", "process 1<-1"));
  EXPECT_THAT(text, testing::HasSubstr(R"("values": ["[{\"pg_name\": \"0\"}]"])"));
}

TEST(ChakraWriter, TheArgsOfAScopeAreItsInput) {
  trace::RecordingBuilder builder;
  builder.add_thread(7);
  const auto scope = builder.add_event({.name = "outer", .kind = EventKind::kScope, .duration_ns = 100});
  builder.add_attribute(scope, "args", std::string_view("hello \"args\""));
  EXPECT_THAT(written(builder.finish()),
              testing::HasSubstr(R"("inputs": {"values": ["hello \"args\""], "shapes": [[]], "types": ["String"], "strides": [[]]})"));
}

}  // namespace
}  // namespace mindtorch::exporter
