// FirstFailure: all work is done, the first exception wins.
#include "mindtorch/profiler/first_failure.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace mindtorch::profiler {
namespace {

TEST(FirstFailure, IsEmptyWhenEverythingWorked) {
  FirstFailure failure;
  int done = 0;
  failure.attempt([&] { ++done; });
  EXPECT_EQ(done, 1);
  EXPECT_FALSE(failure);
  EXPECT_EQ(failure.text(), "");
  EXPECT_NO_THROW(failure.rethrow_if_any());
}

TEST(FirstFailure, GoesOnAfterAFailureAndThrowsTheFirst) {
  FirstFailure failure;
  int done = 0;
  failure.attempt([] { throw std::out_of_range("first"); });
  failure.attempt([] { throw std::runtime_error("second"); });
  failure.attempt([&] { ++done; });
  EXPECT_EQ(done, 1);
  EXPECT_TRUE(failure);
  EXPECT_EQ(failure.text(), "first");
  EXPECT_THROW(failure.rethrow_if_any(), std::out_of_range);
}

TEST(FirstFailure, DescribesWhatIsNoStandardException) {
  FirstFailure failure;
  failure.attempt([] { throw 42; });
  EXPECT_EQ(failure.text(), "an exception of unknown type");
}

}  // namespace
}  // namespace mindtorch::profiler
