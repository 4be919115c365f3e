// The main function of every test program: runs the tests, all of them or with --only=<path> those of tests/<path>_test.cpp.
#include <gmock/gmock.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace {

constexpr std::string_view kOnly = "--only=";

// The tests of that file as a filter of googletest's; empty if there are none.
std::string filter_for(std::string_view path) {
  const std::string file = "tests/" + std::string(path) + "_test.cpp";
  std::string filter;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const testing::TestInfo& test = *suite.GetTestInfo(j);
      if (std::string_view(test.file()).ends_with(file)) filter += std::string(suite.name()) + "." + test.name() + ":";
    }
  }
  return filter;
}

}  // namespace

// ThreadSanitizer takes a number for one descriptor of the process. Threads with a descriptor table of their own use the same numbers for
// other files, which it reports as races of the calls below.
extern "C" const char* __tsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier): the sanitizer's name for it
  return "race:interceptor_accept4\nrace:interceptor_bind\nrace:interceptor_close\nrace:interceptor_connect\nrace:interceptor_dup\n"
         "race:interceptor_open\nrace:interceptor_pipe2\nrace:interceptor_socket\n";
}

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (!argument.starts_with(kOnly)) continue;
    const std::string filter = filter_for(argument.substr(kOnly.size()));
    if (filter.empty()) {
      std::fprintf(stderr, "%s: no tests of that file are in this program\n", argv[i]);
      return 1;
    }
    testing::GTEST_FLAG(filter) = filter;
  }
  return RUN_ALL_TESTS();
}
