// Values of options that make sense. CLI11 takes what its conversions make of a text, such as 2^64 - 1 of "-1", and any range holds nan.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>

namespace mindtorch::mtprof {

// A whole number from `least` to `most`.
CLI::Validator whole_number(std::int64_t least, std::int64_t most = std::numeric_limits<std::int32_t>::max());
// A number from `least` to `most`.
CLI::Validator number(double least, double most);
// A size such as 512MB or 4GiB, which becomes the number of its bytes; units are powers of 1024.
CLI::Validator memory_size();
// A path with one of these ends.
CLI::Validator suffix(std::vector<std::string> suffixes);

}  // namespace mindtorch::mtprof
