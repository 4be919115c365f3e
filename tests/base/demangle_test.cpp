// Demangled names of kernels, and texts that are none.
#include "mindtorch/base/demangle.h"

#include <gtest/gtest.h>

namespace mindtorch {
namespace {

TEST(Demangle, WritesMangledNamesAsPeopleDo) {
  EXPECT_EQ(demangled("_ZN7ck_tile6kentryILi1EEEvv"), "void ck_tile::kentry<1>()");
  EXPECT_EQ(demangled("_ZN7ck_tile6kentryILi1EEEvv.kd"), "void ck_tile::kentry<1>()");
}

TEST(Demangle, KeepsEverythingElse) {
  for (const char* name :
       {"", "aten::mm", "_Z", "_Zgarbage", "ampere_sgemm_128x64_tn", "Cijk_Ailk_Bljk.kd", "void at::native::f<int>(int)"})
    EXPECT_EQ(demangled(name), name);
}

}  // namespace
}  // namespace mindtorch
