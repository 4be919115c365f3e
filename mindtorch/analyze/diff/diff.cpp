// Diff: rows of two runs matched by key, compared, and named.
#include "mindtorch/analyze/diff/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <type_traits>

namespace mindtorch::analyze {
namespace {

double mean_of(const std::vector<double>& values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The steps without the tenth that is slowest and the tenth that is fastest. Their means add up as those of all steps do, and other
// programs on the machine, garbage collections and the like do not hide what changed in each step.
std::vector<std::size_t> usual_steps(const std::vector<double>& durations) {
  std::vector<std::size_t> steps(durations.size());
  std::iota(steps.begin(), steps.end(), std::size_t{0});
  std::ranges::stable_sort(steps, {}, [&](std::size_t step) { return durations[step]; });
  const auto tenth = static_cast<std::ptrdiff_t>(steps.size() / 10);
  return {steps.begin() + tenth, steps.end() - tenth};
}

double mean_of(const std::vector<double>& values, const std::vector<std::size_t>& steps) {
  double sum = 0;
  for (const std::size_t step : steps) sum += values[step];
  return steps.empty() ? 0 : sum / static_cast<double>(steps.size());
}

// Values of work that a run does not have.
std::vector<double> zeros(const StepProfile& profile) { return std::vector<double>(profile.step_time.size(), 0.0); }

class RowMatching {
 public:
  RowMatching(const StepProfile& before, const StepProfile& after, double confidence) : before_(before), after_(after) {
    diff_.confidence = confidence;
    diff_.steps_before = before.step_time;
    diff_.steps_after = after.step_time;
    diff_.has_steps = before.has_steps && after.has_steps;
    if (before.unit == after.unit) diff_.unit = after.unit;
    diff_.step_time = compare_runs(before.step_time, after.step_time, 1 - confidence);
    diff_.device_time = compare_runs(before.device_time, after.device_time, 1 - confidence);
  }

  Diff finish() {
    match_keys();
    match_unmatched();
    const std::size_t rows = pairs_.size() + gone_.size() + new_.size();
    error_ = (1 - diff_.confidence) / static_cast<double>(std::max<std::size_t>(1, rows));
    for (const Pair& pair : pairs_) add(pair);
    for (const WorkRow* row : gone_) add({row, nullptr, WorkChange::kGone});
    for (const WorkRow* row : new_) add({nullptr, row, WorkChange::kNew});
    add_parts();
    std::ranges::stable_sort(diff_.rows, std::ranges::greater(), [](const DiffRow& row) { return std::abs(row.time.change); });
    return std::move(diff_);
  }

 private:
  struct Pair {
    const WorkRow* before;
    const WorkRow* after;
    WorkChange change = WorkChange::kNone;
  };

  void match_keys() {
    auto a = before_.rows.begin();
    auto b = after_.rows.begin();
    while (a != before_.rows.end() || b != after_.rows.end()) {
      if (b == after_.rows.end() || (a != before_.rows.end() && a->key < b->key)) {
        gone_.push_back(&*a++);
      } else if (a == before_.rows.end() || b->key < a->key) {
        new_.push_back(&*b++);
      } else {
        pairs_.push_back({&*a++, &*b++});
      }
    }
  }

  // Work that is gone and work that is new may be the same work: on another device, or under another name. A name is taken for another one
  // only where nothing else fits.
  void match_unmatched() {
    match_by(WorkChange::kMoved, [](const WorkRow& row) { return std::tie(row.key.name, row.key.shapes, row.key.module); });
    match_by(WorkChange::kRenamed, [](const WorkRow& row) {
      return std::tuple<const trace::DeviceType&, const std::string&, const std::string&, const std::string&, double>(
          row.key.timeline, row.key.shapes, row.key.module, row.parent, mean_of(row.calls));
    });
  }

  // Pairs rows that are the only ones with their identity on both sides. Where several could fit, none is taken.
  template <class IdentityOf>
  void match_by(WorkChange change, IdentityOf identity_of) {
    struct Fitting {
      std::vector<const WorkRow*> gone, fresh;
      bool is_pair() const { return gone.size() == 1 && fresh.size() == 1; }
    };
    std::map<std::invoke_result_t<IdentityOf, const WorkRow&>, Fitting> by_identity;
    for (const WorkRow* row : gone_) by_identity[identity_of(*row)].gone.push_back(row);
    for (const WorkRow* row : new_) by_identity[identity_of(*row)].fresh.push_back(row);
    for (const auto& [identity, fitting] : by_identity)
      if (fitting.is_pair()) pairs_.push_back({fitting.gone.front(), fitting.fresh.front(), change});
    const auto is_paired = [&](const WorkRow* row) { return by_identity.at(identity_of(*row)).is_pair(); };
    std::erase_if(gone_, is_paired);
    std::erase_if(new_, is_paired);
  }

  void add(const Pair& pair) {
    const std::vector<double> none_before = zeros(before_), none_after = zeros(after_);
    const auto compare = [&](std::vector<double> WorkRow::*values) {
      return compare_runs(pair.before != nullptr ? pair.before->*values : none_before,
                          pair.after != nullptr ? pair.after->*values : none_after, error_);
    };
    DiffRow row{.key = pair.after != nullptr ? pair.after->key : pair.before->key,
                .change = pair.change,
                .time = compare(&WorkRow::time),
                .calls = compare(&WorkRow::calls),
                .memory = compare(&WorkRow::memory)};
    if (pair.change == WorkChange::kRenamed) row.other_name = pair.before->key.name;
    if (pair.change == WorkChange::kNone) row.change = change_of(row);
    diff_.rows.push_back(std::move(row));
  }

  static WorkChange change_of(const DiffRow& row) {
    if (row.time.is_increase()) return WorkChange::kSlower;
    if (row.time.is_decrease()) return WorkChange::kFaster;
    return row.calls.is_change() ? WorkChange::kCalls : WorkChange::kNone;
  }

  // Parts of one key on both sides; nullptr where a run does not have the part.
  using PartPair = std::pair<const StepPart*, const StepPart*>;

  void add_parts() {
    const std::vector<std::size_t> usual_before = usual_steps(before_.step_time), usual_after = usual_steps(after_.step_time);
    diff_.mean_before = mean_of(before_.step_time);
    diff_.mean_after = mean_of(after_.step_time);
    diff_.unusual_before = diff_.mean_before - mean_of(before_.step_time, usual_before);
    diff_.unusual_after = diff_.mean_after - mean_of(after_.step_time, usual_after);
    std::map<PartKey, PartPair> pairs;
    for (const StepPart& part : before_.parts) pairs[part.key].first = &part;
    for (const StepPart& part : after_.parts) pairs[part.key].second = &part;
    const std::map<std::string, std::vector<std::string>> notes = notes_by_name();
    const double error = (1 - diff_.confidence) / static_cast<double>(std::max<std::size_t>(1, pairs.size()));
    const std::vector<double> none_before = zeros(before_), none_after = zeros(after_);
    for (const auto& [key, pair] : pairs) {
      const std::vector<double>& times_before = pair.first != nullptr ? pair.first->time : none_before;
      const std::vector<double>& times_after = pair.second != nullptr ? pair.second->time : none_after;
      DiffPart part{.key = key,
                    .time = compare_runs(times_before, times_after, error),
                    .mean_before = mean_of(times_before, usual_before),
                    .mean_after = mean_of(times_after, usual_after)};
      part.change = change_of_part(pair, part);
      part.line = pair.second != nullptr ? pair.second->line : pair.first->line;
      const auto known = notes.find(key.name);
      if (known != notes.end() && key.is_work && part.change != WorkChange::kNone) part.notes = known->second;
      diff_.parts.push_back(std::move(part));
    }
    std::ranges::stable_sort(diff_.parts, std::ranges::greater(), [](const DiffPart& part) { return std::abs(part.mean_change()); });
  }

  // Medians and means must agree on the direction: a part whose usual steps are slower and whose mean is not is no finding.
  static WorkChange change_of_part(const PartPair& pair, const DiffPart& part) {
    const bool is_slower = part.time.is_increase() && part.mean_change() > 0;
    const bool is_faster = part.time.is_decrease() && part.mean_change() < 0;
    if (is_slower) return pair.first == nullptr ? WorkChange::kNew : WorkChange::kSlower;
    if (is_faster) return pair.second == nullptr ? WorkChange::kGone : WorkChange::kFaster;
    return WorkChange::kNone;
  }

  // What else than its time changed of the work of a name.
  std::map<std::string, std::vector<std::string>> notes_by_name() const {
    struct Named {
      double calls_before = 0, calls_after = 0;
      ArgumentUse before, after;
    };
    std::map<std::string, Named> named;
    for (const WorkRow& row : before_.rows) {
      named[row.key.name].calls_before += mean_of(row.calls);
      named[row.key.name].before.add(row.arguments);
    }
    for (const WorkRow& row : after_.rows) {
      named[row.key.name].calls_after += mean_of(row.calls);
      named[row.key.name].after.add(row.arguments);
    }
    std::map<std::string, std::vector<std::string>> notes;
    for (const auto& [name, work] : named) {
      std::vector<std::string> found = argument_changes(work.before, work.after);
      const std::string calls_before = fmt::format("{:.3g}", work.calls_before), calls_after = fmt::format("{:.3g}", work.calls_after);
      const bool is_in_both = work.calls_before > 0 && work.calls_after > 0;
      if (is_in_both && calls_before != calls_after) found.push_back(fmt::format("{} → {} calls", calls_before, calls_after));
      if (!found.empty()) notes.emplace(name, std::move(found));
    }
    return notes;
  }

  const StepProfile& before_;
  const StepProfile& after_;
  std::vector<Pair> pairs_;
  std::vector<const WorkRow*> gone_;
  std::vector<const WorkRow*> new_;
  double error_ = 0.01;  // of one row
  Diff diff_;
};

}  // namespace

std::string_view work_change_name(WorkChange change) {
  static constexpr std::array<std::string_view, 8> kNames = {"same", "slower", "faster", "calls", "new", "gone", "renamed", "moved"};
  return kNames[static_cast<std::size_t>(change)];
}

double Diff::explained_ns() const {
  double explained = 0;
  for (const DiffPart& part : parts) {
    if (part.change != WorkChange::kNone) explained += part.mean_change();
  }
  return explained;
}

Diff diff_runs(const StepProfile& before, const StepProfile& after, double confidence) {
  return RowMatching(before, after, confidence).finish();
}

}  // namespace mindtorch::analyze
