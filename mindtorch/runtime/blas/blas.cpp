// The library lies beside the one that this code is in, or beside the libraries of a program that contains this code.
#include "mindtorch/runtime/blas/blas.h"

#include <atomic>
#include <filesystem>

#include "mindtorch/base/dynamic_library.h"
#include "mindtorch/base/error.h"
#include "mindtorch/runtime/parallel.h"

namespace mindtorch {
namespace {

std::atomic<const BlasFunctions*> opened{nullptr};

const BlasFunctions& open_blas() {
  constexpr const char* kName = "libmindtorch_blas.so";
  const std::filesystem::path folder = std::filesystem::path(library_of(reinterpret_cast<const void*>(&open_blas))).parent_path();
  DynamicLibrary library;
  const Status status = library.open({folder / kName, folder / ".." / "lib" / kName, kName});
  const auto functions = library.find<const BlasFunctions*()>("mindtorch_blas_functions");
  if (functions == nullptr) throw_error("runtime.blas", "matrix products need {}, which cannot be loaded: {}", kName, status.reason());
  library.pin();
  const BlasFunctions& found = *functions();
  opened.store(&found, std::memory_order_release);
  found.set_num_threads(get_num_threads());
  return found;
}

}  // namespace

const BlasFunctions& blas() {
  static const BlasFunctions& functions = open_blas();
  return functions;
}

void set_blas_threads(int count) {
  if (const BlasFunctions* functions = opened.load(std::memory_order_acquire)) functions->set_num_threads(count);
}

}  // namespace mindtorch
