// The names that the Chrome writer and reader share.
#include "mindtorch/trace/chrome_format.h"

#include <gtest/gtest.h>

#include "mindtorch/trace/text.h"

namespace mindtorch::trace::chrome_format {
namespace {

TEST(ChromeFormat, AReaderTakesEachCategoryForTheKindTheWriterExpects) {
  for (const DeviceType device : {DeviceType::kCuda, DeviceType::kNpu}) {
    for (int k = 0; k < kEventKinds; ++k) {
      const auto kind = static_cast<EventKind>(k);
      const auto meaning = meaning_of_category(category(kind, device));
      ASSERT_TRUE(meaning) << event_kind_name(kind);
      EXPECT_EQ(meaning->kind, kind_seen_by_readers(kind)) << event_kind_name(kind);
      if (is_launch_kind(kind)) {
        EXPECT_EQ(meaning->device, device);
      }
    }
  }
  EXPECT_FALSE(meaning_of_category("somebody else's"));
}

TEST(ChromeFormat, NameAndLinkTellStepsModulesAndBackwardFromTheRestOfTheirCategory) {
  EXPECT_EQ(implied_kind(EventKind::kScope, "ProfilerStep#3", 0), EventKind::kStep);
  EXPECT_EQ(implied_kind(EventKind::kScope, "forward", 0), EventKind::kScope);
  EXPECT_EQ(implied_kind(EventKind::kPythonFunction, "nn.Module: Linear_0", 0), EventKind::kModule);
  EXPECT_EQ(implied_kind(EventKind::kOp, "MulBackward0", make_sequence_link(4, 1)), EventKind::kBackward);
  EXPECT_EQ(implied_kind(EventKind::kOp, "autograd::engine::evaluate_function: MulBackward0", 0), EventKind::kBackward);
  EXPECT_EQ(implied_kind(EventKind::kOp, "aten::mul", make_sequence_link(4)), EventKind::kOp);
}

TEST(ChromeFormat, OwnArgumentsAndReservedKeysAreToldFromTheUsers) {
  for (const EventKind kind : {EventKind::kOp, EventKind::kKernel, EventKind::kRuntime}) {
    EXPECT_TRUE(is_own_argument(argument::kInputDims, kind));
    EXPECT_TRUE(is_own_argument(argument::memory_keys(DeviceType::kNpu).delta, kind));
    EXPECT_FALSE(is_own_argument("grid", kind));
  }
  EXPECT_TRUE(is_own_argument(argument::kStream, EventKind::kKernel));
  EXPECT_TRUE(is_own_argument(argument::kCorrelation, EventKind::kRuntime));
  EXPECT_FALSE(is_own_argument(argument::kStream, EventKind::kOp));
  EXPECT_TRUE(is_reserved_key(header::kOwn));
  EXPECT_FALSE(is_reserved_key("distributedInfo"));
}

}  // namespace
}  // namespace mindtorch::trace::chrome_format
