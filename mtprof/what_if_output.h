// The answer of `mtprof what-if` for programs, which the Python package gives, too.
#pragma once

#include <string>

#include "mindtorch/analyze/replay/what_if.h"

namespace mindtorch::mtprof {

std::string what_if_json(const analyze::WhatIfAnswer& answer);

}  // namespace mindtorch::mtprof
