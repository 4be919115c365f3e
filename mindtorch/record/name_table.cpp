// NameTable: a hash table from texts to ids beside a list from ids to texts.
#include "mindtorch/record/name_table.h"

#include <functional>

namespace mindtorch::record {

NameTable& name_table() {
  static NameTable& table = *new NameTable;
  return table;
}

trace::NameId NameTable::intern(std::string_view text) {
  if (text.empty()) return 0;
  std::lock_guard lock(mutex_);
  return ids_.find_or_add(
      std::hash<std::string_view>()(text), [&](trace::NameId id) { return texts_[id] == text; },
      [&] {
        texts_.emplace_back(text);
        count_.store(texts_.size(), std::memory_order_release);
        return static_cast<trace::NameId>(texts_.size() - 1);
      });
}

const std::string& NameTable::text(trace::NameId id) {
  std::lock_guard lock(mutex_);
  return texts_.at(id);
}

}  // namespace mindtorch::record
