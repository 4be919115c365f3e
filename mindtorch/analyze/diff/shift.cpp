// Shift: rank statistics of two runs.
#include "mindtorch/analyze/diff/shift.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "mindtorch/base/statistics.h"

namespace mindtorch::analyze {
namespace {

constexpr std::size_t kMostValues = 64;

// At most kMostValues means of neighbouring values.
std::vector<double> grouped(std::span<const double> values) {
  const std::size_t groups = std::min(values.size(), kMostValues);
  std::vector<double> means;
  means.reserve(groups);
  for (std::size_t g = 0; g < groups; ++g) {
    const std::size_t begin = g * values.size() / groups, end = (g + 1) * values.size() / groups;
    double sum = 0;
    for (const double value : values.subspan(begin, end - begin)) sum += value;
    means.push_back(sum / static_cast<double>(end - begin));
  }
  return means;
}

// The factor by which the interval of a mean grows when neighbours correlate: sqrt((1 + r) / (1 - r)). Deviations beyond a few typical ones
// are cut back first: a single outlier would hide the correlation of all the others.
double correlation_factor(std::span<const double> values) {
  if (values.size() < 4) return 1;
  const double center = median_of(std::vector<double>(values.begin(), values.end()));
  std::vector<double> deviations;
  for (const double value : values) deviations.push_back(std::abs(value - center));
  const double most = 4 * median_of(deviations);
  std::vector<double> clipped;
  for (const double value : values) clipped.push_back(std::clamp(value - center, -most, most));
  double products = 0, squares = 0;
  for (std::size_t i = 0; i < clipped.size(); ++i) {
    squares += clipped[i] * clipped[i];
    if (i > 0) products += clipped[i] * clipped[i - 1];
  }
  if (squares == 0) return 1;
  // Short runs make the correlation look smaller than it is, by about (1 + 3 r) / n.
  const double n = static_cast<double>(clipped.size());
  const double correlation = std::clamp((products / squares + 1 / n) / (1 - 3 / n), 0.0, 0.9);
  return std::sqrt((1 + correlation) / (1 - correlation));
}

// The value that a standard normal variable exceeds with probability `tail`, by bisection: it is asked for once per comparison.
double normal_quantile(double tail) {
  double low = 0, high = 40;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(middle / std::sqrt(2.0)) / 2 > tail ? low : high) = middle;
  }
  return high;
}

}  // namespace

Shift compare_runs(std::span<const double> before, std::span<const double> after, double error) {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  Shift shift{median_of(std::vector<double>(before.begin(), before.end())), median_of(std::vector<double>(after.begin(), after.end())), 0,
              -kUnknown, kUnknown};
  if (before.empty() || after.empty()) return shift;

  const std::vector<double> a = grouped(before), b = grouped(after);
  std::vector<double> differences;
  differences.reserve(a.size() * b.size());
  for (const double x : a) {
    for (const double y : b) differences.push_back(y - x);
  }
  shift.change = median_of(differences);

  // The interval reaches from the k-th smallest to the k-th largest difference, k from the normal approximation of the rank-sum statistic.
  const double n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  const double factor = std::max(correlation_factor(a), correlation_factor(b));
  const double half_width = factor * normal_quantile(error / 2) * std::sqrt(n * m * (n + m + 1) / 12);
  const double k = std::floor(n * m / 2 - half_width);
  if (k < 1) return shift;
  const auto rank = static_cast<std::ptrdiff_t>(k) - 1;
  std::ranges::sort(differences);
  shift.low = differences[static_cast<std::size_t>(rank)];
  shift.high = differences[differences.size() - 1 - static_cast<std::size_t>(rank)];
  return shift;
}

}  // namespace mindtorch::analyze
