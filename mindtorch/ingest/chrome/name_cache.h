// Maps the raw token of a JSON string to the id of its text, without unescaping a text that was seen before.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/ingest/chrome/raw_json.h"
#include "mindtorch/trace/interning.h"

namespace mindtorch::ingest::chrome {

inline std::uint64_t hash_of(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

class NameCache {
 public:
  // `text` is called for a token that is new and gives what it stands for.
  template <class Text>
  trace::NameId find(std::vector<std::string>& names, std::string_view token, Text text) {
    const std::uint32_t entry = table_.find_or_add(
        hash_of(token), [&](std::uint32_t id) { return is_same(tokens_[id], token); },
        [&] {
          tokens_.emplace_back(token);
          text_bytes_ += token.size();
          ids_.push_back(intern(names, text()));
          return static_cast<std::uint32_t>(tokens_.size() - 1);
        });
    return ids_[entry];
  }
  trace::NameId intern(std::vector<std::string>& names, std::string_view text) {
    const std::size_t known = names.size();
    const trace::NameId id = interner_.intern(names, text);
    if (names.size() > known) text_bytes_ += text.size();
    return id;
  }
  // Bytes of the texts, here and in the names.
  std::uint64_t memory() const { return 2 * text_bytes_; }

 private:
  trace::IdTable table_;
  trace::NameInterner interner_;
  std::vector<std::string> tokens_;
  std::vector<trace::NameId> ids_;
  std::uint64_t text_bytes_ = 0;
};

}  // namespace mindtorch::ingest::chrome
