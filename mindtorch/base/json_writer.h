// JsonWriter: writes JSON value by value, with the commas in their places. For everything but the events of a trace, which are written a
// million times per file.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "mindtorch/base/export.h"

namespace mindtorch {

// JsonWriter json;
// json.object([&] { json.field("name", name).list_field("steps", steps, [&](const Step& step) { json.value(step.number); }); });
//
// Each call writes one value. A number that JSON does not have (an infinite one) is written as null.
class MINDTORCH_EXPORT JsonWriter {
 public:
  JsonWriter& value(std::nullptr_t);
  JsonWriter& value(bool value);
  JsonWriter& value(double value);
  JsonWriter& value(std::int64_t value);
  JsonWriter& value(std::uint64_t value);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  template <std::signed_integral Number>
  JsonWriter& value(Number number) {
    return value(static_cast<std::int64_t>(number));
  }
  template <std::unsigned_integral Number>
  JsonWriter& value(Number number) {
    return value(static_cast<std::uint64_t>(number));
  }
  template <class T>
  JsonWriter& value(const std::optional<T>& value) {
    return value ? this->value(*value) : this->value(nullptr);
  }
  // Text that is one JSON value already.
  JsonWriter& json(std::string_view json);

  // The name of the member that the next call writes.
  JsonWriter& key(std::string_view name);
  template <class T>
  JsonWriter& field(std::string_view name, T&& value) {
    return key(name).value(std::forward<T>(value));
  }

  // An object whose members `members` writes.
  template <class Members>
  JsonWriter& object(Members members) {
    open('{');
    members();
    return close('}');
  }
  // A list: write_item(item) writes each value.
  template <class Items, class Write>
  JsonWriter& list(const Items& items, Write write_item) {
    open('[');
    for (const auto& item : items) std::invoke(write_item, item);
    return close(']');
  }
  template <class Items>
  JsonWriter& list(const Items& items) {
    return list(items, [this](const auto& item) { this->value(item); });
  }
  template <class Members>
  JsonWriter& object_field(std::string_view name, Members members) {
    return key(name).object(std::move(members));
  }
  template <class... Arguments>
  JsonWriter& list_field(std::string_view name, const Arguments&... arguments) {
    return key(name).list(arguments...);
  }

  // The next value, and the text up to it, stand on lines of their own: for people who look at the file.
  JsonWriter& line_break();

  const std::string& text() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  void separate();
  void open(char bracket);
  JsonWriter& close(char bracket);

  std::string text_;
  bool needs_comma_ = false;
  bool breaks_line_ = false;
};

}  // namespace mindtorch
