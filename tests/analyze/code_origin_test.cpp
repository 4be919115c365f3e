// CodeOrigin: programs are the user's, whatever they are called; packages and the standard library are not.
#include "mindtorch/analyze/code_origin.h"

#include <gtest/gtest.h>

namespace mindtorch::analyze {
namespace {

TEST(CodeOrigin, ProgramsAreTheUsers) {
  for (const char* file :
       {"train.py", "/home/me/train.py", "src/model/layers.py", "/srv/lib/tools.py", "<stdin>", "<ipython-input-1>", "queues.py"})
    EXPECT_EQ(code_origin(file), CodeOrigin::kUser) << file;
}

TEST(CodeOrigin, PackagesAndTheStandardLibraryAreNot) {
  for (const char* file : {"/usr/lib/python3.12/contextlib.py", "contextlib.py", "asyncio/events.py", "torch/nn/modules/module.py",
                           "/venv/lib/python3.11/site-packages/numpy/core/fromnumeric.py", "<frozen importlib._bootstrap>",
                           "/tmp/torchinductor_me/ab/cab.py", "mindtorch_v2/nn/module.py"})
    EXPECT_EQ(code_origin(file), CodeOrigin::kLibrary) << file;
}

TEST(CodeOrigin, TheProfilersOwnFramesAreKnown) {
  EXPECT_EQ(code_origin("/venv/lib/python3.11/site-packages/torch/profiler/profiler.py"), CodeOrigin::kProfiler);
  EXPECT_EQ(code_origin("mindtorch_v2/profiler/_run.py"), CodeOrigin::kProfiler);
}

}  // namespace
}  // namespace mindtorch::analyze
