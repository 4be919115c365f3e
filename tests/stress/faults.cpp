// A library for LD_PRELOAD that lets calls of the profiler fail: those that its own code makes for memory, threads, files and sockets. The
// program's own calls are left alone, so whatever goes wrong is the profiler's doing. Loaded by the stress cases of
// tests/stress/starving.py.
//
//   mindtorch_faults(seed, per_million)      from now on, so many of a million calls fail; none with 0
//   mindtorch_faults_so_far()                how many have failed
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>

namespace {

struct Range {
  std::uintptr_t begin, end;
};

std::array<Range, 16> ours;
std::atomic<std::size_t> our_count{0};
std::atomic<std::uint64_t> seed{0}, calls{0}, failed{0};
std::atomic<std::uint32_t> rate{0};

// The library and the bridge. The embedded runtime is the program here. The Python module is left out, because nanobind, which is part of
// it, ends the program without memory.
bool is_ours(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  return file.find("mindtorch") != file.npos && file.find("runtime") == file.npos;
}

int add_if_ours(dl_phdr_info* info, std::size_t, void*) {
  if (!is_ours(info->dlpi_name)) return 0;
  Range all{UINTPTR_MAX, 0};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    all = {std::min(all.begin, begin), std::max(all.end, begin + info->dlpi_phdr[i].p_memsz)};
  }
  const std::size_t count = our_count.load();
  if (count < ours.size()) {
    ours[count] = all;
    our_count.store(count + 1);
  }
  return 0;
}

bool lies_in_ours(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (std::size_t i = 0; i < our_count.load(std::memory_order_acquire); ++i)
    if (at >= ours[i].begin && at < ours[i].end) return true;
  return false;
}

// Whether the call that `caller` makes is to fail. Numbers that follow each other give numbers that look random (splitmix64).
bool fails(const void* caller) {
  const std::uint32_t per_million = rate.load(std::memory_order_relaxed);
  if (per_million == 0 || !lies_in_ours(caller)) return false;
  std::uint64_t x = seed.load(std::memory_order_relaxed) + calls.fetch_add(1, std::memory_order_relaxed) * 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  if ((x ^ (x >> 31)) % 1'000'000 >= per_million) return false;
  failed.fetch_add(1, std::memory_order_relaxed);
  return true;
}

// An exception that nobody catches ends the program: this is what the cases look for.
[[noreturn]] void tell_where() {
  rate.store(0);
  std::array<void*, 64> frames;
  const int count = ::backtrace(frames.data(), frames.size());
  ::backtrace_symbols_fd(frames.data(), count, STDERR_FILENO);
  std::abort();
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

// The real function behind a wrapper. It is looked up once: dlsym() takes a lock that the caller may not hold in a forked child.
#define REAL(name) static auto* const real = next<decltype(::name)>(#name)

void* take(std::size_t bytes, std::size_t alignment, const void* caller) {
  if (fails(caller)) throw std::bad_alloc();
  void* const memory = alignment == 0 ? std::malloc(bytes) : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

#define CALLER __builtin_return_address(0)
#define PUBLIC __attribute__((visibility("default"), noinline))

// C++ libraries give memory back with free(), whichever operator it came from.
PUBLIC void* operator new(std::size_t bytes) { return take(bytes, 0, CALLER); }
PUBLIC void* operator new[](std::size_t bytes) { return take(bytes, 0, CALLER); }
PUBLIC void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return take(bytes, static_cast<std::size_t>(alignment), CALLER);
}
PUBLIC void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return take(bytes, static_cast<std::size_t>(alignment), CALLER);
}

extern "C" {

PUBLIC void mindtorch_faults(std::uint64_t new_seed, std::uint32_t per_million) {
  rate.store(0);
  if (our_count.load() == 0) ::dl_iterate_phdr(add_if_ours, nullptr);
  std::set_terminate(tell_where);
  seed.store(new_seed);
  calls.store(0);
  rate.store(per_million);
}

PUBLIC std::uint64_t mindtorch_faults_so_far() { return failed.load(); }

PUBLIC void* mmap(void* address, std::size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
  REAL(mmap);
  if (!fails(CALLER)) return real(address, bytes, protection, flags, fd, offset);
  errno = ENOMEM;
  return MAP_FAILED;
}

PUBLIC int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  REAL(pthread_create);
  // std::thread calls this inside of the C++ library, and hands over an object of a class that its own caller has defined.
  Dl_info about;
  const bool is_std_thread = ::dladdr(reinterpret_cast<void*>(start), &about) != 0 &&
                             std::string_view(about.dli_fname).find("libstdc++") != std::string_view::npos;
  if (fails(is_std_thread ? *static_cast<void**>(argument) : CALLER)) return EAGAIN;
  return real(thread, attributes, start, argument);
}

PUBLIC ssize_t write(int fd, const void* bytes, std::size_t count) {
  REAL(write);
  if (!fails(CALLER)) return real(fd, bytes, count);
  errno = ENOSPC;
  return -1;
}

PUBLIC ssize_t pwrite(int fd, const void* bytes, std::size_t count, off_t offset) {
  REAL(pwrite);
  if (!fails(CALLER)) return real(fd, bytes, count, offset);
  errno = EIO;
  return -1;
}

PUBLIC int ftruncate(int fd, off_t size) noexcept {
  REAL(ftruncate);
  if (!fails(CALLER)) return real(fd, size);
  errno = EIO;
  return -1;
}

PUBLIC int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  REAL(renameat);
  if (!fails(CALLER)) return real(from_folder, from, to_folder, to);
  errno = EACCES;
  return -1;
}

// The mode is there only if a file may be made; otherwise it is not looked at.
PUBLIC int open(const char* path, int flags, ...) {
  REAL(open);
  std::va_list rest;
  va_start(rest, flags);
  const auto mode = va_arg(rest, mode_t);
  va_end(rest);
  if (!fails(CALLER)) return real(path, flags, mode);
  errno = EMFILE;
  return -1;
}

PUBLIC int openat(int folder, const char* path, int flags, ...) {
  REAL(openat);
  std::va_list rest;
  va_start(rest, flags);
  const auto mode = va_arg(rest, mode_t);
  va_end(rest);
  if (!fails(CALLER)) return real(folder, path, flags, mode);
  errno = EMFILE;
  return -1;
}

PUBLIC int socket(int domain, int type, int protocol) noexcept {
  REAL(socket);
  if (!fails(CALLER)) return real(domain, type, protocol);
  errno = EMFILE;
  return -1;
}

PUBLIC int accept4(int fd, sockaddr* address, socklen_t* length, int flags) {
  REAL(accept4);
  if (!fails(CALLER)) return real(fd, address, length, flags);
  errno = ENOBUFS;
  return -1;
}

}  // extern "C"
