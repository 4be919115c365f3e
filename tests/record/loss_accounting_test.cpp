// Every policy, with every kind of side data, under budgets from tiny to ample: what was kept and what was lost add up to what was issued,
// and side data that stayed belongs to the event that it was written for.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <semaphore>
#include <thread>
#include <tuple>

#include "mindtorch/ingest/recording_file.h"
#include "mindtorch/record/input_writer.h"
#include "mindtorch/record/stack_provider.h"
#include "mindtorch/trace/inputs.h"
#include "tests/record/recorded.h"

namespace mindtorch::record {
namespace {

using trace::LossReason;
using Policy = Budget::Policy;

enum class Side { kInputs, kLongInputs, kStack, kDeepStack, kAttribute, kMemory, kMemoryTag, kEndElsewhere };
constexpr std::int64_t kMegabyte = std::int64_t{1} << 20;
constexpr std::int64_t kDuration = 5;

// Stacks of one or of many frames, each of which names the event that is being opened.
class NumberedStacks final : public StackProvider {
 public:
  NumberedStacks() { set_stack_provider(this); }
  ~NumberedStacks() override { set_stack_provider(nullptr); }
  std::size_t capture(std::uint64_t* words, std::size_t capacity) noexcept override {
    const std::size_t count = std::min(depth, capacity);
    std::fill_n(words, count, event);
    return count;
  }
  std::vector<SourcePlace> resolve(std::span<const std::uint64_t> words) override {
    return {{.file = std::to_string(words.front()), .function = "f", .line = static_cast<int>(words.size())}};
  }
  std::uint64_t event = 0;
  std::size_t depth = 1;
};

// Closes scopes on a thread of its own, one after the other.
class OtherThread {
 public:
  ~OtherThread() {
    close({});
    thread_.join();
  }
  void close(NamedScope scope) {
    const bool last = !scope.recording();
    scope_ = std::move(scope);
    stop_ = last;
    given_.release();
    done_.acquire();
  }

 private:
  void run() {
    for (;;) {
      given_.acquire();
      scope_.close();
      const bool ends = stop_;
      done_.release();
      if (ends) return;
    }
  }
  NamedScope scope_;
  bool stop_ = false;
  std::binary_semaphore given_{0}, done_{0};
  std::thread thread_{[this] { run(); }};
};

class LossAccountingTest : public RecordedTest, public testing::WithParamInterface<std::tuple<Policy, Side, std::int64_t>> {
 protected:
  void SetUp() override { path_ = testing::TempDir() + "loss_accounting_" + std::to_string(::getpid()) + ".mtrec"; }
  void TearDown() override { std::filesystem::remove(path_); }

  static Policy policy() { return std::get<0>(GetParam()); }
  static Side side() { return std::get<1>(GetParam()); }
  static bool is(Side first, Side second) { return side() == first || side() == second; }
  static int event_count() { return is(Side::kLongInputs, Side::kDeepStack) ? 4'000 : side() == Side::kEndElsewhere ? 40'000 : 70'000; }

  SessionOptions options() const {
    SessionOptions options;
    options.shapes = is(Side::kInputs, Side::kLongInputs);
    options.stacks = is(Side::kStack, Side::kDeepStack);
    options.memory = is(Side::kMemory, Side::kMemoryTag);
    options.budget = {.policy = policy(), .bytes = std::get<2>(GetParam())};
    if (policy() == Policy::kSpill) options.budget.spill_path = path_;
    return options;
  }

  // Records events whose side data holds their number.
  void issue(int event) {
    stacks_.event = static_cast<std::uint64_t>(event);
    const NameId name = intern_cached("work");
    if (side() == Side::kEndElsewhere) return end_elsewhere(name, event);
    OpScope op(name, {}, trace::make_sequence_link(event));
    if (!op.recording()) ++refused_;
    if (op.wants(kShapes)) write_inputs(op, event);
    if (side() == Side::kAttribute) add_attribute(op.slot(), intern_cached("event"), std::int64_t{event});
    if (side() == Side::kMemory) record_memory({}, this, event, 0, 0);
    if (side() == Side::kMemoryTag)
      record_memory_category(reinterpret_cast<const void*>(static_cast<std::uintptr_t>(event)), trace::MemoryCategory::kInput);
    clock_.advance(kDuration);
  }
  static void write_inputs(const OpScope& op, int event) {
    InputWriter inputs(op);
    const std::int64_t sizes[] = {2, 3, 4, 5};
    if (side() == Side::kLongInputs)
      for (int i = 0; i < 100 + event % 50; ++i) inputs.tensor(trace::ScalarType::kFloat, sizes, sizes, 4, true);
    inputs.integer(event);
  }
  void end_elsewhere(NameId name, int event) {
    NamedScope scope(name);
    if (!scope.recording()) {
      ++refused_;
      return;
    }
    clock_.advance(static_cast<std::uint64_t>(event));
    other_thread_.close(std::move(scope));
  }

  trace::Recording read_back(const trace::Recording& summary) {
    if (policy() != Policy::kSpill) return summary;
    trace::LoadResult result = ingest::load_recording(path_, {.max_memory = ingest::kUnlimitedMemory});
    EXPECT_EQ(result.damage, std::nullopt);
    EXPECT_EQ(result.recording.losses, summary.losses);
    return std::move(result.recording);
  }

  // Counts the events that kept their side data; none may have that of another event.
  static std::uint64_t events_with_own_data(const trace::Recording& recording) {
    std::uint64_t count = 0;
    for (trace::EventIndex i = 0; i < recording.events.size(); ++i) {
      if (recording.name(i) != "work") continue;
      const std::int64_t number = trace::sequence_of(recording.events.link[i]);
      if (const auto words = recording.inputs.find(i); !words.empty()) {
        EXPECT_EQ(trace::decode_inputs(words).back().integer, number);
        ++count;
      }
      if (const auto stack = recording.stacks.of_event.find(i); !stack.empty()) {
        const trace::Frame& frame = recording.stacks.frames[recording.stacks.frames_of(stack[0]).front()];
        EXPECT_EQ(recording.names[frame.file], std::to_string(number));
        ++count;
      }
      if (const auto attributes = recording.attributes.find(i); !attributes.empty()) {
        EXPECT_EQ(attributes[0].bits, number);
        ++count;
      }
      if ((recording.events.flags[i] & trace::kAsync) != 0) {
        // The clock stands still between two scopes.
        EXPECT_TRUE(i + 1 == recording.events.size() || recording.events.start_ns[i + 1] == recording.events.end_ns(i));
        ++count;
      }
    }
    return count;
  }

  NumberedStacks stacks_;
  OtherThread other_thread_;
  std::string path_;
  std::uint64_t refused_ = 0;
};

TEST_P(LossAccountingTest, WhatWasKeptAndWhatWasLostAddUpToWhatWasIssued) {
  stacks_.depth = side() == Side::kDeepStack ? 400 : 1;
  const auto issued = static_cast<std::uint64_t>(event_count());
  auto session = started(options());
  for (int event = 1; event <= event_count(); ++event) issue(event);
  const trace::Recording recording = read_back(stopped(*session));

  const auto kept = static_cast<std::uint64_t>(name_counts(recording)["work"]);
  EXPECT_EQ(kept + lost(recording, LossReason::kBudget) + lost(recording, LossReason::kOverwritten), issued);
  EXPECT_EQ(lost(recording, LossReason::kBudget), refused_);
  EXPECT_EQ(lost(recording, LossReason::kUnfinished), 0u);
  EXPECT_EQ(lost(recording, LossReason::kSpillFailed), 0u);
  EXPECT_TRUE(policy() != Policy::kSpill || kept == issued);

  const std::uint64_t side_lost = lost(recording, LossReason::kSideData);
  if (side() == Side::kMemory)
    EXPECT_EQ(recording.memory.size() + side_lost, issued);
  else if (side() == Side::kMemoryTag)
    EXPECT_EQ(recording.memory_tags.size() + side_lost, issued);
  else
    EXPECT_EQ(events_with_own_data(recording) + side_lost, kept);
}

std::string name_of(const testing::TestParamInfo<LossAccountingTest::ParamType>& info) {
  static constexpr const char* kPolicies[] = {"Grow", "KeepLast", "Spill"};
  static constexpr const char* kSides[] = {"Inputs",    "LongInputs", "Stack",     "DeepStack",
                                           "Attribute", "Memory",     "MemoryTag", "EndElsewhere"};
  return std::string(kPolicies[static_cast<int>(std::get<0>(info.param))]) + kSides[static_cast<int>(std::get<1>(info.param))] +
         std::to_string(std::get<2>(info.param) / kMegabyte) + "MiB";
}

INSTANTIATE_TEST_SUITE_P(Budgets, LossAccountingTest,
                         testing::Combine(testing::Values(Policy::kGrow, Policy::kKeepLast, Policy::kSpill),
                                          testing::Values(Side::kInputs, Side::kLongInputs, Side::kStack, Side::kDeepStack,
                                                          Side::kAttribute, Side::kMemory, Side::kMemoryTag, Side::kEndElsewhere),
                                          testing::Values(kMegabyte, 2 * kMegabyte, 3 * kMegabyte + 12'345, 256 * kMegabyte)),
                         name_of);

}  // namespace
}  // namespace mindtorch::record
