// Values of JSON as text.
#include "mindtorch/base/json_writer.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "mindtorch/base/text.h"

namespace mindtorch {

void JsonWriter::separate() {
  if (needs_comma_) text_ += ',';
  if (std::exchange(breaks_line_, false)) text_ += '\n';
  needs_comma_ = true;
}

void JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  needs_comma_ = false;
}

JsonWriter& JsonWriter::close(char bracket) {
  text_ += bracket;
  needs_comma_ = true;
  breaks_line_ = false;
  return *this;
}

JsonWriter& JsonWriter::json(std::string_view json) {
  separate();
  text_ += json;
  return *this;
}

JsonWriter& JsonWriter::value(std::nullptr_t) { return json("null"); }
JsonWriter& JsonWriter::value(bool value) { return json(value ? "true" : "false"); }

JsonWriter& JsonWriter::value(double value) {
  if (!std::isfinite(value)) return this->value(nullptr);
  separate();
  fmt::format_to(std::back_inserter(text_), "{}", value);
  return *this;
}

JsonWriter& JsonWriter::value(std::int64_t value) { return json(fmt::format_int(value).c_str()); }
JsonWriter& JsonWriter::value(std::uint64_t value) { return json(fmt::format_int(value).c_str()); }

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  text_ += '"';
  append_json_escaped(text_, text);
  text_ += '"';
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  value(name);
  text_ += ':';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::line_break() {
  breaks_line_ = true;
  return *this;
}

}  // namespace mindtorch
