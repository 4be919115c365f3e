// The runtime as a host of the recorder.
#pragma once

namespace mindtorch {

// Registers the runtime as a host, so that sessions can ask for its memory totals. Called by initialize_runtime().
void register_embedded_host();

}  // namespace mindtorch
