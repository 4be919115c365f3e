// Hooks while nothing records: they allocate nothing and leave nothing behind. Allocations of the whole program are counted.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "mindtorch/record/hooks.h"
#include "mindtorch/record/input_writer.h"
#include "mindtorch/record/session.h"

namespace {

std::atomic<std::size_t> allocations{0};

void* counted(std::size_t size) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(size == 0 ? 1 : size);
}
void* counted_or_throw(std::size_t size) {
  if (void* memory = counted(size)) return memory;
  throw std::bad_alloc();
}

}  // namespace

// All forms, so that none is left to a sanitizer, which would miss its own at the end.
void* operator new(std::size_t size) { return counted_or_throw(size); }
void* operator new[](std::size_t size) { return counted_or_throw(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return counted(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return counted(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace mindtorch::record {
namespace {

void call_hooks(NameId op) {
  const OpScope scope(op);
  if (scope.wants(kShapes)) InputWriter(scope).integer(1);
  const NamedScope named("a name that is longer than a short string can be without memory of its own");
}

TEST(IdleHooks, AllocateNothing) {
  const NameId op = intern("aten::mul");
  const std::size_t before = allocations.load();
  for (int i = 0; i < 1000; ++i) call_hooks(op);
  EXPECT_EQ(allocations.load(), before);
}

TEST(IdleHooks, AllocateNothingAfterASessionEither) {
  const NameId op = intern("aten::mul");
  auto session = Session::prepare({.shapes = true});
  session->start();
  call_hooks(op);
  EXPECT_EQ(session->stop().events.size(), 2u);
  const std::size_t before = allocations.load();
  for (int i = 0; i < 1000; ++i) call_hooks(op);
  EXPECT_EQ(allocations.load(), before);
  EXPECT_GT(before, 0u);  // they are counted
}

}  // namespace
}  // namespace mindtorch::record
