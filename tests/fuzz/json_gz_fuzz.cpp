// Fuzzes the reader of compressed Chrome traces. An input that starts like gzip is read as it is; else it is {how much to keep u16, text},
// which the target compresses and cuts, as no fuzzer would guess a checksum.
#include <libdeflate.h>

#include "mindtorch/base/error.h"
#include "mindtorch/ingest/chrome/chrome_reader.h"
#include "tests/fuzz/fuzz.h"

namespace {

std::string compressed(std::string_view text) {
  libdeflate_compressor* const compressor = libdeflate_alloc_compressor(1);
  std::string out(libdeflate_gzip_compress_bound(compressor, text.size()), '\0');
  out.resize(libdeflate_gzip_compress(compressor, text.data(), text.size(), out.data(), out.size()));
  libdeflate_free_compressor(compressor);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mindtorch;
  std::string file(fuzz::as_text(data, size));
  if (!file.starts_with("\x1F\x8B")) {
    if (size < 2) return 0;
    const std::size_t kept = data[0] | static_cast<std::size_t>(data[1]) << 8;
    file = compressed(std::string_view(file).substr(2));
    if (kept < file.size()) file.resize(kept);
  }
  try {
    fuzz::require_sound(ingest::read_chrome_bytes(file, "fuzz").recording);
  } catch (const Error&) {
    // Refused with a reason.
  }
  return 0;
}
