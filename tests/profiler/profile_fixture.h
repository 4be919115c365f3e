// A profile over a fake recorder, and what tests say about it.
#pragma once

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mindtorch/profiler/profile.h"
#include "tests/profiler/fake_recorder.h"

namespace mindtorch::profiler {

// Actions as letters: None, Warmup, Record, record and Save. Beyond the text: None.
inline Schedule scripted(std::string letters) {
  return [letters](std::int64_t step) {
    const auto at = static_cast<std::size_t>(step);
    return static_cast<ProfilerAction>(at < letters.size() ? std::string("NWRS").find(letters[at]) : 0);
  };
}

class ProfileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    set_warning_sink([this](WarningCategory, const std::string& text) { heard_.push_back(text); });
  }
  void TearDown() override { set_warning_sink({}); }

  // on_trace_ready is written down as "ready".
  std::unique_ptr<Profile> make(ProfileOptions options) {
    if (!options.on_trace_ready) options.on_trace_ready = [this](Profile&) { script_.say("ready"); };
    if (!options.activities.specified()) options.activities = {Activity::kCpu};
    return std::make_unique<Profile>(std::move(options), std::make_unique<FakeRecorder>(script_));
  }
  std::unique_ptr<Profile> make_scheduled(std::string letters) { return make({.schedule = scripted(std::move(letters))}); }

  // What was called since the last take, step marks and scopes left out.
  CallLog take_trace_calls() {
    CallLog calls = script_.take();
    std::erase_if(calls, [](const std::string& call) { return call == "close" || call.starts_with("open") || call.starts_with("mark"); });
    return calls;
  }

  Script script_;
  std::vector<std::string> heard_;  // by the warning sink
};

// The text of the E that `call` throws; fails the test otherwise.
template <class E, class Call>
std::string error_of(Call&& call) {
  try {
    std::forward<Call>(call)();
  } catch (const E& error) {
    EXPECT_EQ(typeid(error), typeid(E));
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
    return "";
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

}  // namespace mindtorch::profiler
