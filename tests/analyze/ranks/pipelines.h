// Pipelines made by hand for the tests of ranks: each stage receives from the one before, works, and sends to the next; gradients go back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "mindtorch/analyze/ranks/rank_summary.h"
#include "tests/analyze/ranks/jobs.h"

namespace mindtorch::analyze {

struct PipelinePlan {
  std::size_t stages = 4;
  std::int64_t steps = 6;
  std::int64_t microbatches = 4;
  bool goes_back = true;   // whether gradients are sent too
  bool sends_wait = true;  // whether a send ends when the message is received, as Gloo's does
  // For one microbatch in one direction.
  std::function<std::int64_t(std::size_t stage, std::int64_t step)> work_ns = [](auto...) { return 10 * kMs; };
  std::function<std::int64_t(std::size_t stage)> offset_ns = [](auto...) { return 0; };  // of the stage's clock
  std::int64_t transfer_ns = kMs / 10;
};

class Pipeline {
 public:
  explicit Pipeline(const PipelinePlan& plan) : plan_(plan), job_(plan.stages), now_(plan.stages, 1'700'000'000'000'000'000) {
    for (std::size_t r = 0; r < plan.stages; ++r) {
      job_[r].identity = {.rank = static_cast<std::int64_t>(r), .world_size = static_cast<std::int64_t>(plan.stages)};
      job_[r].names = {"", "send", "recv"};
      job_[r].has_step_marks = true;
    }
  }

  std::vector<RankSummary> run() {
    for (step_ = 0; step_ < plan_.steps; ++step_) {
      for (std::size_t r = 0; r < plan_.stages; ++r) job_[r].steps.push_back({.number = step_, .start_ns = now_[r] + plan_.offset_ns(r)});
      for (std::int64_t m = 0; m < plan_.microbatches; ++m) pass(false);
      for (std::int64_t m = 0; m < plan_.microbatches && plan_.goes_back; ++m) pass(true);
      for (std::size_t r = 0; r < plan_.stages; ++r)
        job_[r].steps.back().duration_ns = now_[r] + plan_.offset_ns(r) - job_[r].steps.back().start_ns;
    }
    return std::move(job_);
  }

 private:
  void pass(bool is_back) {
    for (std::size_t k = 0; k < plan_.stages; ++k) {
      const std::size_t r = is_back ? plan_.stages - 1 - k : k;
      now_[r] += plan_.work_ns(r, step_);
      if (k + 1 < plan_.stages) exchange(r, is_back ? r - 1 : r + 1);
    }
  }

  void exchange(std::size_t from, std::size_t to) {
    const std::int64_t sent = now_[from], came = now_[to], received = std::max(sent, came) + plan_.transfer_ns;
    add(from, to, CollectiveKind::kSend, sent, plan_.sends_wait ? received : sent + plan_.transfer_ns / 10);
    add(to, from, CollectiveKind::kReceive, came, received);
  }

  void add(std::size_t rank, std::size_t peer, CollectiveKind kind, std::int64_t start, std::int64_t end) {
    const std::int64_t offset = plan_.offset_ns(rank);
    job_[rank].collectives.push_back({.name = kind == CollectiveKind::kSend ? 1U : 2U,
                                      .kind = kind,
                                      .step = step_,
                                      .bytes = 4096,
                                      .peer = static_cast<std::int32_t>(peer),
                                      .tag = 0,
                                      .start_ns = start + offset,
                                      .end_ns = end + offset});
    job_[rank].steps.back().use[static_cast<std::size_t>(TimeUse::kExposed)] += end - start;
    now_[rank] = end;
  }

  const PipelinePlan& plan_;
  std::vector<RankSummary> job_;
  std::vector<std::int64_t> now_;  // of each stage
  std::int64_t step_ = 0;
};

inline std::vector<RankSummary> make_pipeline(const PipelinePlan& plan) { return Pipeline(plan).run(); }

}  // namespace mindtorch::analyze
