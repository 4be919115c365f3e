// The hot loop of the Chrome importer: fields of an element by their names, texts by their raw tokens.
#include "mindtorch/ingest/chrome/part_reader.h"

#include <algorithm>

#include "mindtorch/ingest/chrome/json_tokens.h"
#include "mindtorch/ingest/chrome/part_builder.h"
#include "mindtorch/ingest/chrome/raw_json.h"

namespace mindtorch::ingest::chrome {
namespace {

using simdjson::error_code;

constexpr std::uint64_t kElementParserBytes = 8;  // for each byte of text: the index of tokens, and texts with escapes
constexpr std::uint64_t kHeaderEntry = 160;       // of a map, besides its texts
constexpr std::uint64_t kElementsBetweenChecks = 256;

}  // namespace

class PartReader::State {
 public:
  explicit State(const TextLimits& limits)
      : builder_(limits.keep_flows), times_only_(limits.times_only), kept_attributes_(limits.attributes), max_memory_(limits.max_memory) {
    // What one event may take while it is parsed.
    element_.arguments.memory = trace::MemoryBudget(limits.max_memory / 4);
  }

  void read_piece(const TextPiece& piece) {
    piece_size_ = std::max(piece_size_, piece.text.size());
    check_memory();
    const error_code error = read_document(piece);
    check_memory();
    if (error != simdjson::SUCCESS) part().damage = simdjson::error_message(error);
  }

  TracePart& part() { return builder_.part(); }

  std::size_t position() const { return tokens_.position(); }

 private:
  // A piece with a prefix begins between events, and one with a suffix ends there.
  error_code read_document(const TextPiece& piece) {
    if (const error_code error = tokens_.start(piece.text)) return error;
    const bool begins_inside = !piece.prefix.empty();
    const bool is_object = (begins_inside ? piece.prefix[0] : tokens_.first()) == '{';
    ends_inside_ = !piece.suffix.empty();
    ended_inside_ = false;
    if (!ends_inside_ && tokens_.last_of_all() != (is_object ? '}' : ']')) return simdjson::INCOMPLETE_ARRAY_OR_OBJECT;
    const error_code error = read_tokens(begins_inside, is_object);
    if (!ends_inside_) return error;
    return ended_inside_ ? simdjson::SUCCESS : error != simdjson::SUCCESS ? error : simdjson::TAPE_ERROR;
  }

  error_code read_tokens(bool begins_inside, bool is_object) {
    const auto read_member = [&](std::string_view key) { return read_top_level(key); };
    if (is_object && !begins_inside) return tokens_.for_each_member(read_member);
    part().has_events = true;
    if (!begins_inside && !tokens_.take('[')) return simdjson::INCORRECT_TYPE;
    const error_code error = read_elements();
    return error == simdjson::SUCCESS && is_object && !ended_inside_ ? tokens_.for_each_further_member(read_member) : error;
  }

  error_code read_top_level(std::string_view raw_key) {
    std::string_view key, json;
    if (const error_code error = tokens_.unescape(raw_key, key)) return error;
    if (key == trace::chrome_format::header::kEvents) {
      part().has_events = true;
      return tokens_.take('[') ? read_elements() : simdjson::INCORRECT_TYPE;
    }
    if (const error_code error = tokens_.take_json(json)) return error;
    part().header_bytes += key.size() + json.size() + kHeaderEntry;
    check_memory();
    part().header[std::string(key)] = json;
    return simdjson::SUCCESS;
  }

  // Reads elements to the end of their list, or to the end of a piece that ends before.
  error_code read_elements() {
    if (tokens_.take(']')) return simdjson::SUCCESS;
    do {
      if (const error_code error = read_item()) return error;
      // Only whole elements count: a damaged one leaves nothing behind.
      if (++part().elements % kElementsBetweenChecks == 0) check_memory();
    } while (tokens_.take(','));
    ended_inside_ = ends_inside_ && tokens_.is_at_end();
    return ended_inside_ || tokens_.take(']') ? simdjson::SUCCESS : simdjson::TAPE_ERROR;
  }

  error_code read_item() {
    if (tokens_.first() != '{') {
      const error_code error = tokens_.skip();
      if (error == simdjson::SUCCESS) builder_.skip("not an object");
      return error;
    }
    element_.clear();
    tokens_.drop_texts();
    const error_code error = tokens_.for_each_member([&](std::string_view key, std::string_view token) { return read_field(key, token); },
                                                     [&](std::string_view key) { return read_arguments(key); });
    if (error != simdjson::SUCCESS) return error;
    builder_.add(element_);
    return simdjson::SUCCESS;
  }

  void check_memory() const {
    if (builder_.memory() + kElementParserBytes * piece_size_ > max_memory_) throw trace::BudgetExceeded();
  }

  error_code read_field(std::string_view key, std::string_view token) {
    if (std::string_view* const into = field_of(key)) *into = token;
    return is_text(key, "name") ? read_name(token) : simdjson::SUCCESS;
  }

  error_code read_arguments(std::string_view key) {
    if (!is_text(key, "args") || tokens_.first() != '{') return tokens_.skip();
    if (!times_only_) return builder_.arguments().read(tokens_, {}, element_.arguments);
    const bool is_event = is_text(element_.phase, "\"X\"");
    const WantedArguments wanted{.inputs = !is_text(element_.category, "\"cpu_op\"") || is_collective_call(),
                                 .stacks = false,
                                 .attributes = is_event ? &kept_attributes_ : nullptr};
    return builder_.arguments().read(tokens_, wanted, element_.arguments);
  }

  // The inputs of these ops tell with which rank a message is exchanged.
  bool is_collective_call() { return part().recording.names[element_.name].starts_with("c10d::"); }

  // Where the token of a field goes; nullptr if it is none of those.
  std::string_view* field_of(std::string_view key) {
    if (key.size() == 2) {
      if (is_text(key, "ph")) return &element_.phase;
      if (is_text(key, "ts")) return &element_.start;
      if (is_text(key, "id")) return &element_.id;
    } else if (key.size() == 3) {
      if (is_text(key, "cat")) return &element_.category;
      if (is_text(key, "pid")) return &element_.pid;
      if (is_text(key, "tid")) return &element_.tid;
      if (is_text(key, "dur")) return &element_.duration;
    }
    return nullptr;
  }

  error_code read_name(std::string_view token) {
    error_code error = simdjson::SUCCESS;
    element_.name = builder_.names().find(part().recording.names, token, [&] {
      std::string_view text = token;
      if (is_string(token)) error = tokens_.unescape(inside_quotes(token), text);
      return text;
    });
    return error;
  }

  PartBuilder builder_;
  Element element_;
  JsonTokens tokens_;
  std::size_t piece_size_ = 0;  // of the largest piece
  bool ends_inside_ = false;    // whether the text of the piece at hand ends between events
  bool ended_inside_ = false;   // whether that end has been reached
  bool times_only_;
  AttributeFilter kept_attributes_;
  std::uint64_t max_memory_;
};

PartReader::PartReader(const TextLimits& limits) : state_(std::make_unique<State>(limits)) {}
PartReader::~PartReader() = default;
void PartReader::read(const TextPiece& piece) { state_->read_piece(piece); }
bool PartReader::is_damaged() const { return !state_->part().damage.empty(); }
std::size_t PartReader::position() const { return state_->position(); }
TracePart PartReader::take() { return std::move(state_->part()); }

}  // namespace mindtorch::ingest::chrome
