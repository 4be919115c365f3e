// Programs captured on an H200, replayed by the double of libcupti: the source reports what torch.profiler reported of them.
#include <simdjson.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <tuple>

#include "tests/sources/cupti_fixture.h"

namespace mindtorch::sources {
namespace {

using trace::EventIndex;
using trace::EventKind;
using trace::Recording;

// All that identifies an activity on the device, besides its time and stream.
struct Activity {
  std::string category;
  std::string name;
  std::string grid;
  std::string block;
  std::int64_t bytes = 0;
  std::int64_t registers = 0;
  std::int64_t shared_memory = 0;
  friend auto operator<=>(const Activity&, const Activity&) = default;
  friend void PrintTo(const Activity& activity, std::ostream* out) {
    *out << activity.category << " " << activity.name << " grid " << activity.grid << " block " << activity.block << " bytes "
         << activity.bytes << " registers " << activity.registers << " shared memory " << activity.shared_memory;
  }
};
using Activities = std::map<Activity, std::int64_t>;

std::string data(const std::string& name) { return std::string(CUPTI_DOUBLE_DATA) + "/" + name; }

std::string triple(simdjson::dom::element entry, const char* key) {
  simdjson::dom::array values;
  if (entry[key].get(values) != simdjson::SUCCESS) return "";
  std::string text;
  for (const simdjson::dom::element value : values) text += (text.empty() ? "[" : ", ") + std::to_string(value.get_int64().value());
  return text + "]";
}

Activities torch_activities(const std::string& workload) {
  simdjson::dom::parser parser;
  Activities all;
  for (const simdjson::dom::element entry : parser.load(data(workload + ".json")).get_array()) {
    const auto number = [&](const char* key) {
      std::int64_t value = 0;
      return entry[key].get(value) == simdjson::SUCCESS ? value : 0;
    };
    Activity activity{.category = std::string(entry["category"].get_string().value()),
                      .name = std::string(entry["name"].get_string().value())};
    activity.grid = triple(entry, "grid");
    activity.block = triple(entry, "block");
    activity.bytes = number("bytes");
    activity.registers = number("registers per thread");
    activity.shared_memory = number("shared memory");
    all[activity] += number("count");
  }
  return all;
}

class CuptiCapturesTest : public CuptiTest, public testing::WithParamInterface<std::tuple<std::string, CuptiRecords>> {
 protected:
  // The files hold records of calls, and no callbacks.
  CuptiCapturesTest() : CuptiTest(std::get<CuptiRecords>(GetParam())) { ::setenv("MINDTORCH_CUPTI_RECORDS", "calls", 1); }
  static const std::string& workload() { return std::get<std::string>(GetParam()); }

  static constexpr std::int64_t kLongerThanAnyCapture = 1'000'000'000;

  // The captured program ran for longer than this test does, so the library's clock is put forward while it "runs".
  Recording replay() {
    return record([] {
      cupti_double_set_clock(kLongerThanAnyCapture, 0);
      const auto now = std::chrono::system_clock::now().time_since_epoch() + std::chrono::nanoseconds(kLongerThanAnyCapture);
      const auto now_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
      const auto this_thread = static_cast<std::uint32_t>(::syscall(SYS_gettid));
      record::OpScope op(record::intern("replayed"));
      ASSERT_GT(cupti_double_replay(data(workload() + ".cupti.zst").c_str(), now_ns, this_thread), 0);
    });
  }

  static Activities activities_of(const Recording& recording) {
    Activities all;
    for (EventIndex event = 0; event < recording.events.size(); ++event) {
      const EventKind kind = recording.events.kind[event];
      if (kind != EventKind::kKernel && kind != EventKind::kMemcpy && kind != EventKind::kMemset) continue;
      Activity activity{.category = kind == EventKind::kKernel ? "kernel" : kind == EventKind::kMemcpy ? "gpu_memcpy" : "gpu_memset"};
      activity.name = recording.name(event);
      activity.grid = text_of(recording, event, "grid");
      activity.block = text_of(recording, event, "block");
      for (const trace::Attribute& attribute : recording.attributes.find(event)) {
        const std::string_view key = recording.names[attribute.key];
        if (key == "bytes") activity.bytes = attribute.bits;
        if (key == "registers per thread") activity.registers = attribute.bits;
        if (key == "shared memory") activity.shared_memory = attribute.bits;
      }
      ++all[activity];
    }
    return all;
  }
};

TEST_P(CuptiCapturesTest, TheSourceReportsTheActivitiesThatTorchReported) {
  const Recording recording = replay();
  const Activities ours = activities_of(recording);
  const Activities theirs = torch_activities(workload());
  ASSERT_FALSE(theirs.empty());
  for (const auto& [activity, count] : theirs)
    EXPECT_EQ(ours.contains(activity) ? ours.at(activity) : 0, count) << testing::PrintToString(activity);
  for (const auto& [activity, count] : ours) EXPECT_TRUE(theirs.contains(activity)) << testing::PrintToString(activity);
}

TEST_P(CuptiCapturesTest, EveryLaunchHasItsRecordsAndEveryRecordItsLaunch) {
  const Recording recording = replay();
  EXPECT_THAT(recording.losses, testing::IsEmpty()) << loss_text(recording);
  std::set<std::uint64_t> calls;
  for (const EventKind kind : {EventKind::kRuntime, EventKind::kDriver})
    for (const EventIndex call : events_of(recording, kind)) calls.insert(recording.events.link[call]);
  for (const EventKind kind : {EventKind::kKernel, EventKind::kMemcpy, EventKind::kMemset})
    for (const EventIndex event : events_of(recording, kind)) EXPECT_TRUE(calls.contains(recording.events.link[event]));
}

TEST_P(CuptiCapturesTest, NoiseAmongTheCallsIsLeftOut) {
  const Recording recording = replay();
  const auto names = names_of(recording, EventKind::kRuntime);
  EXPECT_TRUE(names.contains("cudaLaunchKernel"));
  EXPECT_FALSE(names.contains("cudaGetDevice"));
  EXPECT_FALSE(names.contains("cudaGetLastError"));
  EXPECT_FALSE(names_of(recording, EventKind::kDriver).contains("cuDevicePrimaryCtxGetState"));
}

TEST_P(CuptiCapturesTest, EveryNodeOfAGraphHasTheOpThatCapturedIt) {
  const Recording recording = replay();
  std::size_t nodes = 0;
  for (const EventKind kind : {EventKind::kKernel, EventKind::kMemcpy, EventKind::kMemset}) {
    for (const EventIndex event : events_of(recording, kind)) {
      const std::string op = text_of(recording, event, "captured by");
      if (op.empty()) continue;
      ++nodes;
      EXPECT_EQ(op, "replayed");
    }
  }
  EXPECT_EQ(nodes, workload() == "cuda_graph" ? 250u : 0u);
}

// CUPTI 13.3 does not switch off single calls where records are user-defined.
const CuptiRecords kUserDefinedRecordsOfAllCalls{"UserDefined133", 130300, {}};

INSTANTIATE_TEST_SUITE_P(Captured, CuptiCapturesTest,
                         testing::Combine(testing::Values("mlp", "cnn_amp", "transformer_sdpa", "two_streams", "cuda_graph"),
                                          testing::Values(kClassicRecords, kUserDefinedRecords, kUserDefinedRecordsOfAllCalls)),
                         [](const auto& each) { return std::get<0>(each.param) + "_" + std::get<1>(each.param).name; });

}  // namespace
}  // namespace mindtorch::sources
