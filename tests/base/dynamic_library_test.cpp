// Libraries loaded at run time: found, missing, moved.
#include "mindtorch/base/dynamic_library.h"

#include <gmock/gmock.h>

#include <cstdlib>

namespace mindtorch {
namespace {

using testing::HasSubstr;

constexpr char kLibrary[] = "libm.so.6";

TEST(DynamicLibrary, AFunctionOfAnOpenLibraryCanBeCalled) {
  DynamicLibrary library;
  ASSERT_TRUE(library.open({kLibrary}).is_ok());
  EXPECT_TRUE(library.is_open());
  EXPECT_EQ(library.path(), kLibrary);
  auto* floor_function = library.find<double(double)>("floor");
  ASSERT_NE(floor_function, nullptr);
  EXPECT_EQ(floor_function(2.5), 2.0);
}

TEST(DynamicLibrary, TheEnvironmentNamesFilesOfLibraries) {
  ::setenv("MINDTORCH_LIBRARY_PATH", "cupti=/a/libcupti.so.13,mspti=,cuda=/b=c/libcuda.so", 1);
  EXPECT_EQ(chosen_library("cupti"), "/a/libcupti.so.13");
  EXPECT_EQ(chosen_library("cuda"), "/b=c/libcuda.so");
  EXPECT_EQ(chosen_library("mspti"), "");
  EXPECT_EQ(chosen_library("cu"), "");
  ::unsetenv("MINDTORCH_LIBRARY_PATH");
  EXPECT_EQ(chosen_library("cupti"), "");
}

TEST(DynamicLibrary, TheFirstCandidateThatLoadsIsTaken) {
  DynamicLibrary library;
  ASSERT_TRUE(library.open({"libnot_here_1.so", kLibrary, "libnot_here_2.so"}).is_ok());
  EXPECT_EQ(library.path(), kLibrary);
}

TEST(DynamicLibrary, AMissingLibraryIsAStatusThatNamesEveryCandidate) {
  DynamicLibrary library;
  const Status status = library.open({"libnot_here_1.so", "libnot_here_2.so"});
  EXPECT_FALSE(status.is_ok());
  EXPECT_THAT(status.reason(), HasSubstr("libnot_here_1.so"));
  EXPECT_THAT(status.reason(), HasSubstr("libnot_here_2.so"));
  EXPECT_FALSE(library.is_open());
}

TEST(DynamicLibrary, NoCandidateAtAllIsAStatusWithAReason) {
  DynamicLibrary library;
  const Status status = library.open({});
  EXPECT_FALSE(status.is_ok());
  EXPECT_NE(status.reason(), "");
}

TEST(DynamicLibrary, AFunctionThatDoesNotExistIsNull) {
  DynamicLibrary library;
  EXPECT_EQ(library.find<void()>("floor"), nullptr) << "nothing is open";
  ASSERT_TRUE(library.open({kLibrary}).is_ok());
  EXPECT_EQ(library.find<void()>("no_such_function_in_here"), nullptr);
}

TEST(DynamicLibrary, AFailedSecondOpenKeepsTheFirstLibrary) {
  DynamicLibrary library;
  ASSERT_TRUE(library.open({kLibrary}).is_ok());
  EXPECT_FALSE(library.open({"libnot_here_1.so"}).is_ok());
  EXPECT_EQ(library.path(), kLibrary);
  EXPECT_NE(library.find<double(double)>("floor"), nullptr);
}

TEST(DynamicLibrary, TheLibraryOfAFunctionIsFound) {
  DynamicLibrary library;
  ASSERT_TRUE(library.open({kLibrary}).is_ok());
  EXPECT_THAT(library_of(reinterpret_cast<const void*>(library.find<double(double)>("floor"))), HasSubstr(kLibrary));
  EXPECT_EQ(library_of(nullptr), "");
}

TEST(DynamicLibrary, MovingHandsTheLibraryOver) {
  DynamicLibrary library;
  ASSERT_TRUE(library.open({kLibrary}).is_ok());
  DynamicLibrary owner = std::move(library);
  EXPECT_FALSE(library.is_open());  // NOLINT(bugprone-use-after-move): a moved-from library is closed, by contract
  DynamicLibrary assigned;
  assigned = std::move(owner);
  EXPECT_TRUE(assigned.is_open());
  EXPECT_NE(assigned.find<double(double)>("floor"), nullptr);
}

}  // namespace
}  // namespace mindtorch
