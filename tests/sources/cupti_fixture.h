// Recordings of the CUPTI source on the double of libcupti.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "mindtorch/record/hooks.h"
#include "mindtorch/record/session.h"
#include "mindtorch/sources/cupti/cupti_source.h"
#include "mindtorch/trace/invariants.h"
#include "tests/doubles/cupti/cupti_double.h"

namespace mindtorch::sources {

class CuptiTest : public testing::Test {
 protected:
  CuptiTest() {
    ::setenv("MINDTORCH_CUDA_DRIVER", CUDA_DRIVER_DOUBLE, 1);
    cupti_double_reset();
  }
  ~CuptiTest() override {
    EXPECT_STREQ(cupti_double_violations(), "");
    cupti_double_reset();
    EXPECT_EQ(cupti_double_buffers_held(), 0u);
  }

  static std::uint32_t launch(const std::string& name, std::uint32_t stream = 7) {
    const CuptiDoubleWork work{.stream = stream, .name = name.c_str()};
    return cupti_double_issue(&work);
  }
  // An op of the host that launches a kernel named after it.
  static void run_op(const std::string& name, std::uint32_t stream = 7) {
    record::OpScope op(record::intern(name), record::known({trace::DeviceType::kCuda, 0}));
    launch(name + "_kernel", stream);
  }

  trace::Recording record(const std::function<void()>& work, record::DeviceOptions options = {}) {
    auto session = record::Session::prepare({.device = options, .sources = {&source_}});
    problems_ = session->source_problems();
    session->start();
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
  // An attribute of an event that is a text; empty if it has none of that name.
  static std::string text_of(const trace::Recording& recording, trace::EventIndex event, std::string_view key) {
    for (const trace::Attribute& attribute : recording.attributes.find(event)) {
      if (recording.names[attribute.key] == key) return std::string(recording.names[static_cast<std::size_t>(attribute.bits)]);
    }
    return "";
  }

  cupti::CuptiSource source_;
  std::vector<std::string> problems_;  // of the latest recording
};

}  // namespace mindtorch::sources
