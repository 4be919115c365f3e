// Fuzzes the reader of Chrome traces with their text.
#include "mindtorch/base/error.h"
#include "mindtorch/ingest/chrome/chrome_reader.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mindtorch;
  const std::string_view text = fuzz::as_text(data, size);
  if (text.starts_with("\x1F\x8B")) return 0;  // that is json_gz_fuzz
  try {
    fuzz::require_sound(ingest::read_chrome_bytes(text, "fuzz", {.check_flows = true}).recording);
  } catch (const Error&) {
    // Refused with a reason.
  }
  return 0;
}
