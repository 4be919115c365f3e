// What users read of an error.
#pragma once

#include <cstddef>
#include <exception>
#include <string_view>

namespace mindtorch {

// The text without the part and the function that errors of this library name first ("[record.prepare] "), which help only its developers.
inline const char* text_for_users(const std::exception& error) {
  const std::string_view text = error.what();
  if (!text.starts_with('[')) return error.what();
  const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:", 1);
  const bool names_function = end != text.npos && text.substr(end).starts_with("] ") && text.substr(0, end).find('.') != text.npos;
  return error.what() + (names_function ? end + 2 : 0);
}

}  // namespace mindtorch
