// Single values as JSON and as CSV.
#include "mindtorch/export/tabular/tabular_text.h"

#include <fmt/core.h>

#include <iterator>

#include "mindtorch/base/text.h"

namespace mindtorch::exporter {
namespace {

thread_local bool is_plain_csv = false;

struct JsonWriter {
  std::string& out;

  void operator()(std::monostate) { out += "null"; }
  void operator()(bool value) { out += value ? "true" : "false"; }
  void operator()(std::int64_t value) { fmt::format_to(std::back_inserter(out), "{}", value); }
  void operator()(double value) { fmt::format_to(std::back_inserter(out), "{}", value); }
  void operator()(Time time) {
    const std::uint64_t ns = time.ns < 0 ? -static_cast<std::uint64_t>(time.ns) : static_cast<std::uint64_t>(time.ns);
    fmt::format_to(std::back_inserter(out), "{}{}.{:03}", time.ns < 0 ? "-" : "", ns / 1000, ns % 1000);
  }
  void operator()(std::string_view text) { out += json_quoted(text); }
  void operator()(const Json& json) { out += json.text; }
};

// Spreadsheets run a cell that starts with one of these as a formula, quoted or not.
bool looks_like_formula(std::string_view text) { return !text.empty() && std::string_view("=+-@\t\r\n").find(text[0]) != text.npos; }

void append_csv_field(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == text.npos) {
    out += text;
    return;
  }
  out.push_back('"');
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  out.push_back('"');
}

}  // namespace

PlainCsv::PlainCsv() noexcept { is_plain_csv = true; }
PlainCsv::~PlainCsv() { is_plain_csv = false; }

void append_json(std::string& out, const Value& value) { std::visit(JsonWriter{out}, value); }

void append_csv(std::string& out, const Value& value) {
  const auto append_text = [&](std::string_view text) {
    const std::string plain = without_controls(text, true);
    if (plain.empty() && is_plain_csv) out += "\"\"";
    append_csv_field(out, !is_plain_csv && looks_like_formula(plain) ? "'" + plain : plain);
  };
  if (const auto* text = std::get_if<std::string>(&value)) {
    append_text(*text);
  } else if (const auto* view = std::get_if<std::string_view>(&value)) {
    append_text(*view);
  } else if (const auto* json = std::get_if<Json>(&value)) {
    append_csv_field(out, json->text);
  } else if (!std::holds_alternative<std::monostate>(value)) {
    append_json(out, value);
  }
}

}  // namespace mindtorch::exporter
