// Names are ids. There is one table per process and one small cache per thread.
#include "mindtorch/record/names.h"

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <mutex>

#include "mindtorch/base/thread_owned.h"
#include "mindtorch/record/name_table.h"
#include "mindtorch/trace/interning.h"

namespace mindtorch::record {
namespace {

struct NameTable {
  std::mutex mutex;
  std::deque<std::string> texts{""};  // a deque never moves its elements
  trace::IdTable ids;                 // of all texts but the empty one; a node per text would cost a cache miss for each look-up
  std::atomic<std::size_t> count{1};
};

// Never destroyed: threads may record after static destructors ran.
NameTable& table() {
  static NameTable& it = *new NameTable;
  return it;
}

// Direct-mapped by content hash; a collision only costs a look-up in the table.
struct CachedName {
  const std::string* text = nullptr;
  trace::NameId id = 0;
};
constexpr std::size_t kCacheSize = 256;
struct NameCache {
  std::array<CachedName, kCacheSize> entries;
};

// Cheap and good enough for a cache index: length and the ends of the text. Names that differ only in the middle share an entry.
std::size_t cache_index(std::string_view text) {
  std::uint64_t head = 0, tail = 0;
  const std::size_t size = text.size();
  if (size >= 8) {
    __builtin_memcpy(&head, text.data(), 8);
    __builtin_memcpy(&tail, text.data() + size - 8, 8);
  } else {
    __builtin_memcpy(&head, text.data(), size);
  }
  const std::uint64_t mixed = (head ^ (tail << 1) ^ size) * 0x9E3779B97F4A7C15u;
  return mixed >> 56;
}
static_assert(kCacheSize == 256, "cache_index() gives 8 bits");

}  // namespace

trace::NameId intern(std::string_view text) {
  if (text.empty()) return 0;
  NameTable& names = table();
  std::lock_guard lock(names.mutex);
  return names.ids.find_or_add(
      std::hash<std::string_view>()(text), [&](trace::NameId id) { return names.texts[id] == text; },
      [&] {
        names.texts.emplace_back(text);
        names.count.store(names.texts.size(), std::memory_order_release);
        return static_cast<trace::NameId>(names.texts.size() - 1);
      });
}

trace::NameId intern_cached(std::string_view text) noexcept {
  NameCache* const cache = ThreadOwned<NameCache>::get();
  CachedName no_cache;
  CachedName& entry = cache != nullptr ? cache->entries[cache_index(text)] : no_cache;
  if (entry.text != nullptr && *entry.text == text) [[likely]]
    return entry.id;
  try {
    entry.id = intern(text);
    entry.text = &name_text(entry.id);
    return entry.id;
  } catch (...) {
    return 0;  // out of memory: the event is recorded without its name
  }
}

const std::string& name_text(trace::NameId id) {
  NameTable& names = table();
  std::lock_guard lock(names.mutex);
  return names.texts.at(id);
}

std::size_t name_count() { return table().count.load(std::memory_order_acquire); }

void lock_name_table() { table().mutex.lock(); }
void unlock_name_table() { table().mutex.unlock(); }

}  // namespace mindtorch::record
