// Storage: allocation and release.
#include "mindtorch/runtime/storage.h"

#include "mindtorch/runtime/cpu_backend.h"

namespace mindtorch {

IntrusivePtr<Storage> Storage::allocate(std::size_t bytes, Device device) {
  CachingAllocator& allocator = device.is_cpu() ? cpu_allocator() : device_backend(device).allocator(device);
  MemoryBlock* block = allocator.allocate(bytes);
  return IntrusivePtr<Storage>(new Storage(block != nullptr ? block->data : nullptr, bytes, device, &allocator, block));
}

IntrusivePtr<Storage> Storage::wrap(void* data, std::size_t bytes, Device device, std::function<void()> release) {
  auto storage = IntrusivePtr<Storage>(new Storage(data, bytes, device, nullptr, nullptr));
  if (release) storage->release_ = new std::function<void()>(std::move(release));
  return storage;
}

Storage::~Storage() {
  if (allocator_ != nullptr) allocator_->free(block_);
  if (release_ != nullptr) {
    (*release_)();
    delete release_;
  }
}

}  // namespace mindtorch
