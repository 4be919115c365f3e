// The functions of the BLAS that kernels call, as libmindtorch_blas.so hands them out.
#pragma once

#include <cblas.h>

namespace mindtorch {

struct BlasFunctions {
  decltype(&cblas_sgemm) sgemm = nullptr;
  decltype(&cblas_dgemm) dgemm = nullptr;
  decltype(&openblas_set_num_threads) set_num_threads = nullptr;
};

}  // namespace mindtorch
