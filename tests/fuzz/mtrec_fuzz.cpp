// Fuzzes the reader of recordings. The input is a list of chunks; the target gives each its checksum and compresses it, as no fuzzer would
// guess those. An input that starts with the magic is read as it is.
#include <zstd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>
#include <vector>

#include "mindtorch/base/error.h"
#include "mindtorch/ingest/recording_file.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace mindtorch;

constexpr std::uint64_t kMemory = std::uint64_t{128} << 20;
constexpr char kHeader[] = "MTREC\r\n\x1a\x01\x00\x00\x00\x04\x03\x02\x01";

template <class T>
void put(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof value; ++i) out += static_cast<char>(value >> (8 * i));
}

// Input: {type[4], length u16, payload[length]}...
std::string file_of(std::string_view input) {
  std::string file(kHeader, sizeof kHeader - 1);
  while (input.size() >= 6) {
    const std::size_t length =
        std::min<std::size_t>(static_cast<std::uint8_t>(input[4]) | static_cast<std::uint8_t>(input[5]) << 8, input.size() - 6);
    std::string packed(ZSTD_compressBound(length), '\0');
    packed.resize(ZSTD_compress(packed.data(), packed.size(), input.data() + 6, length, 1));
    std::string chunk(input.substr(0, 4));
    put(chunk, static_cast<std::uint32_t>(length));
    put(chunk, static_cast<std::uint32_t>(packed.size()));
    chunk += packed;
    put(file, XXH3_64bits_withSeed(chunk.data(), chunk.size(), file.size()));
    file += chunk;
    input.remove_prefix(6 + length);
  }
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = fuzz::as_text(data, size);
  const std::string file = input.starts_with("MTREC") ? std::string(input) : file_of(input);
  try {
    fuzz::require_sound(ingest::load_recording_bytes(file, "fuzz", {.max_memory = kMemory}).recording);
  } catch (const Error&) {
    // Refused with a reason.
  }
  return 0;
}
