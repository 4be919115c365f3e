// The floor of every profiler of PyTorch: callbacks that do nothing. Compiled by benchmarks/torch_bridge.py against the installed torch,
// and called through ctypes.
#include <ATen/record_function.h>

#include <memory>

static at::CallbackHandle handle = at::INVALID_CALLBACK_HANDLE;

static std::unique_ptr<at::ObserverContext> op_starts(const at::RecordFunction&) { return nullptr; }
static void op_ends(const at::RecordFunction&, at::ObserverContext*) {}

// With `inputs`, torch makes a list of the arguments of every op.
extern "C" void start(bool inputs) { handle = at::addGlobalCallback(at::RecordFunctionCallback(op_starts, op_ends).needsInputs(inputs)); }
extern "C" void stop() { at::removeCallback(handle); }

// A Py_tracefunc: (object, frame, what, argument).
extern "C" int python_call(void*, void*, int, void*) { return 0; }

// A function of Python (METH_FASTCALL) that returns None, whose address it is told.
static void* none = nullptr;
extern "C" void set_none(void* address) { none = address; }
extern "C" void* monitored_event(void*, void* const*, long) { return none; }
