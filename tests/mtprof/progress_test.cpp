// Progress: shown on a terminal while something takes long, gone when it is done, never anywhere else.
#include "mtprof/progress.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <pty.h>
#include <unistd.h>

#include <array>
#include <string>

namespace mindtorch::mtprof {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

// While it lives, standard error is `fd`.
class StandardError {
 public:
  explicit StandardError(int fd) : saved_(::dup(STDERR_FILENO)) { ::dup2(fd, STDERR_FILENO); }
  ~StandardError() {
    ::dup2(saved_, STDERR_FILENO);
    ::close(saved_);
  }
  StandardError(const StandardError&) = delete;
  StandardError& operator=(const StandardError&) = delete;

 private:
  int saved_;
};

// Waits until there is something to read.
std::string read_some(int fd) {
  std::array<char, 4096> bytes;
  const ssize_t size = ::read(fd, bytes.data(), bytes.size());
  return {bytes.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

TEST(Progress, AppearsOnATerminalAndLeavesItClean) {
  int leader = -1, follower = -1;
  ASSERT_EQ(::openpty(&leader, &follower, nullptr, nullptr, nullptr), 0);
  std::string shown;
  {
    const StandardError redirected(follower);
    const Progress progress("reading a long trace");
    shown = read_some(leader);  // comes only if progress is shown
  }
  EXPECT_THAT(shown, HasSubstr("reading a long trace"));
  while (!shown.ends_with("\r\033[K")) shown += read_some(leader);
  EXPECT_THAT(shown, EndsWith("\r\033[K"));
  ::close(leader);
  ::close(follower);
}

TEST(Progress, SaysNothingToAPipe) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  {
    const StandardError redirected(ends[1]);
    const Progress progress("reading");
  }
  ::close(ends[1]);
  EXPECT_EQ(read_some(ends[0]), "");
  ::close(ends[0]);
}

}  // namespace
}  // namespace mindtorch::mtprof
