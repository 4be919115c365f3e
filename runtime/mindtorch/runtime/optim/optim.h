// All optimizers.
#pragma once

#include "mindtorch/runtime/optim/adagrad.h"
#include "mindtorch/runtime/optim/adam.h"
#include "mindtorch/runtime/optim/clip_grad.h"
#include "mindtorch/runtime/optim/rmsprop.h"
#include "mindtorch/runtime/optim/sgd.h"
