// MINDTORCH_EXPORT marks what is public: the library is compiled with hidden visibility, so that programs reach nothing else in it.
#pragma once

#define MINDTORCH_EXPORT __attribute__((visibility("default")))
