// Memory that is refused: a program that includes this file has its own operator new. Include it in one source of a test program only.
#pragma once

#include <cstdlib>
#include <new>

namespace mindtorch::tests {

inline thread_local bool memory_is_refused = false;

// While one exists, every allocation of this thread fails.
struct RefusedMemory {
  RefusedMemory() { memory_is_refused = true; }
  ~RefusedMemory() { memory_is_refused = false; }
  RefusedMemory(const RefusedMemory&) = delete;
  RefusedMemory& operator=(const RefusedMemory&) = delete;
};

inline void* take_memory(std::size_t size) noexcept { return memory_is_refused ? nullptr : std::malloc(size == 0 ? 1 : size); }
inline void* take_memory_or_throw(std::size_t size) {
  if (void* memory = take_memory(size)) return memory;
  throw std::bad_alloc();
}

}  // namespace mindtorch::tests

// All forms, so that none is left to a sanitizer.
void* operator new(std::size_t size) { return mindtorch::tests::take_memory_or_throw(size); }
void* operator new[](std::size_t size) { return mindtorch::tests::take_memory_or_throw(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return mindtorch::tests::take_memory(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return mindtorch::tests::take_memory(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
