// Runs made by hand for the tests of diff: steps whose times are drawn from a seed.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "mindtorch/analyze/diff/step_profile.h"

namespace mindtorch::analyze {

// What the noise of a run looks like.
struct Noise {
  double spread = 0.02;      // standard deviation, relative
  double correlation = 0;    // of neighbouring steps
  double outlier_share = 0;  // of steps that take three times as long
};

inline std::vector<double> noisy_values(std::mt19937_64& random, std::size_t steps, double typical, const Noise& noise) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  std::vector<double> values;
  double state = normal(random);
  for (std::size_t i = 0; i < steps; ++i) {
    state = noise.correlation * state + std::sqrt(1 - noise.correlation * noise.correlation) * normal(random);
    const double factor = uniform(random) < noise.outlier_share ? 3 : 1;
    values.push_back(typical * std::exp(noise.spread * state) * factor);
  }
  return values;
}

// A row with one call per step.
inline WorkRow row_of(std::string name, std::vector<double> time) {
  const std::vector<double> ones(time.size(), 1), zeros(time.size(), 0);
  return {.key = {.name = std::move(name)}, .calls = ones, .time = std::move(time), .launched = zeros, .memory = zeros};
}

// Ops "op00" to "op39", each with its own typical time; `slower` multiplies the time of "op07".
inline StepProfile noisy_run(std::mt19937_64& random, std::size_t steps, const Noise& noise, double slower = 1) {
  StepProfile profile{.has_steps = true};
  profile.step_time.assign(steps, 0);
  profile.device_time.assign(steps, 0);
  for (int op = 0; op < 40; ++op) {
    const double typical = (1000 + 500 * op) * (op == 7 ? slower : 1);
    profile.rows.push_back(
        row_of("op" + std::string(op < 10 ? "0" : "") + std::to_string(op), noisy_values(random, steps, typical, noise)));
    for (std::size_t step = 0; step < steps; ++step) profile.step_time[step] += profile.rows.back().time[step];
  }
  return profile;
}

}  // namespace mindtorch::analyze
