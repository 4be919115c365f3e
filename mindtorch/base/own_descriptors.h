// A descriptor table of its own for a thread of the library.
//
// A program may close all descriptors that it did not open itself, as daemons do, and the kernel then gives their numbers to the files and
// sockets that the program opens next. A thread of ours that still writes to such a number would write into a file of the program. In a
// table of its own, a descriptor cannot be closed or given away by the program, children do not inherit it, and the program's limit of
// open files does not count it.
#pragma once

#include <functional>

#include "mindtorch/base/export.h"

namespace mindtorch {

// From now on the calling thread has a descriptor table of its own, which holds 0 to 2 only. These lead to /dev/null: a pipe at the
// program's output must end when the program closes it. The thread also blocks all signals but those of its own faults, because a handler
// of the program would use numbers of the program's table. Threads that it starts from now on share both with it. Call it only on a thread
// that runs no code of the program: such code would miss its files.
//
// Returns false, and has changed nothing, if the kernel refuses.
MINDTORCH_EXPORT bool own_descriptors() noexcept;

// Does some work on a thread that has a descriptor table of its own, and waits for it. Throws what it throws. Where there is no such
// thread, the work is done here.
MINDTORCH_EXPORT void with_own_descriptors(const std::function<void()>& work);

}  // namespace mindtorch
