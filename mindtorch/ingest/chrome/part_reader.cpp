// The hot loop of the Chrome importer: fields of an element by their first letters, texts by their raw tokens.
#include "mindtorch/ingest/chrome/part_reader.h"

#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "mindtorch/ingest/chrome/json_value.h"
#include "mindtorch/ingest/chrome/part_builder.h"
#include "mindtorch/ingest/chrome/raw_json.h"

namespace mindtorch::ingest::chrome {
namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::error_code;

constexpr std::size_t kPadding = 64;              // simdjson reads so far beyond the end of a text
constexpr std::uint64_t kElementParserBytes = 8;  // for each byte of text: the buffer, the parser's index and its strings
constexpr std::uint64_t kHeaderEntry = 160;       // of a map, besides its texts
constexpr std::uint64_t kElementsBetweenChecks = 256;

}  // namespace

class PartReader::State {
 public:
  explicit State(const TextLimits& limits) : builder_(limits.keep_flows), max_memory_(limits.max_memory) {
    // What one event may take while it is parsed.
    element_.arguments.memory = trace::MemoryBudget(limits.max_memory / 4);
  }

  void read_piece(const TextPiece& piece) {
    piece_ = piece;
    is_parsing_ = false;
    const std::size_t size = piece.prefix.size() + piece.text.size() + piece.suffix.size();
    if (buffer_size_ < size + kPadding) {
      buffer_size_ = size + size / 8 + kPadding;
      check_memory();
      buffer_ = std::make_unique_for_overwrite<char[]>(buffer_size_);
    }
    char* at = buffer_.get();
    for (const std::string_view text : {piece.prefix, piece.text, piece.suffix}) at = std::copy(text.begin(), text.end(), at);
    std::memset(at, 0, kPadding);
    const error_code error = read_document({buffer_.get(), size});
    check_memory();
    if (error != simdjson::SUCCESS) part().damage = simdjson::error_message(error);
  }

  TracePart& part() { return builder_.part(); }

  std::size_t position() {
    const char* at = nullptr;
    if (!is_parsing_ || document_.current_location().get(at) != simdjson::SUCCESS) return 0;
    const auto parsed = static_cast<std::size_t>(at - buffer_.get());
    return std::min(parsed - std::min(parsed, piece_.prefix.size()), piece_.text.size());
  }

 private:
  error_code read_document(std::string_view text) {
    if (const error_code error = parser_.iterate(text.data(), text.size(), text.size() + kPadding).get(document_)) return error;
    is_parsing_ = true;
    ondemand::json_type type;
    if (const error_code error = document_.type().get(type)) return error;
    if (type == ondemand::json_type::array) {
      ondemand::array events;
      if (const error_code error = document_.get_array().get(events)) return error;
      return read_elements(events);
    }
    ondemand::object top;
    if (const error_code error = document_.get_object().get(top)) return error;
    for (auto result : top) {
      ondemand::field field;
      if (const error_code error = std::move(result).get(field)) return error;
      if (const error_code error = read_top_level(field)) return error;
    }
    return simdjson::SUCCESS;
  }

  error_code read_top_level(ondemand::field& field) {
    std::string_view key;
    if (const error_code error = field.unescaped_key().get(key)) return error;
    ondemand::value value = field.value();
    if (key == trace::chrome_format::header::kEvents) {
      ondemand::array events;
      const error_code error = value.get_array().get(events);
      return error == simdjson::SUCCESS ? read_elements(events) : error;
    }
    std::string_view json;
    if (const error_code error = raw_text(value, json)) return error;
    part().header_bytes += key.size() + json.size() + kHeaderEntry;
    check_memory();
    part().header[std::string(key)] = json;
    return simdjson::SUCCESS;
  }

  error_code read_elements(ondemand::array elements) {
    for (auto item : elements) {
      ondemand::object object;
      const error_code error = item.get_object().get(object);
      if (error == simdjson::INCORRECT_TYPE) {
        ++part().elements;
        builder_.skip("not an object");
        continue;
      }
      if (error != simdjson::SUCCESS) return error;
      if (const error_code inside = read_element(object)) return inside;
      // Only whole elements count: a damaged one leaves nothing behind.
      ++part().elements;
      builder_.add(element_);
      if (part().elements % kElementsBetweenChecks == 0) check_memory();
    }
    return simdjson::SUCCESS;
  }

  void check_memory() const {
    if (builder_.memory() + kElementParserBytes * buffer_size_ > max_memory_) throw trace::BudgetExceeded();
  }

  error_code read_element(ondemand::object object) {
    element_.clear();
    for (auto result : object) {
      ondemand::field field;
      if (const error_code error = std::move(result).get(field)) return error;
      if (const error_code error = read_field(field)) return error;
    }
    return simdjson::SUCCESS;
  }

  error_code read_field(ondemand::field& field) {
    const char* const key = field.key().raw();
    const auto is = [&]<std::size_t N>(const char(&text)[N]) { return std::memcmp(key, text, N - 1) == 0; };
    const auto token = [&] { return trimmed(field.value().raw_json_token()); };
    switch (key[0]) {
      case 'p':
        if (is("ph\"")) element_.phase = token();
        if (is("pid\"")) element_.pid = token();
        break;
      case 't':
        if (is("ts\"")) element_.start = token();
        if (is("tid\"")) element_.tid = token();
        break;
      case 'd':
        if (is("dur\"")) element_.duration = token();
        break;
      case 'c':
        if (is("cat\"")) element_.category = token();
        break;
      case 'n':
        if (is("name\"")) return read_name(field.value(), token());
        break;
      case 'i':
        if (is("id\"")) element_.id = token();
        break;
      case 'a':
        if (is("args\"")) {
          ondemand::object arguments;
          const error_code error = field.value().get_object().get(arguments);
          if (error == simdjson::INCORRECT_TYPE) break;
          return error != simdjson::SUCCESS ? error : builder_.arguments().read(arguments, element_.arguments);
        }
        break;
      default: break;
    }
    return simdjson::SUCCESS;
  }

  error_code read_name(ondemand::value value, std::string_view token) {
    error_code error = simdjson::SUCCESS;
    element_.name = builder_.names().find(part().recording.names, token, [&] {
      std::string_view text = token;
      if (is_string(token)) error = value.get_string().get(text);
      return text;
    });
    return error;
  }

  PartBuilder builder_;
  Element element_;
  ondemand::parser parser_;
  std::unique_ptr<char[]> buffer_;
  std::size_t buffer_size_ = 0;
  ondemand::document document_;  // of the latest piece, if is_parsing_
  TextPiece piece_;
  bool is_parsing_ = false;
  std::uint64_t max_memory_;
};

PartReader::PartReader(const TextLimits& limits) : state_(std::make_unique<State>(limits)) {}
PartReader::~PartReader() = default;
void PartReader::read(const TextPiece& piece) { state_->read_piece(piece); }
bool PartReader::is_damaged() const { return !state_->part().damage.empty(); }
std::size_t PartReader::position() const { return state_->position(); }
TracePart PartReader::take() { return std::move(state_->part()); }

}  // namespace mindtorch::ingest::chrome
