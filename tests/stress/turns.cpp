// Turns, and the look at what was recorded of them.
#include "tests/stress/turns.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>

#include "mindtorch/record/hooks.h"
#include "mindtorch/record/input_writer.h"
#include "mindtorch/record/stack_provider.h"
#include "mindtorch/trace/inputs.h"

namespace mindtorch::stress {
namespace {

constexpr std::string_view kScopePrefix = "scope ";
constexpr std::string_view kOpName = "op of a turn";
constexpr std::string_view kStackPrefix = "turn ";

thread_local std::int64_t running_turn = 0;

class TurnStacks : public record::StackProvider {
 public:
  std::size_t capture(std::uint64_t* words, std::size_t capacity) noexcept override {
    if (capacity < 2) return 0;
    words[0] = static_cast<std::uint64_t>(running_turn);
    words[1] = kSizes;  // an outer frame that all stacks share
    return 2;
  }
  std::vector<record::SourcePlace> resolve(std::span<const std::uint64_t> words) override {
    std::vector<record::SourcePlace> places;
    for (const std::uint64_t word : words) places.push_back({"turns.cpp", fmt::format("{}{}", kStackPrefix, word), 1});
    return places;
  }
};

// The number of a scope's name; nothing if it is not a turn's.
std::optional<std::int64_t> turn_of(std::string_view name) {
  if (!name.starts_with(kScopePrefix)) return std::nullopt;
  std::int64_t number = 0;
  const std::string_view digits = name.substr(kScopePrefix.size());
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() ? std::optional(number) : std::nullopt;
}

class Examiner {
 public:
  explicit Examiner(const trace::Recording& recording) : recording_(recording) {}

  Found examine() {
    for (const trace::Track& track : recording_.tracks) {
      std::optional<std::int64_t> turn;
      std::int64_t turn_end = 0;
      for (trace::EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
        if (const auto scope = turn_of(recording_.name(i))) {
          turn = scope;
          turn_end = recording_.events.end_ns(i);
          ++found_.scopes;
          look_at_stack(i, *turn);
        } else if (recording_.name(i) == kOpName) {
          ++found_.ops;
          // An op whose scope was overwritten or refused cannot be compared with it.
          look_at_op(i, turn && recording_.events.end_ns(i) <= turn_end ? turn : std::nullopt);
        } else if (recording_.events.kind[i] != trace::EventKind::kOverhead) {
          ++found_.others;
        }
      }
    }
    found_.side_data += recording_.memory.size();
    count_losses();
    return found_;
  }

 private:
  void look_at_op(trace::EventIndex i, std::optional<std::int64_t> turn) {
    const auto row = recording_.inputs.find(i);
    if (!row.empty()) {
      ++found_.side_data;
      const std::vector<trace::Input> inputs = trace::decode_inputs(row);
      const bool right = inputs.size() == 1 && inputs[0].sizes.size() == 1 && (!turn || inputs[0].sizes[0] == *turn + 1);
      if (!right) complain(i, turn, "arguments");
    }
    const auto attributes = recording_.attributes.find(i);
    found_.side_data += attributes.size();
    if (!attributes.empty() && (attributes.size() != 1 || (turn && attributes[0].bits != *turn))) complain(i, turn, "an attribute");
    look_at_stack(i, turn);
  }

  void look_at_stack(trace::EventIndex i, std::optional<std::int64_t> turn) {
    const auto stack = recording_.stacks.of_event.find(i);
    if (stack.empty()) return;
    ++found_.side_data;
    const auto frames = recording_.stacks.frames_of(stack[0]);
    const auto function = [&](std::size_t at) -> std::string_view {
      return recording_.names[recording_.stacks.frames[frames[at]].function];
    };
    const bool right = frames.size() == 2 && (!turn || function(0) == fmt::format("{}{}", kStackPrefix, *turn));
    if (!right) complain(i, turn, "a stack");
  }

  void complain(trace::EventIndex i, std::optional<std::int64_t> turn, std::string_view what) {
    if (found_.wrong.empty()) found_.wrong = fmt::format("event {} of turn {} has {} of another event", i, turn.value_or(-1), what);
  }

  void count_losses() {
    for (const trace::Loss& loss : recording_.losses) {
      if (loss.reason == trace::LossReason::kSideData)
        found_.missing_side_data += loss.count;
      else if (loss.reason != trace::LossReason::kUnfinished)
        found_.missing_events += loss.count;
    }
  }

  const trace::Recording& recording_;
  Found found_;
};

}  // namespace

void make_turn(std::int64_t number) {
  const std::int64_t size = number % kSizes + 1;
  static const std::array<record::NameId, kSizes> names = [] {
    std::array<record::NameId, kSizes> made{};
    for (std::size_t k = 0; k < made.size(); ++k) made[k] = record::intern(fmt::format("{}{}", kScopePrefix, k));
    return made;
  }();
  static const record::NameId op_name = record::intern(kOpName), key = record::intern("number");
  running_turn = size - 1;
  record::NamedScope scope(names[static_cast<std::size_t>(size - 1)]);
  record::OpScope op(op_name);
  if (op.wants(record::kShapes)) {
    record::InputWriter inputs(op);
    inputs.tensor(trace::ScalarType::kFloat, &size, &size, 1, true);
  }
  if (op.recording()) record::add_attribute(op.slot(), key, size - 1);
  record::record_memory({}, &op, size, size, size);
}

void make_turns(std::int64_t count) {
  for (std::int64_t number = 0; number < count; ++number) make_turn(number);
}

void install_stacks() {
  static TurnStacks stacks;
  record::set_stack_provider(&stacks);
}

Found examine(const trace::Recording& recording) { return Examiner(recording).examine(); }

std::uint64_t side_data_issued(const Found& found, const trace::RecordedOptions& options, std::uint64_t turns) {
  std::uint64_t issued = found.ops;  // an attribute each
  if (options.shapes) issued += found.ops;
  if (options.stacks) issued += found.ops + found.scopes;
  if (options.memory) issued += turns;
  return issued;
}

}  // namespace mindtorch::stress
