// Random number generators.
#include "mindtorch/runtime/generator.h"

namespace mindtorch {

void Generator::manual_seed(std::uint64_t seed) {
  std::lock_guard lock(mutex_);
  state_ = {seed, 0};
}

std::uint64_t Generator::initial_seed() const {
  std::lock_guard lock(mutex_);
  return state_.seed;
}

PhiloxState Generator::reserve(std::uint64_t blocks) {
  std::lock_guard lock(mutex_);
  const PhiloxState start = state_;
  state_.offset += blocks;
  return start;
}

PhiloxState Generator::get_state() const {
  std::lock_guard lock(mutex_);
  return state_;
}

void Generator::set_state(const PhiloxState& state) {
  std::lock_guard lock(mutex_);
  state_ = state;
}

Generator& default_generator() {
  static auto* generator = new Generator(67280421310721);  // torch's default seed
  return *generator;
}

void manual_seed(std::uint64_t seed) { default_generator().manual_seed(seed); }

}  // namespace mindtorch
