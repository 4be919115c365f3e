// Names are ids. Each thread has a small cache in front of the table of the process.
#include "mindtorch/record/names.h"

#include <array>

#include "mindtorch/base/thread_owned.h"
#include "mindtorch/record/name_table.h"

namespace mindtorch::record {
namespace {

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

trace::NameId intern(std::string_view text) { return name_table().intern(text); }

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

const std::string& name_text(trace::NameId id) { return name_table().text(id); }

std::size_t name_count() { return name_table().size(); }

}  // namespace mindtorch::record
