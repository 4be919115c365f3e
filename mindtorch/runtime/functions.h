// All functions of the runtime, by family.
#pragma once

#include "mindtorch/runtime/ops/arithmetic.h"
#include "mindtorch/runtime/ops/copy.h"
#include "mindtorch/runtime/ops/creation.h"
#include "mindtorch/runtime/ops/matmul.h"
#include "mindtorch/runtime/ops/reduction.h"
#include "mindtorch/runtime/ops/view.h"
#include "mindtorch/runtime/pointwise.h"
#include "mindtorch/runtime/tensor.h"
