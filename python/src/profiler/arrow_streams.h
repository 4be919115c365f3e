// Tables for Python through Arrow's C stream interface.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>

#include "mindtorch/export/tabular/tabular_arrow.h"

namespace mindtorch::python {

namespace nb = nanobind;

// What __arrow_c_stream__() returns: a capsule with the stream that `open` fills in.
nb::object stream_capsule(const std::function<void(ArrowArrayStream*)>& open);

// An object with __arrow_c_stream__(), which gives away `stream`, once. It owns the stream.
nb::object stream_object(ArrowArrayStream stream);

}  // namespace mindtorch::python
