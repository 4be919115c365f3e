// Small additions to simdjson's on-demand values.
#pragma once

#include <simdjson.h>

#include <string_view>
#include <utility>

#include "mindtorch/ingest/chrome/raw_json.h"

namespace mindtorch::ingest::chrome {

// The text of any value, containers included; the value is used up.
inline simdjson::error_code raw_text(simdjson::ondemand::value value, std::string_view& text) {
  simdjson::error_code error = simdjson::SUCCESS;
  const std::string_view token = trimmed(value.raw_json_token());
  if (token.starts_with('{')) {
    simdjson::ondemand::object object;
    error = value.get_object().get(object);
    if (error == simdjson::SUCCESS) error = object.raw_json().get(text);
  } else if (token.starts_with('[')) {
    simdjson::ondemand::array array;
    error = value.get_array().get(array);
    if (error == simdjson::SUCCESS) error = array.raw_json().get(text);
  } else {
    text = token;
  }
  text = trimmed(text);
  return error;
}

// Calls read_item(value, index) for each item. A value that is not a list is ignored.
template <class ReadItem>
simdjson::error_code for_each_item(simdjson::ondemand::value value, ReadItem read_item) {
  simdjson::ondemand::array list;
  if (value.get_array().get(list) != simdjson::SUCCESS) return simdjson::SUCCESS;
  std::size_t index = 0;
  for (auto item : list) {
    simdjson::ondemand::value inner;
    if (const simdjson::error_code error = std::move(item).get(inner)) return error;
    if (const simdjson::error_code error = read_item(inner, index++)) return error;
  }
  return simdjson::SUCCESS;
}

}  // namespace mindtorch::ingest::chrome
