// Turns: events whose number, order and side data are known beforehand, and the look at a recording that finds out whether they are right.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "mindtorch/trace/recording.h"

namespace mindtorch::stress {

// One turn is a scope "scope K" and in it an op that takes a tensor of K + 1 elements, has an attribute K, the stack "turn K", and reports
// K + 1 bytes of memory; K is the number of the turn modulo kSizes.
inline constexpr std::int64_t kSizes = 50;
inline constexpr std::uint64_t kEventsPerTurn = 2;

void make_turn(std::int64_t number);
void make_turns(std::int64_t count);

// Installs a provider whose stacks say which turn runs on the calling thread. It stays for the life of the process.
void install_stacks();

// What a recording holds of turns.
struct Found {
  std::uint64_t scopes = 0;
  std::uint64_t ops = 0;
  std::uint64_t others = 0;     // events of the profiler itself are not counted
  std::uint64_t side_data = 0;  // rows of arguments, attributes, stacks, memory reports
  std::uint64_t missing_events = 0;
  std::uint64_t missing_side_data = 0;
  std::string wrong;  // describes the first side data that belongs to another event

  std::uint64_t events() const { return scopes + ops + others; }
};
Found examine(const trace::Recording& recording);

// How much side data was issued with the events of `found`, and in memory reports of `turns` turns: it is there or counted as lost.
std::uint64_t side_data_issued(const Found& found, const trace::RecordedOptions& options, std::uint64_t turns);

}  // namespace mindtorch::stress
