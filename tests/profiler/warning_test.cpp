// Warnings: the process's sink.
#include "mindtorch/profiler/warning.h"

#include <gmock/gmock.h>

#include <stdexcept>
#include <thread>
#include <vector>

namespace mindtorch::profiler {
namespace {

using ::testing::ElementsAre;

class WarningTest : public ::testing::Test {
 protected:
  void TearDown() override { set_warning_sink({}); }
  void listen() {
    set_warning_sink([this](WarningCategory category, const std::string& text) { heard_.push_back({category, text}); });
  }
  std::vector<Warning> heard_;
};

TEST_F(WarningTest, WithoutASinkAWarningGoesNowhere) {
  warn(WarningCategory::kUser, "unheard");
  warn_once(WarningCategory::kUser, "unheard");
}

TEST_F(WarningTest, TheSinkGetsCategoryAndText) {
  listen();
  warn(WarningCategory::kFuture, "old");
  warn(WarningCategory::kFuture, "old");
  EXPECT_THAT(heard_, ElementsAre(Warning{WarningCategory::kFuture, "old"}, Warning{WarningCategory::kFuture, "old"}));
}

TEST_F(WarningTest, WhatIsSaidOnceIsSaidOnceToEachSink) {
  listen();
  warn_once(WarningCategory::kUser, "a");
  warn_once(WarningCategory::kUser, "a");
  warn_once(WarningCategory::kUser, "b");
  EXPECT_EQ(heard_.size(), 2U);
  listen();
  warn_once(WarningCategory::kUser, "a");
  EXPECT_EQ(heard_.size(), 3U);
}

TEST_F(WarningTest, AnExceptionOfTheSinkReachesTheOneWhoWarned) {
  set_warning_sink([](WarningCategory, const std::string& text) { throw std::runtime_error(text); });
  EXPECT_THROW(warn(WarningCategory::kUser, "boom"), std::runtime_error);
}

TEST_F(WarningTest, ASinkMayWarnAndMayReplaceItself) {
  set_warning_sink([this](WarningCategory, const std::string&) {
    listen();
    warn(WarningCategory::kUser, "from inside");
  });
  warn(WarningCategory::kUser, "from outside");
  EXPECT_THAT(heard_, ElementsAre(Warning{WarningCategory::kUser, "from inside"}));
}

TEST_F(WarningTest, ThreadsMayWarnWhileTheSinkChanges) {
  std::thread other([] {
    for (int i = 0; i < 1000; ++i) warn_once(WarningCategory::kUser, std::to_string(i));
  });
  for (int i = 0; i < 1000; ++i) set_warning_sink([](WarningCategory, const std::string&) {});
  other.join();
}

}  // namespace
}  // namespace mindtorch::profiler
