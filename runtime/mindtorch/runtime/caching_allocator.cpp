// The caching allocator.
#include "mindtorch/runtime/caching_allocator.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "mindtorch/record/hooks.h"

namespace mindtorch {

// Memory from the device, and the blocks that it was cut into.
struct MemorySegment {
  char* data = nullptr;
  std::size_t bytes = 0;
  std::size_t carved = 0;  // small: bytes cut off so far
  std::size_t in_use = 0;  // blocks given out
  bool small = false;
  std::vector<std::unique_ptr<MemoryBlock>> blocks;  // small: all blocks; large: the live ones, in no order
};

namespace {

constexpr std::size_t kGranularity = 512;
constexpr std::size_t kSmallLimit = std::size_t{1} << 20;
constexpr std::size_t kSmallSegment = std::size_t{2} << 20;
constexpr std::size_t kMediumLimit = std::size_t{10} << 20;
constexpr std::size_t kMediumSegment = std::size_t{20} << 20;
constexpr std::size_t kLargeRounding = std::size_t{2} << 20;

std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

// Classes 0..7 are 512, 1024, ..., 4096 bytes; then four to each doubling, up to 1 MiB: at most a fifth of a block is unused.
int size_class_of(std::size_t rounded) {
  if (rounded <= 4096) return static_cast<int>(rounded / kGranularity) - 1;
  const int doubling = std::bit_width(rounded - 1) - 13;  // (4096, 8192] -> 0
  const std::size_t step = std::size_t{1024} << doubling;
  const std::size_t base = std::size_t{4096} << doubling;
  return 8 + 4 * doubling + static_cast<int>((rounded - base + step - 1) / step) - 1;
}

std::size_t class_bytes(int size_class) {
  if (size_class < 8) return (static_cast<std::size_t>(size_class) + 1) * kGranularity;
  const int doubling = (size_class - 8) / 4;
  return (std::size_t{4096} << doubling) + (static_cast<std::size_t>((size_class - 8) % 4) + 1) * (std::size_t{1024} << doubling);
}

struct AllocatorList {
  std::mutex mutex;
  std::vector<CachingAllocator*> all;
};

AllocatorList& allocator_list() {
  static auto* list = new AllocatorList();
  return *list;
}

}  // namespace

std::vector<CachingAllocator*> caching_allocators() {
  AllocatorList& list = allocator_list();
  std::lock_guard lock(list.mutex);
  return list.all;
}

CachingAllocator::CachingAllocator(Device device, RawMemory& memory, Count count) : device_(device), memory_(memory), count_(count) {
  AllocatorList& list = allocator_list();
  std::lock_guard lock(list.mutex);
  list.all.push_back(this);
}

CachingAllocator::~CachingAllocator() {
  {
    AllocatorList& list = allocator_list();
    std::lock_guard lock(list.mutex);
    std::erase(list.all, this);
  }
  for (auto& segment : segments_) memory_.release(segment->data, segment->bytes);
}

MemoryBlock* CachingAllocator::allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  const std::size_t rounded = round_up(bytes, kGranularity);
  const StreamId stream = memory_.current_stream();
  MemoryBlock* block;
  std::int64_t allocated, reserved;
  record::MemoryMoment when;
  {
    std::lock_guard lock(mutex_);
    block = rounded <= kSmallLimit ? take_small(size_class_of(rounded)) : take_large(rounded);
    if (block == nullptr) report_out_of_memory(bytes);
    count_use(block, bytes, rounded);
    allocated = stats_.allocated_bytes[kAll].current;
    reserved = stats_.reserved_bytes[kAll].current;
    when = order_.next();
  }
  const StreamId former = std::exchange(block->stream, stream);
  if (former != stream && former != 0) memory_.wait_for_stream(former);
  record::record_memory(when, device_, block->data, static_cast<std::int64_t>(block->counted), allocated, reserved);
  return block;
}

void CachingAllocator::free(MemoryBlock* block) noexcept {
  if (block == nullptr) return;
  const void* data = block->data;
  const auto counted = static_cast<std::int64_t>(block->counted);
  std::int64_t allocated, reserved;
  record::MemoryMoment when;
  {
    std::lock_guard lock(mutex_);
    const Pool pool = block->size_class >= 0 ? kSmall : kLarge;
    for (const Pool p : {kAll, pool}) {
      stats_.allocated_bytes[p].decrease(counted);
      stats_.requested_bytes[p].decrease(static_cast<std::int64_t>(block->requested));
      stats_.allocation[p].decrease(1);
    }
    block->in_use = false;
    --block->segment->in_use;
    if (pool == kSmall) {
      block->next_free = free_small_[block->size_class];
      free_small_[block->size_class] = block;
    } else {
      put_large(block);
    }
    allocated = stats_.allocated_bytes[kAll].current;
    reserved = stats_.reserved_bytes[kAll].current;
    when = order_.next();
  }
  record::record_memory(when, device_, data, -counted, allocated, reserved);
}

void CachingAllocator::count_use(MemoryBlock* block, std::size_t bytes, std::size_t rounded) {
  block->in_use = true;
  block->requested = bytes;
  block->counted = count_ == Count::kRequested ? bytes : rounded;
  ++block->segment->in_use;
  const Pool pool = block->size_class >= 0 ? kSmall : kLarge;
  for (const Pool p : {kAll, pool}) {
    stats_.allocated_bytes[p].increase(static_cast<std::int64_t>(block->counted));
    stats_.requested_bytes[p].increase(static_cast<std::int64_t>(bytes));
    stats_.allocation[p].increase(1);
  }
}

MemoryBlock* CachingAllocator::take_small(int size_class) {
  if (MemoryBlock* block = free_small_[size_class]) {
    free_small_[size_class] = block->next_free;
    return block;
  }
  const std::size_t bytes = class_bytes(size_class);
  if (carving_ == nullptr || carving_->bytes - carving_->carved < bytes) {
    MemorySegment* segment = add_segment(kSmallSegment, kSmall);
    if (segment == nullptr) return nullptr;
    carving_ = segment;
  }
  auto block = std::make_unique<MemoryBlock>();
  block->data = carving_->data + carving_->carved;
  block->capacity = bytes;
  block->segment = carving_;
  block->size_class = size_class;
  carving_->carved += bytes;
  return carving_->blocks.emplace_back(std::move(block)).get();
}

MemoryBlock* CachingAllocator::take_large(std::size_t rounded) {
  MemoryBlock wanted;
  wanted.capacity = rounded;
  auto found = free_large_.lower_bound(&wanted);
  if (found == free_large_.end()) {
    const std::size_t bytes = rounded <= kMediumLimit ? kMediumSegment : round_up(rounded, kLargeRounding);
    MemorySegment* segment = add_segment(bytes, kLarge);
    if (segment == nullptr) return nullptr;
    auto whole = std::make_unique<MemoryBlock>();
    whole->data = segment->data;
    whole->capacity = segment->bytes;
    whole->segment = segment;
    found = free_large_.insert(segment->blocks.emplace_back(std::move(whole)).get()).first;
  }
  MemoryBlock* block = *found;
  free_large_.erase(found);
  if (block->capacity - rounded > kSmallLimit) {
    auto rest = std::make_unique<MemoryBlock>();
    rest->data = static_cast<char*>(block->data) + rounded;
    rest->capacity = block->capacity - rounded;
    rest->segment = block->segment;
    rest->stream = block->stream;
    rest->before = block;
    rest->after = block->after;
    if (rest->after != nullptr) rest->after->before = rest.get();
    block->after = rest.get();
    block->capacity = rounded;
    free_large_.insert(block->segment->blocks.emplace_back(std::move(rest)).get());
  }
  return block;
}

// Merges a freed block with its free neighbours and keeps the result.
void CachingAllocator::put_large(MemoryBlock* block) {
  const auto absorb_next = [&](MemoryBlock* first) {
    MemoryBlock* second = first->after;
    if (first->stream == 0)
      first->stream = second->stream;
    else if (second->stream != 0 && second->stream != first->stream)
      first->stream = RawMemory::kEveryStream;
    first->capacity += second->capacity;
    first->after = second->after;
    if (first->after != nullptr) first->after->before = first;
    std::erase_if(first->segment->blocks, [&](const auto& owned) { return owned.get() == second; });
  };
  if (block->after != nullptr && !block->after->in_use) {
    free_large_.erase(block->after);
    absorb_next(block);
  }
  if (block->before != nullptr && !block->before->in_use) {
    block = block->before;
    free_large_.erase(block);
    absorb_next(block);
  }
  free_large_.insert(block);
}

// A new segment. If the device has no memory left, cached memory is returned to it first. Null if that did not help.
MemorySegment* CachingAllocator::add_segment(std::size_t bytes, Pool pool) {
  void* data = memory_.reserve(bytes);
  if (data == nullptr) {
    ++stats_.retries;
    release_free_segments();
    data = memory_.reserve(bytes);
    if (data == nullptr) return nullptr;
  }
  auto segment = std::make_unique<MemorySegment>();
  segment->data = static_cast<char*>(data);
  segment->bytes = bytes;
  segment->small = pool == kSmall;
  for (const Pool p : {kAll, pool}) {
    stats_.reserved_bytes[p].increase(static_cast<std::int64_t>(bytes));
    stats_.segment[p].increase(1);
  }
  return segments_.emplace_back(std::move(segment)).get();
}

void CachingAllocator::release_free_segments() {
  const auto is_free = [](const MemoryBlock* block) { return block->segment->in_use == 0; };
  std::erase_if(free_large_, is_free);
  for (MemoryBlock*& head : free_small_)
    for (MemoryBlock** link = &head; *link != nullptr;) {
      if (is_free(*link))
        *link = (*link)->next_free;
      else
        link = &(*link)->next_free;
    }
  std::erase_if(segments_, [&](const std::unique_ptr<MemorySegment>& segment) {
    if (segment->in_use != 0) return false;
    if (segment.get() == carving_) carving_ = nullptr;
    for (const Pool p : {kAll, segment->small ? kSmall : kLarge}) {
      stats_.reserved_bytes[p].decrease(static_cast<std::int64_t>(segment->bytes));
      stats_.segment[p].decrease(1);
    }
    memory_.release(segment->data, segment->bytes);
    return true;
  });
}

void CachingAllocator::report_out_of_memory(std::size_t bytes) {
  ++stats_.out_of_memory;
  const RawMemory::Amount amount = memory_.amount();
  throw_error<OutOfMemory>(
      "runtime.allocate",
      "{} out of memory. Tried to allocate {} bytes; the device has {} bytes of which {} are free; {} bytes are allocated by "
      "tensors and {} are reserved",
      device_.str(), bytes, amount.total, amount.free, stats_.allocated_bytes[kAll].current, stats_.reserved_bytes[kAll].current);
}

void CachingAllocator::empty_cache() {
  std::lock_guard lock(mutex_);
  release_free_segments();
}

std::int64_t CachingAllocator::memory_allocated() const {
  std::lock_guard lock(mutex_);
  return stats_.allocated_bytes[kAll].current;
}
std::int64_t CachingAllocator::max_memory_allocated() const {
  std::lock_guard lock(mutex_);
  return stats_.allocated_bytes[kAll].peak;
}
std::int64_t CachingAllocator::memory_reserved() const {
  std::lock_guard lock(mutex_);
  return stats_.reserved_bytes[kAll].current;
}
std::int64_t CachingAllocator::max_memory_reserved() const {
  std::lock_guard lock(mutex_);
  return stats_.reserved_bytes[kAll].peak;
}

void CachingAllocator::reset_peak_memory_stats() {
  std::lock_guard lock(mutex_);
  for (auto* family : {&stats_.allocated_bytes, &stats_.requested_bytes, &stats_.reserved_bytes, &stats_.allocation, &stats_.segment})
    for (MemoryStat& stat : *family) stat.peak = stat.current;
}

void CachingAllocator::reset_accumulated_memory_stats() {
  std::lock_guard lock(mutex_);
  for (auto* family : {&stats_.allocated_bytes, &stats_.requested_bytes, &stats_.reserved_bytes, &stats_.allocation, &stats_.segment})
    for (MemoryStat& stat : *family) stat.allocated = stat.freed = 0;
  stats_.retries = stats_.out_of_memory = 0;
}

std::map<std::string, std::int64_t> CachingAllocator::memory_stats() const {
  std::lock_guard lock(mutex_);
  std::map<std::string, std::int64_t> result;
  const auto add = [&](const char* family, const std::array<MemoryStat, kPools>& stats) {
    static constexpr const char* kPoolNames[] = {"all", "small_pool", "large_pool"};
    for (int pool = 0; pool < kPools; ++pool) {
      const std::string prefix = fmt::format("{}.{}.", family, kPoolNames[pool]);
      result[prefix + "current"] = stats[pool].current;
      result[prefix + "peak"] = stats[pool].peak;
      result[prefix + "allocated"] = stats[pool].allocated;
      result[prefix + "freed"] = stats[pool].freed;
    }
  };
  add("allocated_bytes", stats_.allocated_bytes);
  add("active_bytes", stats_.allocated_bytes);  // a block is active exactly while a tensor owns it
  add("requested_bytes", stats_.requested_bytes);
  add("reserved_bytes", stats_.reserved_bytes);
  add("allocation", stats_.allocation);
  add("active", stats_.allocation);
  add("segment", stats_.segment);
  result["num_alloc_retries"] = stats_.retries;
  result["num_ooms"] = stats_.out_of_memory;
  return result;
}

}  // namespace mindtorch
