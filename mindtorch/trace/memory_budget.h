// MemoryBudget: how much memory reading a file may take, so that a small hostile file cannot take all there is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace mindtorch::trace {

// Thrown by a reader that would need more memory than it may take. Never leaves the readers: they say which file it was, and where.
class BudgetExceeded : public std::runtime_error {
 public:
  BudgetExceeded() : std::runtime_error("more memory is needed than may be taken") {}
};

// Counts memory before it is taken. For one thread.
class MemoryBudget {
 public:
  static constexpr std::uint64_t kUnlimited = UINT64_MAX;

  explicit MemoryBudget(std::uint64_t limit = kUnlimited) : limit_(limit), left_(limit) {}

  void take(std::uint64_t bytes) {
    if (bytes > left_) throw BudgetExceeded();
    if (limit_ != kUnlimited) left_ -= bytes;
  }
  void give_back(std::uint64_t bytes) {
    if (limit_ != kUnlimited) left_ += bytes;
  }
  void give_back_all() { left_ = limit_; }
  // For `count` values that end up in a vector. A vector that grows needs three times its size for a moment; values that are decoded on
  // their own, or put in order, lie in a second vector meanwhile.
  template <class T>
  void take_for(std::size_t count) {
    take(std::uint64_t{4} * sizeof(T) * count);
  }

  std::uint64_t limit() const { return limit_; }
  std::uint64_t left() const { return left_; }

 private:
  std::uint64_t limit_, left_;
};

}  // namespace mindtorch::trace
