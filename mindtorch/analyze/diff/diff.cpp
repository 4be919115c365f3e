// Diff: rows of two runs matched by key, compared, and named.
#include "mindtorch/analyze/diff/diff.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace mindtorch::analyze {
namespace {

double mean_of(const std::vector<double>& values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Values of work that a run does not have.
std::vector<double> zeros(const StepProfile& profile) { return std::vector<double>(profile.step_time.size(), 0.0); }

class Matching {
 public:
  Matching(const StepProfile& before, const StepProfile& after, double confidence) : before_(before), after_(after) {
    diff_.confidence = confidence;
    diff_.steps_before = before.step_time.size();
    diff_.steps_after = after.step_time.size();
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
    match_where(WorkChange::kMoved, [](const WorkRow& a, const WorkRow& b) {
      return a.key.name == b.key.name && a.key.shapes == b.key.shapes && a.key.module == b.key.module;
    });
    match_where(WorkChange::kRenamed, [](const WorkRow& a, const WorkRow& b) {
      return a.key.timeline == b.key.timeline && a.key.shapes == b.key.shapes && a.key.module == b.key.module && a.parent == b.parent &&
             mean_of(a.calls) == mean_of(b.calls);
    });
  }

  template <class IsSame>
  void match_where(WorkChange change, IsSame is_same) {
    for (const WorkRow*& row : gone_) {
      const auto fits = [&](const WorkRow* other) { return other != nullptr && is_same(*row, *other); };
      if (std::ranges::count_if(new_, fits) != 1) continue;  // no candidate, or more than one
      const auto found = std::ranges::find_if(new_, fits);
      const auto rivals = [&](const WorkRow* other) { return other != nullptr && is_same(*other, **found); };
      if (std::ranges::count_if(gone_, rivals) != 1) continue;
      pairs_.push_back({row, *found, change});
      row = nullptr;
      *found = nullptr;
    }
    std::erase(gone_, nullptr);
    std::erase(new_, nullptr);
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

Diff diff_runs(const StepProfile& before, const StepProfile& after, double confidence) {
  return Matching(before, after, confidence).finish();
}

}  // namespace mindtorch::analyze
