// The structs of DLPack 1.0 (github.com/dmlc/dlpack), by which array libraries share memory. The layout is fixed by that specification.
#pragma once

#include <cstdint>

namespace mindtorch::python::dlpack {

enum DeviceCode : std::int32_t { kDLCpu = 1, kDLCuda = 2, kDLExtension = 12 };
enum TypeCode : std::uint8_t { kDLInt = 0, kDLUint = 1, kDLFloat = 2, kDLBool = 6 };

struct DLDevice {
  std::int32_t code;
  std::int32_t index;
};
struct DLType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
struct DLArray {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLType type;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null means row by row
  std::uint64_t byte_offset;
};

// Capsule "dltensor".
struct Managed {
  DLArray array;
  void* context;
  void (*deleter)(Managed*);
};

// Capsule "dltensor_versioned".
struct ManagedVersioned {
  std::uint32_t major, minor;
  void* context;
  void (*deleter)(ManagedVersioned*);
  std::uint64_t flags;  // bit 0: read-only
  DLArray array;
};

}  // namespace mindtorch::python::dlpack
