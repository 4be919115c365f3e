// Bringing the runtime to life: the list of everything that registers itself.
#pragma once

namespace mindtorch {

// Registers the CPU, all ops and the host with the recorder. Called by the first op of the process; any thread, any number of times.
void initialize_runtime();

}  // namespace mindtorch
