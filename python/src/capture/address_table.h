// AddressTable: values of objects, found by the addresses of the objects. A lookup takes a few nanoseconds and allocates nothing, because
// it happens at every call and frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace mindtorch::python {

// Two addresses that identify something together.
struct AddressPair {
  const void* first = nullptr;
  const void* second = nullptr;
  bool operator==(const AddressPair&) const = default;
};

inline std::uint64_t address_hash(const void* address) noexcept {
  return (reinterpret_cast<std::uintptr_t>(address) >> 4) * 0x9E3779B97F4A7C15u;
}
inline std::uint64_t address_hash(const AddressPair& pair) noexcept { return address_hash(pair.first) ^ (address_hash(pair.second) << 1); }

// Key is a pointer or an AddressPair. Key{} is never looked up.
template <class Key, class Value>
class AddressTable {
 public:
  // Null if the key has not been entered. The value stays where it is until the next make_room(), enter() or clear().
  const Value* find(const Key& key) const noexcept {
    for (std::size_t at = first_place(key);; at = next(at)) {
      if (entries_[at].key == key) [[likely]]
        return &entries_[at].value;
      if (entries_[at].key == Key{}) return nullptr;
    }
  }

  // The key must be new. Throws std::bad_alloc, unless make_room() was called since the last one.
  void enter(const Key& key, const Value& value) {
    make_room();
    place(key) = {key, value};
    ++used_;
  }

  // Throws std::bad_alloc, and has changed nothing then.
  void make_room() {
    if ((used_ + 1) * 2 <= entries_.size()) return;
    std::vector<Entry> smaller(entries_.size() * 2);
    std::swap(entries_, smaller);
    mask_ = entries_.size() - 1;
    for (const Entry& entry : smaller)
      if (entry.key != Key{}) place(entry.key) = entry;
  }

  void clear() noexcept {
    entries_.assign(entries_.size(), {});
    used_ = 0;
  }

 private:
  struct Entry {
    Key key{};
    Value value{};
  };
  static constexpr std::size_t kFirstSize = 1024;

  std::size_t first_place(const Key& key) const noexcept { return (address_hash(key) >> 32) & mask_; }
  std::size_t next(std::size_t at) const noexcept { return (at + 1) & mask_; }
  // The free place where a new key belongs.
  Entry& place(const Key& key) noexcept {
    std::size_t at = first_place(key);
    while (entries_[at].key != Key{}) at = next(at);
    return entries_[at];
  }

  std::vector<Entry> entries_ = std::vector<Entry>(kFirstSize);  // open addressing; its size is a power of two, at most half is used
  std::size_t mask_ = kFirstSize - 1;
  std::size_t used_ = 0;
};

}  // namespace mindtorch::python
