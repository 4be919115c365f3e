// The index of tokens, and strings with escapes.
#include "mindtorch/ingest/chrome/json_tokens.h"

#include <new>

namespace mindtorch::ingest::chrome {
namespace {

constexpr std::size_t kSmallestCapacity = std::size_t{64} << 10;

}  // namespace

JsonTokens::JsonTokens() = default;

JsonTokens::Error JsonTokens::start(std::string_view text) {
  count_ = at_ = 0;
  drop_texts();
  if (text.empty()) return simdjson::EMPTY;
  if (parser_ == nullptr) {
    const Error error = simdjson::get_active_implementation()->create_dom_parser_implementation(kSmallestCapacity, 1, parser_);
    if (error != simdjson::SUCCESS) throw std::bad_alloc();
    capacity_ = kSmallestCapacity;
  }
  if (text.size() > capacity_) {
    if (const Error error = parser_->set_capacity(text.size())) return error;
    capacity_ = text.size();
  }
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  if (const Error error = parser_->stage1(bytes, text.size(), simdjson::stage1_mode::regular)) return error;
  text_ = text.data();
  starts_ = parser_->structural_indexes.get();
  count_ = parser_->n_structural_indexes;
  return simdjson::SUCCESS;
}

// Brackets of both kinds are counted together: what is skipped is not looked at more closely.
JsonTokens::Error JsonTokens::skip_container() {
  std::size_t depth = 0;
  for (; at_ < count_; ++at_) {
    const char c = text_[starts_[at_]];
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) {
      ++at_;
      return simdjson::SUCCESS;
    }
  }
  return simdjson::INCOMPLETE_ARRAY_OR_OBJECT;
}

JsonTokens::Error JsonTokens::take_json(std::string_view& json) {
  const char c = first();
  if (c != '{' && c != '[') return take_token(json);
  const char* const begin = text_ + starts_[at_];
  const Error error = skip_container();
  if (error == simdjson::SUCCESS) json = {begin, text_ + starts_[at_ - 1] + 1};
  return error;
}

JsonTokens::Error JsonTokens::take_text(std::string_view& text) {
  if (first() != '"') return skip();
  std::string_view token;
  if (const Error error = take_token(token)) return error;
  return unescape(inside_quotes(token), text);
}

JsonTokens::Error JsonTokens::unescape(std::string_view inside, std::string_view& text) {
  if (inside.find('\\') == std::string_view::npos) {
    text = inside;
    return simdjson::SUCCESS;
  }
  std::string source(inside);
  source += '"';
  source.append(simdjson::SIMDJSON_PADDING, '\0');
  std::string& plain = texts_.emplace_back(source.size(), '\0');
  auto* const begin = reinterpret_cast<std::uint8_t*>(plain.data());
  const std::uint8_t* const end = parser_->parse_string(reinterpret_cast<const std::uint8_t*>(source.data()), begin);
  if (end == nullptr) return simdjson::STRING_ERROR;
  plain.resize(static_cast<std::size_t>(end - begin));
  text = plain;
  return simdjson::SUCCESS;
}

}  // namespace mindtorch::ingest::chrome
