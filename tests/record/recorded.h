// What the tests of record share: sessions on a clock turned by hand, and a look at what came out.
#pragma once

#include <gmock/gmock.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mindtorch/record/hooks.h"
#include "mindtorch/record/session.h"
#include "mindtorch/trace/invariants.h"

namespace mindtorch::record {

inline std::vector<std::string> event_names(const trace::Recording& recording) {
  std::vector<std::string> names;
  for (trace::EventIndex i = 0; i < recording.events.size(); ++i) names.emplace_back(recording.name(i));
  return names;
}

inline std::map<std::string, int> name_counts(const trace::Recording& recording) {
  std::map<std::string, int> counts;
  for (trace::EventIndex i = 0; i < recording.events.size(); ++i) ++counts[std::string(recording.name(i))];
  return counts;
}

inline std::uint64_t lost(const trace::Recording& recording, trace::LossReason reason) {
  std::uint64_t count = 0;
  for (const trace::Loss& loss : recording.losses)
    if (loss.reason == reason) count += loss.count;
  return count;
}

class RecordedTest : public testing::Test {
 protected:
  std::unique_ptr<Session> started(SessionOptions options = {}) {
    options.clock = &clock_;
    auto session = Session::prepare(std::move(options));
    session->start();
    return session;
  }
  trace::Recording stopped(Session& session) { return checked(session.stop()); }
  trace::Recording snapshot_of(Session& session) { return checked(session.snapshot()); }
  static trace::Recording checked(trace::Recording recording) {
    EXPECT_EQ(trace::check_invariants(recording), "");
    return recording;
  }
  // A scope of `ns` nanoseconds.
  void scope(std::string_view name, std::uint64_t ns = 10) {
    NamedScope it(name);
    clock_.advance(ns);
  }

  FakeClock clock_;
};

}  // namespace mindtorch::record
