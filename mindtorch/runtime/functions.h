// All functions of the runtime, by family.
#pragma once

#include "mindtorch/runtime/generator.h"
#include "mindtorch/runtime/ops/arithmetic.h"
#include "mindtorch/runtime/ops/comparison.h"
#include "mindtorch/runtime/ops/copy.h"
#include "mindtorch/runtime/ops/creation.h"
#include "mindtorch/runtime/ops/indexing.h"
#include "mindtorch/runtime/ops/joining.h"
#include "mindtorch/runtime/ops/matmul.h"
#include "mindtorch/runtime/ops/power.h"
#include "mindtorch/runtime/ops/random.h"
#include "mindtorch/runtime/ops/reduction.h"
#include "mindtorch/runtime/ops/sequence.h"
#include "mindtorch/runtime/ops/unary.h"
#include "mindtorch/runtime/ops/view.h"
#include "mindtorch/runtime/pointwise.h"
#include "mindtorch/runtime/tensor.h"
