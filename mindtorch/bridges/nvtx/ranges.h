// Ranges: what NVTX's calls do to the recorder. Internal to the bridge.
#pragma once

#include "mindtorch/bridges/nvtx/domains.h"
#include "mindtorch/bridges/nvtx/nvtx_abi.h"
#include "mindtorch/record/names.h"

namespace mindtorch::nvtx {

// A range or a mark as the program describes it. Without attributes it has a name only.
struct Described {
  Domain& domain;
  trace::NameId name = 0;
  const EventAttributes* attributes = nullptr;
};

// Push and pop nest on each thread, for each domain by itself. Both return the depth of the range, or a negative number if there is none.
int push_range(const Described& range) noexcept;
int pop_range(const Domain& domain) noexcept;

// Such a range may end on any thread, and need not nest.
RangeId start_range(const Described& range) noexcept;
void end_range(RangeId id) noexcept;

void mark(const Described& moment) noexcept;

// True if a session asks for ranges now.
bool is_recorded() noexcept;

// Makes what the functions below need, once, before the first of them is called. Throws std::bad_alloc.
void prepare_ranges();

}  // namespace mindtorch::nvtx
