// Tests of the thread pool.
#include "mindtorch/runtime/parallel.h"

#include <cblas.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "mindtorch/base/error.h"
#include "mindtorch/runtime/functions.h"

namespace mindtorch {
namespace {

class Threads {
 public:
  explicit Threads(int count) : saved_(get_num_threads()) { set_num_threads(count); }
  ~Threads() { set_num_threads(saved_); }

 private:
  int saved_;
};

TEST(Parallel, TheBlasUsesAsManyThreads) {
  EXPECT_EQ(openblas_get_num_threads(), get_num_threads());
  const Threads threads(1);
  EXPECT_EQ(openblas_get_num_threads(), 1);
}

TEST(Parallel, EveryIndexIsVisitedOnce) {
  const Threads threads(4);
  std::vector<std::atomic<int>> seen(100000);
  parallel_for(0, 100000, 1000, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) ++seen[static_cast<std::size_t>(i)];
  });
  for (const auto& count : seen) ASSERT_EQ(count, 1);
}

TEST(Parallel, SmallRangesStayOnTheCallingThread) {
  const Threads threads(4);
  parallel_for(0, 10, 100,
               [caller = std::this_thread::get_id()](std::int64_t, std::int64_t) { EXPECT_EQ(std::this_thread::get_id(), caller); });
}

TEST(Parallel, NestedRegionsRunSerially) {
  const Threads threads(4);
  std::atomic<int> total = 0;
  parallel_for(0, 8, 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i)
      parallel_for(0, 100, 1, [&](std::int64_t a, std::int64_t b) { total += static_cast<int>(b - a); });
  });
  EXPECT_EQ(total, 800);
}

TEST(Parallel, AnExceptionOfAPartReachesTheCaller) {
  const Threads threads(4);
  EXPECT_THROW(parallel_for(0, 1000, 10,
                            [](std::int64_t from, std::int64_t) {
                              if (from == 0) throw std::runtime_error("part");
                            }),
               std::runtime_error);
  std::atomic<int> total = 0;
  parallel_for(0, 1000, 10, [&](std::int64_t a, std::int64_t b) { total += static_cast<int>(b - a); });
  EXPECT_EQ(total, 1000);
}

TEST(Parallel, SeveralThreadsMaySubmitAtOnce) {
  const Threads threads(3);
  std::atomic<std::int64_t> total = 0;
  const auto work = [&] {
    for (int i = 0; i < 200; ++i) parallel_for(0, 1000, 10, [&](std::int64_t a, std::int64_t b) { total += b - a; });
  };
  std::thread first(work), second(work);
  work();
  first.join();
  second.join();
  EXPECT_EQ(total, 3 * 200 * 1000);
}

TEST(Parallel, ResultsDoNotDependOnTheNumberOfThreads) {
  manual_seed(1);
  const Tensor x = randn({300, 401}), y = randn({401, 300});
  std::vector<std::vector<double>> results;
  for (const int count : {1, 2, 4}) {
    const Threads threads(count);
    manual_seed(2);
    std::vector<double> all;
    for (const Tensor& t :
         {x.sum(), x.sum({0}), x.sum({1}), x.t().mean({0}), exp(x.t() * x.t()).sum(), var(x), randn({100000}).sum(), x.norm(), x.max()})
      for (const double v : t.to_vector<double>()) all.push_back(v);
    results.push_back(all);
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(Parallel, TheNumberOfThreadsMustBePositive) { EXPECT_THROW(set_num_threads(0), Error); }

}  // namespace
}  // namespace mindtorch
