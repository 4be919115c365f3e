// libmindtorch_blas.so: the only library of ours that is linked with a BLAS. mindtorch/runtime/blas/blas.cpp opens it.
#include "mindtorch/base/export.h"
#include "mindtorch/runtime/blas/functions.h"

extern "C" MINDTORCH_EXPORT const mindtorch::BlasFunctions* mindtorch_blas_functions() {
  static constexpr mindtorch::BlasFunctions kFunctions{&cblas_sgemm, &cblas_dgemm, &openblas_set_num_threads};
  return &kFunctions;
}
