// Kernels that read and write elements chosen by an index.
#include "mindtorch/runtime/kernels/cpu/indexing.h"

#include <algorithm>

#include "mindtorch/runtime/kernels/cpu/vectorize.h"

namespace mindtorch::cpu {

namespace {

std::int64_t checked(std::int64_t index, std::int64_t size, std::int64_t dim, std::string_view op) {
  if (index < 0 || index >= size) throw_error(op, "index {} is out of bounds for dimension {} with size {}", index, dim, size);
  return index;
}

template <class E>
void check_all(const std::int64_t* index, std::int64_t count, std::int64_t size, std::string_view op) {
  for (std::int64_t k = 0; k < count; ++k)
    if (index[k] < 0 || index[k] >= size) throw_error<E>(op, "index out of range in self: {} is not below the size {}", index[k], size);
}

template <class T>
void add_to(T& cell, T value) {
  if constexpr (std::is_same_v<T, bool>)
    cell = cell || value;
  else
    cell = static_cast<T>(cell + value);
}

// Operand 0 at the position that operand 1 says; f(cell, value of operand 2).
template <class T, class F>
void write_indexed(const LoopPlan<3>& plan, const IndexedDim& dim, std::string_view op, const F& f) {
  run_loop_serially(plan, [&](const std::array<char*, 3>& at, const std::array<std::int64_t, 3>& stride, std::int64_t n) {
    if (stride[0] == sizeof(T) && stride[1] == 0 && stride[2] == sizeof(T)) {  // one index for a whole row
      const std::int64_t index = checked(*reinterpret_cast<const std::int64_t*>(at[1]), dim.size, dim.dim, op);
      auto* row = reinterpret_cast<T*>(at[0] + index * dim.stride);
      for (std::int64_t i = 0; i < n; ++i) f(row[i], reinterpret_cast<const T*>(at[2])[i]);
      return;
    }
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t index = checked(*reinterpret_cast<const std::int64_t*>(at[1] + i * stride[1]), dim.size, dim.dim, op);
      f(*reinterpret_cast<T*>(at[0] + i * stride[0] + index * dim.stride), *reinterpret_cast<const T*>(at[2] + i * stride[2]));
    }
  });
}

}  // namespace

void index_select(ScalarType type, void* out, const void* in, const std::int64_t* index, std::int64_t count, const Axis& axis) {
  check_all<OutOfRange>(index, count, axis.size, "aten::index_select");
  const auto bytes = static_cast<std::size_t>(axis.inner) * element_size(type);
  parallel_for(0, axis.outer * count, kParallelGrain / std::max<std::int64_t>(axis.inner, 1) + 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t r = from; r < to; ++r) {
      const std::int64_t source = r / count * axis.size + index[r % count];
      std::memcpy(static_cast<char*>(out) + static_cast<std::size_t>(r) * bytes,
                  static_cast<const char*>(in) + static_cast<std::size_t>(source) * bytes, bytes);
    }
  });
}

void index_add(ScalarType type, void* out, const void* source, const std::int64_t* index, std::int64_t count, const Axis& axis,
               const Scalar& alpha) {
  check_all<Error>(index, count, axis.size, "aten::index_add");
  visit_types(type, [&]<class T>() {
    const T factor = alpha.to<T>();
    for (std::int64_t o = 0; o < axis.outer; ++o)
      for (std::int64_t k = 0; k < count; ++k) {
        T* to = static_cast<T*>(out) + (o * axis.size + index[k]) * axis.inner;
        const T* from = static_cast<const T*>(source) + (o * count + k) * axis.inner;
        vectorized([&] {
          MINDTORCH_INDEPENDENT_ITERATIONS
          for (std::int64_t i = 0; i < axis.inner; ++i) add_to(to[i], static_cast<T>(factor * from[i]));
        });
      }
  });
}

void gather(ScalarType type, const LoopPlan<3>& plan, const IndexedDim& dim) {
  visit_types(type, [&]<class T>() {
    run_loop(plan, [&](const std::array<char*, 3>& at, const std::array<std::int64_t, 3>& stride, std::int64_t n) {
      if (stride[0] == sizeof(T) && stride[1] == 0 && stride[2] == sizeof(T)) {  // one index for a whole row
        const std::int64_t index = checked(*reinterpret_cast<const std::int64_t*>(at[1]), dim.size, dim.dim, "aten::gather");
        std::memcpy(at[0], at[2] + index * dim.stride, static_cast<std::size_t>(n) * sizeof(T));
        return;
      }
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t index =
            checked(*reinterpret_cast<const std::int64_t*>(at[1] + i * stride[1]), dim.size, dim.dim, "aten::gather");
        *reinterpret_cast<T*>(at[0] + i * stride[0]) = *reinterpret_cast<const T*>(at[2] + i * stride[2] + index * dim.stride);
      }
    });
  });
}

void scatter(ScalarType type, const LoopPlan<3>& plan, const IndexedDim& dim) {
  visit_types(type, [&]<class T>() { write_indexed<T>(plan, dim, "aten::scatter", [](T& cell, T value) { cell = value; }); });
}

void scatter_add(ScalarType type, const LoopPlan<3>& plan, const IndexedDim& dim) {
  visit_types(type, [&]<class T>() { write_indexed<T>(plan, dim, "aten::scatter_add", [](T& cell, T value) { add_to(cell, value); }); });
}

void add_offsets(const LoopPlan<2>& plan, const IndexedDim& dim, bool is_first) {
  run_loop(plan, [&](const std::array<char*, 2>& at, const std::array<std::int64_t, 2>& stride, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      auto& offset = *reinterpret_cast<std::int64_t*>(at[0] + i * stride[0]);
      const std::int64_t index = *reinterpret_cast<const std::int64_t*>(at[1] + i * stride[1]);
      if (index < -dim.size || index >= dim.size)
        throw_error<OutOfRange>("aten::index", "index {} is out of bounds for dimension {} with size {}", index, dim.dim, dim.size);
      offset = (is_first ? 0 : offset) + (index < 0 ? index + dim.size : index) * dim.stride;
    }
  });
}

void count_nonzero(ScalarType type, std::int64_t* count, const void* in, std::int64_t n) {
  visit_types(type, [&]<class T>() { *count = n - std::count(static_cast<const T*>(in), static_cast<const T*>(in) + n, T(0)); });
}

void nonzero(ScalarType type, std::int64_t* out, const void* in, const Extents& extents) {
  std::int64_t numel = 1;
  for (std::int64_t d = 0; d < extents.dims; ++d) numel *= extents.sizes[d];
  visit_types(type, [&]<class T>() {
    for (std::int64_t i = 0; i < numel; ++i) {
      if (static_cast<const T*>(in)[i] == T(0)) continue;
      std::int64_t rest = i;
      for (std::int64_t d = extents.dims; d-- > 0; rest /= extents.sizes[d]) out[d] = rest % extents.sizes[d];
      out += extents.dims;
    }
  });
}

void triangle(ScalarType type, void* out, const void* in, std::int64_t count, std::int64_t rows, std::int64_t columns,
              std::int64_t diagonal, bool lower) {
  const std::size_t element = element_size(type);
  parallel_for(0, count * rows, kParallelGrain / std::max<std::int64_t>(columns, 1) + 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t r = from; r < to; ++r) {
      // Columns before `split` lie on or below the diagonal; for the upper triangle, strictly below it.
      const std::int64_t split = std::clamp<std::int64_t>(r % rows + diagonal + (lower ? 1 : 0), 0, columns);
      const std::int64_t kept_from = lower ? 0 : split, kept_to = lower ? split : columns;
      char* row = static_cast<char*>(out) + static_cast<std::size_t>(r * columns) * element;
      const char* source = static_cast<const char*>(in) + static_cast<std::size_t>(r * columns) * element;
      std::memset(row, 0, static_cast<std::size_t>(columns) * element);
      std::memcpy(row + static_cast<std::size_t>(kept_from) * element, source + static_cast<std::size_t>(kept_from) * element,
                  static_cast<std::size_t>(kept_to - kept_from) * element);
    }
  });
}

}  // namespace mindtorch::cpu
