// The end of the interpreter, as far as threads with frames of C++ are concerned.
//
// Once Python finalizes, it ends every other thread that asks for the GIL by unwinding its stack. Destructors and hooks do not let that
// through: the program would abort. So before Python finalizes, it waits here for the threads that ask for the GIL at that moment, and
// every thread that would ask later stops for good instead. Python 3.14 stops such threads itself.
#pragma once

namespace mindtorch::python {

// From begin_stay() to end_stay() the interpreter does not finalize, and the thread may ask for the GIL. Stays may be nested. If
// begin_stay() returns false, the interpreter is about to finalize: the thread must not ask for the GIL, nor call end_stay(). The thread
// that finalizes may always stay.
bool begin_stay() noexcept;
void end_stay() noexcept;

// Stops the calling thread, which must hold neither the GIL nor a lock, until the process ends.
[[noreturn]] void stop_this_thread() noexcept;

// Lets Python call us before it finalizes. Once, with the GIL.
void watch_interpreter_exit();

}  // namespace mindtorch::python
