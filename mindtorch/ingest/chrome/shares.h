// Threads that read shares of a trace side by side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#include "mindtorch/ingest/chrome/trace_part.h"

namespace mindtorch::ingest::chrome {

inline constexpr std::size_t kPieceSize = std::size_t{256} << 10;  // text and index of a piece stay in the cache

// As many as may read `pieces` pieces if `threads` were asked for; 0: one per processor. At most eight.
inline std::size_t count_shares(std::size_t pieces, unsigned threads) {
  constexpr std::size_t kMostShares = 8;
  const std::size_t wanted = threads != 0 ? threads : std::thread::hardware_concurrency();
  return std::min({pieces, kMostShares, std::max<std::size_t>(1, wanted)});
}

// What read(share) returns for each share. Throws the error of the first share that has one.
template <class Read>
std::vector<TracePart> read_shares(std::size_t shares, const Read& read) {
  std::vector<TracePart> parts(shares);
  std::vector<std::exception_ptr> errors(shares);
  const auto run = [&](std::size_t share) {
    try {
      parts[share] = read(share);
    } catch (...) {
      errors[share] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    others.reserve(shares);
    std::size_t alone = shares;  // from this share on, there are no threads to read them
    for (std::size_t share = 1; share < alone; ++share) {
      try {
        others.emplace_back(run, share);
      } catch (const std::system_error&) {
        alone = share;
      }
    }
    run(0);
    for (std::size_t share = alone; share < shares; ++share) run(share);
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return parts;
}

}  // namespace mindtorch::ingest::chrome
