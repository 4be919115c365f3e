// Steps that end in a later Python call begin with it.
#include "mindtorch/trace/adjust_steps.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mindtorch/trace/builder.h"
#include "mindtorch/trace/invariants.h"

namespace mindtorch::trace {
namespace {

class AdjustStepsTest : public testing::Test {
 protected:
  RecordingBuilder::DraftId add(EventKind kind, const char* name, std::int64_t start, std::int64_t end) {
    return builder_.add_event({.name = name, .kind = kind, .track = thread_, .start_ns = start, .duration_ns = end - start});
  }
  void adjust() {
    recording_ = builder_.finish();
    adjust_steps(recording_);
    EXPECT_EQ(check_invariants(recording_), "");
  }
  // "name start-end" of the events in their order.
  std::vector<std::string> events() const {
    std::vector<std::string> texts;
    for (EventIndex i = 0; i < recording_.events.size(); ++i)
      texts.push_back(std::string(recording_.name(i)) + " " + std::to_string(recording_.events.start_ns[i]) + "-" +
                      std::to_string(recording_.events.end_ns(i)));
    return texts;
  }

  RecordingBuilder builder_;
  TrackId thread_ = builder_.add_thread(1);
  Recording recording_;
};

TEST_F(AdjustStepsTest, MovesTheStartIntoTheCallThatTheStepEndsIn) {
  add(EventKind::kPythonFunction, "main", 0, 300);
  builder_.add_attribute(add(EventKind::kStep, "ProfilerStep#0", 5, 90), "key", std::string_view("zero"));
  add(EventKind::kPythonFunction, "body", 10, 100);
  add(EventKind::kOp, "op", 20, 30);
  builder_.add_attribute(add(EventKind::kStep, "ProfilerStep#1", 91, 190), "key", std::string_view("one"));
  add(EventKind::kPythonFunction, "body", 110, 200);
  add(EventKind::kPythonFunction, "inner", 120, 195);
  adjust();
  EXPECT_EQ(events(), (std::vector<std::string>{"main 0-300", "body 10-100", "ProfilerStep#0 11-90", "op 20-30", "body 110-200",
                                                "ProfilerStep#1 111-190", "inner 120-195"}));
  ASSERT_EQ(recording_.attributes.find(2).size(), 1U);
  EXPECT_EQ(recording_.names[static_cast<std::size_t>(recording_.attributes.find(2)[0].bits)], "zero");
  EXPECT_EQ(recording_.names[static_cast<std::size_t>(recording_.attributes.find(5)[0].bits)], "one");
}

TEST_F(AdjustStepsTest, LeavesStepsThatContainTheirCallsAndOpsAlone) {
  add(EventKind::kStep, "ProfilerStep#0", 0, 100);
  add(EventKind::kPythonFunction, "body", 10, 90);
  add(EventKind::kOp, "op", 95, 120);
  adjust();
  EXPECT_EQ(events(), (std::vector<std::string>{"ProfilerStep#0 0-100", "body 10-90", "op 95-120"}));
}

}  // namespace
}  // namespace mindtorch::trace
