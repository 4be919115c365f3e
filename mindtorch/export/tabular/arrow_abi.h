// The three structs of Arrow's C data and C stream interface, by which programs hand over tables without copying them. The specification of
// Apache Arrow fixes the names of the fields and their layout.
#pragma once

#include <cstdint>

extern "C" {

// The type of a column or of a table. The consumer calls `release` once, and a released struct has none.
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

// The values of a column or of a table.
struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

// A table in parts. The functions return 0 or a value of errno; an array without `release` is the end.
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

}  // extern "C"

namespace mindtorch::exporter {

inline constexpr std::int64_t kArrowNullable = 2;  // a bit of ArrowSchema::flags

}  // namespace mindtorch::exporter
