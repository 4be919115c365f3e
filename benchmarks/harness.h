// How benchmarks compare: our code and its peer (or its floor) take turns in one run, so that both run under the same conditions. Medians
// are reported, so that a disturbed round does not count.
//
//   using namespace mindtorch::benchmarks;
//   const Comparison c = compare([] { return ns_per_op(1'000'000, ours); }, [] { return ns_per_op(1'000'000, floor); });
//   print_result({.name = "record/scope_pair", .ours = c.ours, .peer = "floor", .peer_value = c.peer, .ratio = c.ratio, .unit = "ns"});
#pragma once

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/base/text.h"

namespace mindtorch::benchmarks {

// The compiler must compute `value` and may not keep memory cached across the call.
template <class T>
inline void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// Nanoseconds of one call of `op`, out of `count` calls in a row.
template <class Op>
double ns_per_op(std::int64_t count, Op&& op) {
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < count; ++i) op();
  const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
  return elapsed.count() / static_cast<double>(count);
}

// As ns_per_op(), but in CPU time of the thread. It suits work that never waits, on machines that also do other work.
template <class Op>
double cpu_ns_per_op(std::int64_t count, Op&& op) {
  const auto now = [] {
    timespec time;
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
  };
  const double start = now();
  for (std::int64_t i = 0; i < count; ++i) op();
  return (now() - start) / static_cast<double>(count);
}

// One round of one alternative: does its work and returns a measure of it, such as ns per op.
using Alternative = std::function<double()>;

// rounds[r][a] is what alternative a returned in round r. A round runs each alternative once, starting with another one each time; one
// round before the first is thrown away.
inline std::vector<std::vector<double>> run_rounds(const std::vector<Alternative>& alternatives, int rounds) {
  std::vector<std::vector<double>> results;
  for (int round = -1; round < rounds; ++round) {
    std::vector<double> result(alternatives.size());
    for (std::size_t turn = 0; turn < alternatives.size(); ++turn) {
      const std::size_t a = (turn + static_cast<std::size_t>(round + 1)) % alternatives.size();
      result[a] = alternatives[a]();
    }
    if (round >= 0) results.push_back(std::move(result));
  }
  return results;
}

struct Comparison {
  double ours = 0;   // median
  double peer = 0;   // median
  double ratio = 0;  // median of ours/peer of each round: steadier than the ratio of the medians
};

// Compares two alternatives by their rounds.
inline Comparison comparison_of(const std::vector<std::vector<double>>& rounds, std::size_t ours, std::size_t peer) {
  std::vector<double> our_values, peer_values, ratios;
  for (const std::vector<double>& round : rounds) {
    our_values.push_back(round[ours]);
    peer_values.push_back(round[peer]);
    ratios.push_back(round[ours] / round[peer]);
  }
  return {median(our_values), median(peer_values), median(ratios)};
}

inline Comparison compare(const Alternative& ours, const Alternative& peer, int rounds = 15) {
  return comparison_of(run_rounds({ours, peer}, rounds), 0, 1);
}

// One line of output. Without a peer, `ours` stands alone.
struct Result {
  std::string_view name;
  double ours = 0;
  std::string_view peer = "";
  std::optional<double> peer_value = std::nullopt;
  std::optional<double> ratio = std::nullopt;  // computed from ours and peer_value where it is not given
  std::string_view unit = "";
  std::string note = "";
};

inline void print_result(Result result) {
  const auto number = [](std::optional<double> value) { return value ? fmt::format("{:.6g}", *value) : "null"; };
  if (!result.ratio && result.peer_value) result.ratio = result.ours / *result.peer_value;
  fmt::print("{{\"name\": {}, \"ours\": {}, \"peer\": {}, \"peer_value\": {}, \"ratio\": {}, \"unit\": {}, \"note\": {}}}\n",
             json_quoted(result.name), number(result.ours), result.peer.empty() ? "null" : json_quoted(result.peer),
             number(result.peer_value), number(result.ratio), json_quoted(result.unit), json_quoted(result.note));
  std::fflush(stdout);
}

}  // namespace mindtorch::benchmarks
