// System calls that the kernel refuses, as an older kernel or the sandbox of a container does.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <vector>

namespace mindtorch::tests {

constexpr long kCloseRange = 436;  // on all architectures; the headers of older systems lack it

// From now on, in this process and its children.
inline bool refuse(std::initializer_list<long> calls) {
  std::vector<sock_filter> filter = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const long call : calls) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// The exit status of a child that is refused these calls and then returns what `body` returns; -1 if it crashed, and nothing if this system
// has no filters of system calls, as under qemu.
template <class Body>
std::optional<int> status_where_refused(std::initializer_list<long> calls, Body body) {
  constexpr int kNoFilters = 77;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(refuse(calls) ? body() : kNoFilters);
  int status = -1;
  ::waitpid(child, &status, 0);
  if (!WIFEXITED(status)) return -1;
  if (WEXITSTATUS(status) == kNoFilters) return std::nullopt;
  return WEXITSTATUS(status);
}

}  // namespace mindtorch::tests
