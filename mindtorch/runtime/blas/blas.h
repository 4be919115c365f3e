// The BLAS, opened when something is computed with it. A BLAS starts a thread for each processor when it is loaded, and most programs that
// are profiled compute with another library, or only read recordings.
#pragma once

#include "mindtorch/runtime/blas/functions.h"

namespace mindtorch {

// Opens the BLAS if this is the first call. Throws Error if it cannot be opened.
const BlasFunctions& blas();

// How many threads the BLAS uses from now on. Does nothing before blas() is called: it asks get_num_threads() then.
void set_blas_threads(int count);

}  // namespace mindtorch
