// The BLAS is there when something is computed with it, and not before.
#include "mindtorch/runtime/blas/blas.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "mindtorch/base/dynamic_library.h"
#include "mindtorch/runtime/parallel.h"

namespace mindtorch {
namespace {

// Empty if it is not loaded.
std::string blas_path() {
  const std::vector<std::string> libraries = loaded_libraries();
  const auto found = std::ranges::find_if(libraries, [](const std::string& path) { return path.find("libopenblas") != std::string::npos; });
  return found == libraries.end() ? "" : *found;
}

TEST(Blas, IsLoadedByTheFirstCall) {
  const int threads = get_num_threads();
  set_num_threads(1);
  EXPECT_EQ(blas_path(), "");
  const std::array<double, 4> a = {1, 2, 3, 4}, b = {5, 6, 7, 8};
  std::array<double, 4> product{};
  blas().dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 2, 2, 2, 1.0, a.data(), 2, b.data(), 2, 0.0, product.data(), 2);
  EXPECT_NE(blas_path(), "");
  EXPECT_EQ(product, (std::array<double, 4>{19, 22, 43, 50}));
  set_num_threads(threads);
}

TEST(Blas, HasTheThreadsOfTheRuntime) {
  const int threads = get_num_threads();
  set_num_threads(1);
  blas();
  DynamicLibrary library;
  ASSERT_TRUE(library.open({blas_path()}).is_ok());
  const auto threads_of_blas = library.find<int()>("openblas_get_num_threads");
  ASSERT_NE(threads_of_blas, nullptr);
  EXPECT_EQ(threads_of_blas(), 1);
  set_num_threads(2);
  EXPECT_EQ(threads_of_blas(), 2);
  set_num_threads(threads);
}

}  // namespace
}  // namespace mindtorch
