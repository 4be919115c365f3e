// The tool that NVTX finds: what a program and its libraries report with NVTX becomes scopes and instants of the recorder.
//
// Design: CUPTI can record NVTX too (kinds MARKER and MARKER_DATA), and it has to be found by NVTX in the same way. Being the tool
// ourselves is simpler: ranges are written to the log of their thread, on the recorder's clock, so they nest with ops, get their spans on
// the GPU, and need neither a GPU nor CUPTI. Only one tool can be found, so where NVTX_INJECTION64_PATH names another one, ranges go there.
#pragma once

#include <cstdint>
#include <string>

#include "mindtorch/base/export.h"

namespace mindtorch::nvtx {

// The file that NVTX_INJECTION64_PATH must name before a library makes its first NVTX call: the one that holds this function.
MINDTORCH_EXPORT std::string injection_path();
// How many libraries of this process report to us so far.
MINDTORCH_EXPORT std::uint32_t connected_libraries() noexcept;

}  // namespace mindtorch::nvtx

// NVTX calls it. Returns 1 if the library was connected.
// NOLINTNEXTLINE(readability-identifier-naming): the vendor's name
extern "C" MINDTORCH_EXPORT int InitializeInjectionNvtx2(const void* (*get_export_table)(std::uint32_t table));
