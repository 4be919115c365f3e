// Large pages: advice that reaches the kernel for large columns, and touches nothing else.
#include "mindtorch/base/large_pages.h"

#include <gmock/gmock.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/emulator.h"

namespace mindtorch {
namespace {

constexpr std::size_t kLarge = std::size_t{32} << 20;

// The flags that the kernel keeps for the mapping around an address; "hg" stands for large pages.
std::string flags_of(const void* address) {
  std::ifstream smaps("/proc/self/smaps");
  bool is_inside = false;
  for (std::string line; std::getline(smaps, line);) {
    std::uintptr_t first = 0, last = 0;
    char dash = 0;
    if (std::istringstream(line) >> std::hex >> first >> dash >> last && dash == '-')
      is_inside = first <= reinterpret_cast<std::uintptr_t>(address) && reinterpret_cast<std::uintptr_t>(address) < last;
    if (is_inside && line.starts_with("VmFlags:")) return line;
  }
  return "";
}

class LargePagesTest : public testing::Test {
 protected:
  LargePagesTest() : begin_(static_cast<char*>(::mmap(nullptr, kLarge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}
  ~LargePagesTest() override { ::munmap(begin_, kLarge); }

  char* begin_;
};

TEST_F(LargePagesTest, TheKernelIsToldAboutLargeMemory) {
  if (tests::is_emulated()) GTEST_SKIP() << "qemu does not pass the advice on";
  if (::madvise(begin_, 0, MADV_HUGEPAGE) != 0 || flags_of(begin_).empty()) GTEST_SKIP() << "the kernel has no large pages";
  prefer_large_pages(begin_, kLarge);
  EXPECT_THAT(flags_of(begin_ + kLarge / 2), testing::HasSubstr(" hg"));
}

TEST_F(LargePagesTest, SmallMemoryIsLeftAlone) {
  prefer_large_pages(begin_, 1 << 20);
  EXPECT_THAT(flags_of(begin_), testing::Not(testing::HasSubstr(" hg")));
}

TEST_F(LargePagesTest, WhatIsWrittenStays) {
  std::vector<std::uint32_t> column(kLarge / sizeof(std::uint32_t), 7);
  prefer_large_pages(column);
  EXPECT_EQ(std::count(column.begin(), column.end(), 7u), static_cast<std::ptrdiff_t>(column.size()));
}

}  // namespace
}  // namespace mindtorch
