// Uses the installed library through its public headers: throws and catches one of its errors, quotes a text.
#include <mindtorch/base/error.h>
#include <mindtorch/base/text.h>

#include <string_view>

int main() {
  try {
    mindtorch::throw_error<mindtorch::InvalidArgument>("consumer.main", "got {}", 7);
  } catch (const mindtorch::Error& error) {
    const bool told = std::string_view(error.what()) == "[consumer.main] got 7";
    const bool quoted = mindtorch::json_quoted("a\"b") == "\"a\\\"b\"";
    return told && quoted ? 0 : 1;
  }
  return 1;
}
