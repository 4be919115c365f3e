// Names that are written in the program, with memory and without.
#include "mindtorch/record/constant_name.h"

#include <gtest/gtest.h>

#include <memory>

#include "mindtorch/base/thread_owned.h"
#include "tests/support/refused_memory.h"

namespace mindtorch::record {
namespace {

TEST(ConstantName, HasTheIdOfItsText) {
  constinit static ConstantName name("a constant name");
  EXPECT_EQ(name.id(), intern("a constant name"));
  EXPECT_EQ(name.id(), intern("a constant name"));
}

TEST(ConstantName, WithoutMemoryItIsTheEmptyNameUntilThereIsMemory) {
  constinit static ConstantName name("a name that is longer than a short string can be without memory of its own");
  {
    const tests::RefusedMemory refused;
    EXPECT_EQ(name.id(), 0u);
  }
  EXPECT_EQ(name_text(name.id()), "a name that is longer than a short string can be without memory of its own");
}

struct Large {
  std::unique_ptr<int> part = std::make_unique<int>(1);
};

TEST(ThreadOwned, IsNullWithoutMemoryAndThereWhenThereIsSome) {
  {
    const tests::RefusedMemory refused;
    EXPECT_EQ(ThreadOwned<Large>::get(), nullptr);
  }
  ASSERT_NE(ThreadOwned<Large>::get(), nullptr);
  EXPECT_EQ(*ThreadOwned<Large>::get()->part, 1);
}

}  // namespace
}  // namespace mindtorch::record
