// What the fuzz targets share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "mindtorch/trace/invariants.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::fuzz {

// Reading may fail, but what is read must be a Recording that everything else can rely on.
inline void require_sound(const trace::Recording& recording) {
  if (const std::string broken = trace::check_invariants(recording); !broken.empty()) {
    std::fprintf(stderr, "the reader made a recording that breaks an invariant: %s\n", broken.c_str());
    std::abort();
  }
}

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) { return {reinterpret_cast<const char*>(data), size}; }

}  // namespace mindtorch::fuzz
