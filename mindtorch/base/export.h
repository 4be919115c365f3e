// MINDTORCH_EXPORT marks public symbols. The library is compiled with hidden visibility, so programs cannot use any others.
#pragma once

#define MINDTORCH_EXPORT __attribute__((visibility("default")))
