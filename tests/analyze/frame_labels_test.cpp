// Labels of functions: the name first, then the place.
#include "mindtorch/analyze/frame_labels.h"

#include <gtest/gtest.h>

#include "mindtorch/trace/builder.h"

namespace mindtorch::analyze {
namespace {

TEST(FrameLabels, FilesAreShownBelowTheFolderOfPackages) {
  EXPECT_EQ(shown_file("/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py"), "torch/nn/modules/linear.py");
  EXPECT_EQ(shown_file("/usr/lib/python3/dist-packages/numpy/core.py"), "numpy/core.py");
  EXPECT_EQ(shown_file("/home/user/train.py"), "/home/user/train.py");
}

TEST(FrameLabels, TheFunctionComesFirst) {
  trace::RecordingBuilder builder;
  const trace::Frame frame{builder.intern("/lib/site-packages/torch/nn/linear.py"), builder.intern("forward"), 134};
  EXPECT_EQ(frame_label(builder.finish(), frame), "forward (torch/nn/linear.py:134)");
}

TEST(FrameLabels, RecordedCallsHaveTheSameForm) {
  EXPECT_EQ(call_label("train.py(12): step"), "step (train.py:12)");
  EXPECT_EQ(call_label("/a (copy)/train.py(12): <lambda>"), "<lambda> (/a (copy)/train.py:12)");
  for (const char* other : {"nn.Module: Linear_0", "<built-in function len>", "aten::add", "(7): f", "a.py(): f", "f(x): y", ""})
    EXPECT_EQ(call_label(other), other);
}

}  // namespace
}  // namespace mindtorch::analyze
