// All modules.
#pragma once

#include "mindtorch/runtime/nn/activation.h"
#include "mindtorch/runtime/nn/attention.h"
#include "mindtorch/runtime/nn/clip_grad.h"
#include "mindtorch/runtime/nn/container.h"
#include "mindtorch/runtime/nn/convolution.h"
#include "mindtorch/runtime/nn/init.h"
#include "mindtorch/runtime/nn/linear.h"
#include "mindtorch/runtime/nn/loss.h"
#include "mindtorch/runtime/nn/module.h"
#include "mindtorch/runtime/nn/normalization.h"
#include "mindtorch/runtime/nn/pooling.h"
