// The runtime as a host of the recorder.
#pragma once

namespace mindtorch {

// Lets sessions ask the runtime for its memory totals; part of initialize_runtime().
void register_embedded_host();

}  // namespace mindtorch
