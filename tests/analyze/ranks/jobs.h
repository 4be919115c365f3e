// Jobs made by hand for the tests of ranks: ranks that work, meet in a collective, and go on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "mindtorch/analyze/ranks/rank_summary.h"

namespace mindtorch::analyze {

inline constexpr std::int64_t kMs = 1'000'000;

struct JobPlan {
  std::size_t ranks = 4;
  std::int64_t steps = 10;
  std::int64_t collectives_per_step = 2;
  // How long a rank works before a collective of a step.
  std::function<std::int64_t(std::size_t rank, std::int64_t step, std::int64_t place)> work_ns = [](auto...) { return 10 * kMs; };
  std::function<std::int64_t(std::size_t rank, std::int64_t step)> offset_ns = [](auto...) { return 0; };  // of the rank's clock
  // From the entry of the last rank to the moment at which a rank leaves.
  std::function<std::int64_t(std::size_t rank, std::int64_t step)> transfer_ns = [](auto...) { return kMs / 10; };
  std::function<std::string(std::size_t rank)> group = [](auto...) { return ""; };
};

// Every rank has rows of work "aten::mm" with all of its work but what `slow` adds, and "slow" with the rest above 10 ms.
inline std::vector<RankSummary> make_job(const JobPlan& plan) {
  std::vector<RankSummary> job(plan.ranks);
  std::vector<std::int64_t> now(plan.ranks, 1'700'000'000'000'000'000);
  for (std::size_t r = 0; r < plan.ranks; ++r) {
    job[r].identity = {.rank = static_cast<std::int64_t>(r), .world_size = static_cast<std::int64_t>(plan.ranks), .host = "node"};
    job[r].file = "rank" + std::to_string(r) + ".mtrec";
    job[r].names = {"", "all_reduce", plan.group(r)};
    job[r].start_ns = now[r] + plan.offset_ns(r, 0);
    job[r].has_step_marks = true;
    job[r].work = {{"aten::mm", RankWork::Kind::kOp, {}}, {"slow", RankWork::Kind::kScope, {}}};
  }
  for (std::int64_t step = 0; step < plan.steps; ++step) {
    const std::vector<std::int64_t> began = now;
    std::vector<std::int64_t> exposed(plan.ranks, 0);
    for (std::size_t r = 0; r < plan.ranks; ++r)
      for (RankWork& row : job[r].work) row.seconds.push_back(0);
    for (std::int64_t place = 0; place < plan.collectives_per_step; ++place) {
      std::vector<std::int64_t> entered(plan.ranks);
      for (std::size_t r = 0; r < plan.ranks; ++r) {
        const std::int64_t work = plan.work_ns(r, step, place), usual = std::min(work, 10 * kMs);
        entered[r] = now[r] + work;
        job[r].work[0].seconds.back() += static_cast<float>(static_cast<double>(usual) * 1e-9);
        job[r].work[1].seconds.back() += static_cast<float>(static_cast<double>(work - usual) * 1e-9);
      }
      const std::int64_t last = std::ranges::max(entered);
      for (std::size_t r = 0; r < plan.ranks; ++r) {
        now[r] = last + plan.transfer_ns(r, step);
        exposed[r] += now[r] - entered[r];
        job[r].collectives.push_back({.name = 1,
                                      .group = 2,
                                      .kind = CollectiveKind::kAllReduce,
                                      .step = step,
                                      .bytes = 4096,
                                      .start_ns = entered[r] + plan.offset_ns(r, step),
                                      .end_ns = now[r] + plan.offset_ns(r, step)});
      }
    }
    for (std::size_t r = 0; r < plan.ranks; ++r) {
      job[r].steps.push_back({.number = step, .start_ns = began[r] + plan.offset_ns(r, step), .duration_ns = now[r] - began[r]});
      job[r].steps.back().use[static_cast<std::size_t>(TimeUse::kExposed)] = exposed[r];
      job[r].end_ns = now[r] + plan.offset_ns(r, step);
    }
  }
  return job;
}

}  // namespace mindtorch::analyze
