// Rules: each is one function that claims time of the ledger and explains it, and one row of the table in findings.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/processors.h"
#include "mindtorch/analyze/replay/predictions.h"
#include "mindtorch/analyze/report/findings.h"
#include "mindtorch/analyze/report/ledger.h"
#include "mindtorch/base/text.h"

namespace mindtorch::analyze {

// The thresholds of all rules. Shares are of the time of a step.
struct Thresholds {
  static constexpr double kWorthTelling = 0.05;
  static constexpr double kSlowFunction = 0.1;
  static constexpr double kMuch = 0.1;
  static constexpr double kVeryMuch = 0.3;
  static constexpr double kMostOfAStep = 0.5;
  static constexpr double kIdleBetweenKernels = 0.3;
  static constexpr std::int64_t kSmallKernelNs = 10'000;
  static constexpr double kManyKernels = 50;           // per step
  static constexpr double kManyOptimizerOps = 50;      // per step
  static constexpr double kManyElementAccesses = 200;  // per step
  static constexpr double kGrowsInAPart = 1.05;        // times, from one quarter of the steps to the next
  static constexpr double kSlowStep = 1.5;             // times the mean of the usual ones
  static constexpr std::size_t kStepsToCompare = 8;
  static constexpr std::int64_t kLeakBytes = 4096;           // per step
  static constexpr std::int64_t kLeakOfProcess = 256 << 10;  // per step; less is noise of allocators
  static constexpr double kInTime = 0.75;                    // of the loop's time for a batch: workers that need no more keep up
  static constexpr double kManySmallCalls = 100;             // of one op, per step
  static constexpr std::int64_t kSmallCallNs = 40'000;       // of which calling it is a large part
};

// "train.py:main", whatever line of it runs: functions of one name in one file are one.
std::string function_of(const Place& place);
std::string time_text(std::int64_t ns);
std::string percent_text(double share);

// What rules look at, and how they claim time.
class Judge {
 public:
  Judge(const Analysis& of, const Phases& its_phases, const WorkTables& its_tables, Ledger& its_ledger)
      : analysis(of),
        phases(its_phases),
        tables(its_tables),
        ledger(its_ledger),
        attribution(its_phases.attribution()),
        processors(processors_of(of.recording())) {}

  using IsMeant = std::function<bool(const Cell&)>;
  // Time that no finding has claimed yet.
  Claim free(const IsMeant& is_meant, std::int64_t most = INT64_MAX) const { return ledger.free(is_meant, most); }
  bool is_worth_telling(const Claim& claim) const { return claim.ns > 0 && ledger.share(claim.ns) >= Thresholds::kWorthTelling; }
  // A finding that takes the claim. Its lines and ops are those of the claim with most time.
  Finding finding(std::string_view id, std::string title, const Claim& claim) const;
  // The same if the claim is worth telling. `where` completes the sentence of its evidence: "12 ms of each step (30 %) pass in ...".
  std::optional<Finding> worth(std::string_view id, std::string title, const IsMeant& is_meant, std::string_view where) const;
  // "12.000ms of each step (30 %) pass in `where`"
  std::string passes_in(const Claim& claim, std::string_view where) const;

  const Place& place(const Cell& cell) const { return attribution.place(cell.place); }
  std::string_view name(const Cell& cell) const { return cell.name == EventNames::kHidden ? "" : analysis.names().text(cell.name); }
  std::string_view unit() const { return phases.has_steps() ? "step" : "recording"; }
  // How often events that are meant begin in a judged step, on average.
  double count_per_step(const std::function<bool(EventIndex)>& is_meant) const;
  // The least share of a step that a wait for another thread or process must have to be the program's, and not that of a busy machine.
  double least_wait() const { return processors.are_busy() ? Thresholds::kMostOfAStep : Thresholds::kWorthTelling; }
  // The lines in which the thread was seen while these events ran, most time first.
  std::vector<std::string> lines_in(const std::vector<EventIndex>& events, std::size_t limit) const;
  // The lines with most time in the function with most time, then those of the next one.
  std::vector<std::string> lines_of_claim(const Claim& claim, std::size_t limit) const;
  // The largest of the texts that `text` gives for the cells of a claim, by time; empty texts do not count.
  std::vector<std::string> largest(const Claim& claim, const std::function<std::string(const Cell&)>& text, std::size_t limit) const;

  const Analysis& analysis;
  const Phases& phases;
  const WorkTables& tables;
  Ledger& ledger;
  const Attribution& attribution;
  const Processors processors;
  mutable Claim last_claim;  // of the last finding
};

struct Rule {
  std::string_view id;
  std::optional<Finding> (*find)(const Judge& judge);
  Remedy remedy;  // how the remedy changes what the finding claims
};

// host_rules.cpp: waiting, loading and Python
std::optional<Finding> garbage_collection(const Judge& judge);
std::optional<Finding> waiting_for_gil(const Judge& judge);
std::optional<Finding> waiting_for_data(const Judge& judge);
std::optional<Finding> compiling_in_steps(const Judge& judge);
std::optional<Finding> checkpoints(const Judge& judge);
std::optional<Finding> logging(const Judge& judge);
std::optional<Finding> sleeping(const Judge& judge);
std::optional<Finding> waiting_for_lock(const Judge& judge);
std::optional<Finding> waiting_for_thread(const Judge& judge);
std::optional<Finding> files_and_network(const Judge& judge);
std::optional<Finding> not_running(const Judge& judge);
std::optional<Finding> exposed_collectives(const Judge& judge);
std::optional<Finding> slow_python(const Judge& judge);
std::optional<Finding> python_between_ops(const Judge& judge);
// op_rules.cpp: what ops are called, how often, and with what
std::optional<Finding> unfused_optimizer(const Judge& judge);
std::optional<Finding> zeroed_gradients(const Judge& judge);
std::optional<Finding> float64_ops(const Judge& judge);
std::optional<Finding> element_accesses(const Judge& judge);
// model_rules.cpp: how a model is built and called
std::optional<Finding> anomaly_detection(const Judge& judge);
std::optional<Finding> dense_embedding_gradients(const Judge& judge);
std::optional<Finding> math_attention(const Judge& judge);
std::optional<Finding> recomputation(const Judge& judge);
std::optional<Finding> unused_graphs(const Judge& judge);
std::optional<Finding> deep_copies(const Judge& judge);
std::optional<Finding> converted_layouts(const Judge& judge);
std::optional<Finding> elementwise_chains(const Judge& judge);
std::optional<Finding> small_calls(const Judge& judge);
// copy_rules.cpp
std::optional<Finding> unneeded_copies(const Judge& judge);
// device_rules.cpp: devices and the work on them
std::optional<Finding> synchronising_calls(const Judge& judge);
std::optional<Finding> pageable_copies(const Judge& judge);
std::optional<Finding> float32_matmuls(const Judge& judge);
std::optional<Finding> tiny_kernels(const Judge& judge);
std::optional<Finding> idle_device(const Judge& judge);
std::optional<Finding> device_allocations(const Judge& judge);
// step_rules.cpp: steps beside each other
std::optional<Finding> uneven_steps(const Judge& judge);
std::optional<Finding> slowing_steps(const Judge& judge);
std::optional<Finding> time_between_steps(const Judge& judge);
std::optional<Finding> growing_memory(const Judge& judge);

}  // namespace mindtorch::analyze
