// EventNames: which names are hidden, folded and made readable.
#include "mindtorch/analyze/event_names.h"

#include <gtest/gtest.h>

namespace mindtorch::analyze {
namespace {

TEST(EventNames, StepsFoldIntoOneKeyAndKeepTheirNumberInTraces) {
  trace::Recording recording;
  recording.names = {"", "ProfilerStep#3", "ProfilerStep#4", "ProfilerStep", "aten::mm"};
  const EventNames names(recording);
  EXPECT_EQ(names.key(1), names.key(2));
  EXPECT_EQ(names.text(names.key(2)), "ProfilerStep*");
  EXPECT_EQ(names.trace_text(2), "ProfilerStep#4");
  EXPECT_NE(names.key(3), names.key(1));
  EXPECT_EQ(names.text(names.key(4)), "aten::mm");
}

TEST(EventNames, TheCallsTorchLeavesOutAreHidden) {
  trace::Recording recording;
  recording.names = {"",
                     "[memory]",
                     "[OutOfMemory]",
                     "profiler::_record_function_enter",
                     "profiler::_record_function_enter_new",
                     "profiler::_record_function_exit",
                     "aten::is_leaf",
                     "aten::output_nr",
                     "aten::_version",
                     "aten::_version_"};
  const EventNames names(recording);
  for (NameId id = 1; id < 9; ++id) EXPECT_EQ(names.key(id), EventNames::kHidden) << recording.names[id];
  EXPECT_NE(names.key(9), EventNames::kHidden);
}

TEST(EventNames, MangledNamesAreMadeReadableAndMeetTheirPlainForm) {
  trace::Recording recording;
  recording.names = {"", "_Z4gemmPfi", "gemm(float*, int)", "_Znot a symbol", "i"};
  const EventNames names(recording);
  EXPECT_EQ(names.text(names.key(1)), "gemm(float*, int)");
  EXPECT_EQ(names.key(1), names.key(2));
  EXPECT_EQ(names.text(names.key(3)), "_Znot a symbol");
  EXPECT_EQ(names.text(names.key(4)), "i");
}

TEST(EventNames, EqualNamesWithSeveralIdsHaveOneKey) {
  trace::Recording recording;
  recording.names = {"", "a", "b", "a"};
  const EventNames names(recording);
  EXPECT_EQ(names.key(1), names.key(3));
  EXPECT_NE(names.key(1), names.key(2));
}

}  // namespace
}  // namespace mindtorch::analyze
