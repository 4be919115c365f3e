// JSON escaping, JSON validation and UTF-8 repair.
#include "mindtorch/base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace mindtorch {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr int kMaxJsonDepth = 512;

bool is_continuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

// Length of the valid UTF-8 sequence at the start of `text`, 0 if there is none (overlong forms and surrogates are invalid).
std::size_t utf8_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xC2 && lead <= 0xDF ? 2 : (lead & 0xF0) == 0xE0 ? 3 : lead >= 0xF0 && lead <= 0xF4 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if (!is_continuation(at(i))) return 0;
  if (lead == 0xE0 && at(1) < 0xA0) return 0;
  if (lead == 0xED && at(1) > 0x9F) return 0;
  if (lead == 0xF0 && at(1) < 0x90) return 0;
  if (lead == 0xF4 && at(1) > 0x8F) return 0;
  return length;
}

// Bytes that pass into a JSON string as they are: printable ASCII but for the quote and the backslash.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (int c = 0x20; c < 0x7F; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

void append_control(std::string& out, unsigned char c) {
  constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    default: break;
  }
  out += "\\u00";
  out += kHex[c >> 4];
  out += kHex[c & 15];
}

// `text` with U+FFFD for each byte that is not UTF-8, and for each character that `keep` refuses.
template <class Keep>
std::string repaired(std::string_view text, Keep keep) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0 || !keep(text.substr(0, length))) {
      out += kReplacement;
    } else {
      out.append(text.data(), length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

// A recursive-descent recogniser; it builds nothing.
class JsonRecogniser {
 public:
  explicit JsonRecogniser(std::string_view text) : text_(text) {}

  bool whole() {
    skip_space();
    if (!value(0)) return false;
    skip_space();
    return at_ == text_.size();
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  void skip_space() {
    while (at_ < text_.size() && std::memchr(" \t\n\r", text_[at_], 4)) ++at_;
  }
  bool word(std::string_view w) {
    if (text_.substr(at_, w.size()) != w) return false;
    at_ += w.size();
    return true;
  }
  bool digits() {
    const std::size_t first = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    return at_ > first;
  }
  bool number() {
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (!take('+')) take('-');
      if (!digits()) return false;
    }
    return true;
  }
  // The four hexadecimal digits behind "\\u", -1 if there are none.
  int code_unit() {
    int value = 0;
    const char* first = text_.data() + at_;
    if (text_.size() - at_ < 4 || std::from_chars(first, first + 4, value, 16).ptr != first + 4 || value < 0) return -1;
    at_ += 4;
    return value;
  }
  // Behind "\\u": one character. Half of a surrogate pair is not a character, and readers disagree about what to make of it.
  bool code_point() {
    const int first = code_unit();
    if (first < 0xD800 || first > 0xDFFF) return first >= 0;
    if (first > 0xDBFF || !word("\\u")) return false;
    const int second = code_unit();
    return second >= 0xDC00 && second <= 0xDFFF;
  }
  bool string() {
    if (!take('"')) return false;
    while (at_ < text_.size()) {
      const unsigned char c = static_cast<unsigned char>(text_[at_]);
      if (c == '"') return ++at_, true;
      if (c < 0x20) return false;
      if (c == '\\') {
        ++at_;
        if (take('u')) {
          if (!code_point()) return false;
        } else if (at_ < text_.size() && std::memchr("\"\\/bfnrt", text_[at_], 8)) {
          ++at_;
        } else {
          return false;
        }
        continue;
      }
      const std::size_t length = utf8_length(text_.substr(at_));
      if (length == 0) return false;
      at_ += length;
    }
    return false;
  }
  // The members of an object or an array, after its opening bracket.
  bool members(char close, bool keyed, int depth) {
    skip_space();
    if (take(close)) return true;
    do {
      skip_space();
      if (keyed) {
        if (!string()) return false;
        skip_space();
        if (!take(':')) return false;
        skip_space();
      }
      if (!value(depth + 1)) return false;
      skip_space();
    } while (take(','));
    return take(close);
  }
  bool value(int depth) {
    if (depth > kMaxJsonDepth) return false;
    switch (peek()) {
      case '{': return ++at_, members('}', true, depth);
      case '[': return ++at_, members(']', false, depth);
      case '"': return string();
      case 't': return word("true");
      case 'f': return word("false");
      case 'n': return word("null");
      default: return number();
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

void append_json_escaped(std::string& out, std::string_view text) {
  std::size_t done = 0;
  while (done < text.size()) {
    std::size_t plain_end = done;
    while (plain_end < text.size() && kPlain[static_cast<unsigned char>(text[plain_end])]) ++plain_end;
    out.append(text.data() + done, plain_end - done);
    done = plain_end;
    if (done == text.size()) return;
    const unsigned char c = static_cast<unsigned char>(text[done]);
    if (c < 0x80) {
      append_control(out, c);
      ++done;
    } else if (const std::size_t length = utf8_length(text.substr(done)); length == 2 && c == 0xC2 && text[done + 1] < '\xA0') {
      append_control(out, static_cast<unsigned char>(text[done + 1]));  // U+0080 to U+009F, which some terminals obey
      done += length;
    } else if (length > 0) {
      out.append(text.data() + done, length);
      done += length;
    } else {
      out += kReplacement;
      ++done;
    }
  }
}

std::string json_quoted(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  out += '"';
  append_json_escaped(out, text);
  out += '"';
  return out;
}

bool is_json(std::string_view text) { return JsonRecogniser(text).whole(); }

std::string valid_utf8(std::string_view text) {
  return repaired(text, [](std::string_view) { return true; });
}

std::string without_controls(std::string_view text, bool keep_breaks) {
  return repaired(text, [&](std::string_view character) {
    const auto first = static_cast<unsigned char>(character[0]);
    if (first < 0x20) return keep_breaks && (first == '\t' || first == '\n' || first == '\r');
    if (first == 0x7F) return false;
    if (first == 0xC2) return static_cast<unsigned char>(character[1]) >= 0xA0;  // U+0080 to U+009F
    return character != "\xEF\xBF\xBE" && character != "\xEF\xBF\xBF";
  });
}

}  // namespace mindtorch
