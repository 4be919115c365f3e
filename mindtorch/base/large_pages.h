// Large pages for columns that are about to be filled.
#pragma once

#include <cstddef>

namespace mindtorch {

// Asks the kernel to back [begin, begin + bytes) with large pages where it has them. The first touch of each 4 KiB page costs as much as
// the work on the events that lie in it; therefore an event of a large recording would cost more than one of a small recording. Call it
// before the memory is touched. Does nothing for less than some megabytes, and nothing where the kernel refuses.
void prefer_large_pages(void* begin, std::size_t bytes) noexcept;

template <class Column>
void prefer_large_pages(Column& column) noexcept {
  prefer_large_pages(column.data(), column.size() * sizeof(column[0]));
}

}  // namespace mindtorch
