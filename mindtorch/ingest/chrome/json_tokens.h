// JsonTokens: goes along the tokens of a JSON text. simdjson finds where they begin, many bytes at a time, and nothing is copied.
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "mindtorch/ingest/chrome/raw_json.h"

namespace mindtorch::ingest::chrome {

// Whether a value that starts with `c` is a single token.
inline bool starts_plain_value(char c) { return c != '{' && c != '[' && c != '}' && c != ']' && c != ':' && c != ','; }

// A value is checked as far as it is looked at: brackets and commas have their places, and a number or a word may be anything.
class JsonTokens {
 public:
  using Error = simdjson::error_code;

  JsonTokens();

  // Goes to the first token of `text`, which must stay where it is. Fails if the text holds no token, is not UTF-8, or if a string has no
  // end or holds control characters.
  Error start(std::string_view text);
  // Where the token at hand begins in the text.
  std::size_t position() const { return count_ == 0 ? 0 : starts_[at_]; }

  // The first character of the token at hand; '\0' behind the last one.
  char first() const { return at_ < count_ ? text_[starts_[at_]] : '\0'; }
  bool is_at_end() const { return at_ >= count_; }
  char last_of_all() const { return count_ == 0 ? '\0' : text_[starts_[count_ - 1]]; }
  // The token at hand; of a list or an object only the bracket.
  std::string_view token() const { return between(starts_[at_], starts_[at_ + 1]); }

  // Steps over the token at hand if it starts with `c`.
  bool take(char c) {
    const bool is_there = first() == c;
    at_ += static_cast<std::size_t>(is_there);
    return is_there;
  }
  // Steps over the value at hand.
  Error skip() {
    switch (first()) {
      case '{':
      case '[': return skip_container();
      case '}':
      case ']':
      case ':':
      case ',': return simdjson::TAPE_ERROR;
      case '\0': return simdjson::INCOMPLETE_ARRAY_OR_OBJECT;
      default: ++at_; return simdjson::SUCCESS;
    }
  }
  // Steps over the value at hand. `token` is its token.
  Error take_token(std::string_view& token) {
    token = this->token();
    return skip();
  }
  // Steps over the value at hand. `json` is all of its text.
  Error take_json(std::string_view& json);
  // Steps over the value at hand. If it is a string, `text` is what it stands for, until drop_texts(); otherwise `text` stays as it is.
  Error take_text(std::string_view& text);
  // What the characters between two quotes stand for, until drop_texts().
  Error unescape(std::string_view inside, std::string_view& text);
  void drop_texts() {
    if (!texts_.empty()) texts_.clear();
  }

  // Calls read(key) for each member of the object at hand; read() steps over the value. The key is what lies between its quotes.
  template <class Read>
  Error for_each_member(Read&& read);
  // The same, with read_token(key, token) for each member whose value is a single token: neither a list nor an object.
  template <class ReadToken, class Read>
  Error for_each_member(ReadToken&& read_token, Read&& read);
  // The same from behind a member on.
  template <class Read>
  Error for_each_further_member(Read&& read);
  // Calls read(index) for each item of the list at hand; read() steps over the item.
  template <class Read>
  Error for_each_item(Read&& read);

 private:
  template <class Read>
  Error read_member(Read& read);
  template <class ReadToken>
  Error read_plain_members(ReadToken& read_token, char& after);
  Error skip_container();
  std::string_view between(std::uint32_t begin, std::uint32_t end) const { return trimmed({text_ + begin, end - begin}); }

  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser_;
  std::size_t capacity_ = 0;
  const char* text_ = nullptr;
  const std::uint32_t* starts_ = nullptr;  // of each token; the size of the text follows twice
  std::size_t count_ = 0;
  std::size_t at_ = 0;
  std::deque<std::string> texts_;  // that had escapes
};

template <class Read>
JsonTokens::Error JsonTokens::for_each_member(Read&& read) {
  if (!take('{')) return simdjson::TAPE_ERROR;
  if (take('}')) return simdjson::SUCCESS;
  if (const Error error = read_member(read)) return error;
  return for_each_further_member(read);
}

template <class ReadToken, class Read>
JsonTokens::Error JsonTokens::for_each_member(ReadToken&& read_token, Read&& read) {
  if (!take('{')) return simdjson::TAPE_ERROR;
  if (take('}')) return simdjson::SUCCESS;
  do {
    char after = '\0';
    if (const Error error = read_plain_members(read_token, after)) return error;
    if (after == '}') return simdjson::SUCCESS;
    if (const Error error = read_member(read)) return error;
  } while (take(','));
  return take('}') ? simdjson::SUCCESS : simdjson::TAPE_ERROR;
}

// Steps over members of four tokens: key, colon, value, and what follows, which is a comma or the end of the object. `after` is what
// follows the last one. Most members are such. The place among the tokens is kept in a register for all of them, which is twice as fast as
// a step for each token.
template <class ReadToken>
JsonTokens::Error JsonTokens::read_plain_members(ReadToken& read_token, char& after) {
  std::size_t at = at_;
  Error error = simdjson::SUCCESS;
  do {
    const std::uint32_t* const token = starts_ + at;
    if (at + 3 >= count_ || text_[token[0]] != '"' || text_[token[1]] != ':' || !starts_plain_value(text_[token[2]])) break;
    const char next = text_[token[3]];
    if (next != ',' && next != '}') break;
    after = next;
    at += 4;
    error = read_token(inside_quotes(between(token[0], token[1])), between(token[2], token[3]));
  } while (after == ',' && error == simdjson::SUCCESS);
  at_ = at;
  return error;
}

template <class Read>
JsonTokens::Error JsonTokens::for_each_further_member(Read&& read) {
  while (take(',')) {
    if (const Error error = read_member(read)) return error;
  }
  return take('}') ? simdjson::SUCCESS : simdjson::TAPE_ERROR;
}

template <class Read>
JsonTokens::Error JsonTokens::read_member(Read& read) {
  if (at_ + 2 >= count_) return simdjson::INCOMPLETE_ARRAY_OR_OBJECT;
  const std::string_view key = token();
  if (!is_string(key) || text_[starts_[at_ + 1]] != ':') return simdjson::TAPE_ERROR;
  at_ += 2;
  return read(inside_quotes(key));
}

template <class Read>
JsonTokens::Error JsonTokens::for_each_item(Read&& read) {
  if (!take('[')) return simdjson::TAPE_ERROR;
  if (take(']')) return simdjson::SUCCESS;
  std::size_t index = 0;
  do {
    if (const Error error = read(index++)) return error;
  } while (take(','));
  return take(']') ? simdjson::SUCCESS : simdjson::TAPE_ERROR;
}

}  // namespace mindtorch::ingest::chrome
