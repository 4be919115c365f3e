// Recordings of one source, and what tests ask about them.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/record/session.h"
#include "mindtorch/record/source.h"
#include "mindtorch/trace/invariants.h"

namespace mindtorch::sources {

class SourceTest : public testing::Test {
 protected:
  virtual record::ActivitySource& source() = 0;

  trace::Recording record(const std::function<void()>& work, record::DeviceOptions options = {}) {
    auto session = record::Session::prepare({.device = options, .sources = {&source()}});
    session->start();
    problems_ = session->source_problems();
    work();
    trace::Recording recording = session->stop();
    EXPECT_EQ(trace::check_invariants(recording), "");
    return recording;
  }

  static std::vector<trace::EventIndex> events_of(const trace::Recording& recording, trace::EventKind kind) {
    std::vector<trace::EventIndex> found;
    for (trace::EventIndex i = 0; i < recording.events.size(); ++i) {
      if (recording.events.kind[i] == kind) found.push_back(i);
    }
    return found;
  }
  static std::size_t count_of(const trace::Recording& recording, trace::EventKind kind) { return events_of(recording, kind).size(); }

  // How many times each name of a kind is there.
  static std::map<std::string, int> names_of(const trace::Recording& recording, trace::EventKind kind) {
    std::map<std::string, int> names;
    for (const trace::EventIndex event : events_of(recording, kind)) ++names[std::string(recording.name(event))];
    return names;
  }
  static std::map<trace::LossReason, std::uint64_t> losses_of(const trace::Recording& recording) {
    std::map<trace::LossReason, std::uint64_t> counts;
    for (const trace::Loss& loss : recording.losses) counts[loss.reason] += loss.count;
    return counts;
  }
  static std::string loss_text(const trace::Recording& recording) {
    std::string text;
    for (const trace::Loss& loss : recording.losses) text += loss.detail + "\n";
    return text;
  }
  // All attributes of an event, numbers as texts.
  static std::map<std::string, std::string> attributes_of(const trace::Recording& recording, trace::EventIndex event) {
    std::map<std::string, std::string> found;
    for (const trace::Attribute& attribute : recording.attributes.find(event))
      found[recording.names[attribute.key]] =
          trace::has_text(attribute) ? recording.names[static_cast<std::size_t>(attribute.bits)] : std::to_string(attribute.bits);
    return found;
  }
  // An attribute of an event; empty if it has none of that name.
  static std::string text_of(const trace::Recording& recording, trace::EventIndex event, const std::string& key) {
    return attributes_of(recording, event)[key];
  }

  std::vector<std::string> problems_;  // of the latest recording
};

// How a test makes calls of a double fail.
struct FailureControls {
  std::function<void()> reset;
  std::function<void(const char* function, std::uint32_t skip, std::uint32_t times)>
      fail;  // "*" stands for any function, and 0 times means always
  std::function<std::uint64_t(const char* function)> calls;
};

// Runs recordings of three ops with a kernel each while calls of the vendor's library fail.
template <class DoubleTest>
class FailingCallsTest : public DoubleTest {
 protected:
  static constexpr std::size_t kOps = 3;

  struct Outcome {
    trace::Recording recording;
    std::string told;  // everything that a user can read about the source
  };
  Outcome run() {
    auto session = record::Session::prepare({.sources = {&this->source()}});
    session->start();
    for (std::size_t i = 0; i < kOps; ++i) this->run_op("op");
    Outcome outcome;
    for (const std::string& problem : session->source_problems()) outcome.told += problem + "\n";
    outcome.recording = session->stop();
    outcome.told += this->loss_text(outcome.recording);
    return outcome;
  }
  void expect_told_or_harmless(const Outcome& outcome, const std::string& function) {
    EXPECT_EQ(this->count_of(outcome.recording, trace::EventKind::kOp), kOps) << "host events while " << function << " failed";
    EXPECT_TRUE(outcome.told != "" || this->count_of(outcome.recording, trace::EventKind::kKernel) == kOps)
        << "silence after " << function << " failed";
  }

  // Each call of these functions that a recording makes fails once; how many there are is learned from a recording that works. A later
  // recording must be whole again. Threads call some functions as often as time permits: of those, the first forty.
  void fail_each_call_once(const FailureControls& controls, std::initializer_list<const char*> functions) {
    for (const char* function : functions) {
      controls.reset();
      run();
      const auto calls = static_cast<std::uint32_t>(std::min<std::uint64_t>(40, controls.calls(function)));
      EXPECT_GT(calls, 0u) << function;
      for (std::uint32_t nth = 0; nth < calls; ++nth) {
        controls.reset();
        controls.fail(function, nth, 1);
        expect_told_or_harmless(run(), function);
        controls.reset();
        const Outcome next = run();
        EXPECT_EQ(this->count_of(next.recording, trace::EventKind::kKernel), kOps) << "after " << function << " failed\n" << next.told;
        EXPECT_EQ(next.told, "") << "after " << function << " failed";
      }
    }
  }
  void fail_for_ever(const FailureControls& controls, std::initializer_list<const char*> functions) {
    for (const char* function : functions) {
      for (const std::uint32_t successes : {0u, 1u}) {
        controls.reset();
        controls.fail(function, successes, 0);
        expect_told_or_harmless(run(), function);
      }
    }
  }
};

}  // namespace mindtorch::sources
