// Messages to standard error.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace mindtorch::mtprof {

// Standard error may be closed, or be a file on a full disk. Then nobody reads the message, and the command goes on.
template <class... Arguments>
void print_message(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  const std::string message = fmt::format(text, std::forward<Arguments>(arguments)...);
  static_cast<void>(std::fwrite(message.data(), 1, message.size(), stderr));
}

}  // namespace mindtorch::mtprof
