// How tests speak to the double of libcupti: what the "GPU" does, how the library misbehaves, and what really happened.
//
// The double records work as CUPTI does: into buffers that it requests from its client and hands back full, on its own thread or when they
// are flushed. Times are nanoseconds of the double's clock, which is CLOCK_REALTIME unless a test says otherwise. Every function may be
// called from any thread; a call of the CUDA runtime counts as made by the thread that issues it here.
#pragma once

#include <cstddef>
#include <cstdint>

#define CUPTI_DOUBLE_API extern "C" __attribute__((visibility("default")))

// ------------------------------------------------------------------------------------------------------------------- work

// A kernel, copy or memset. Zeros stand for usual values: device 0, stream 7, a duration of one microsecond.
struct CuptiDoubleWork {
  std::uint32_t activity_kind = 0;  // as CUPTI numbers them; 0: a kernel
  std::uint32_t device = 0;
  std::uint32_t stream = 0;
  const char* name = nullptr;  // of a kernel; copied
  std::uint64_t duration_ns = 0;
  std::uint64_t start_ns = 0;  // on the double's clock; 0: when the call is made and the stream is free
  std::uint64_t bytes = 0;
  std::uint32_t copy_kind = 0;  // as CUPTI numbers them; 0: host to device
  std::uint32_t value = 0;      // of a memset
  std::int32_t grid[3] = {1, 1, 1};
  std::int32_t block[3] = {32, 1, 1};
};

// Calls the runtime on this thread, which makes the device do the work, or, on a stream that is captured, adds a node to the graph. Returns
// the correlation id of the call.
CUPTI_DOUBLE_API std::uint32_t cupti_double_issue(const CuptiDoubleWork* work);
// A call of the runtime (domain 2) or of the driver (domain 1) without work on the device. Returns its correlation id.
CUPTI_DOUBLE_API std::uint32_t cupti_double_call(std::uint32_t domain, std::uint32_t callback_id);
// The same, with what happens on this thread while the call is under way.
CUPTI_DOUBLE_API std::uint32_t cupti_double_call_around(std::uint32_t domain, std::uint32_t callback_id, void (*inside)(void*), void* user);
// The next call that this thread makes returns `result` and does nothing.
CUPTI_DOUBLE_API void cupti_double_fail_next_call(std::int32_t result);
// A measurement of the environment of a device, as CUPTI makes them from time to time.
struct CuptiDoubleMeasurement {
  std::uint32_t device = 0;
  std::uint32_t environment_kind = 0;  // as CUPTI numbers them
  std::uint32_t values[5] = {};        // of that kind, as CUPTI has them
  std::uint64_t time_ns = 0;           // on the double's clock; 0: now
};
CUPTI_DOUBLE_API void cupti_double_measure(const CuptiDoubleMeasurement* measured);
// Calls cudaEventRecord: the event marks the end of the work that is on the stream now. Returns the correlation id of the call.
CUPTI_DOUBLE_API std::uint32_t cupti_double_record_event(std::uint32_t stream, std::uint32_t event);
// PM sampling: the GPU takes a sample in each interval. Metric m of the n-th sample has the value n + m / 10; names without "__" are
// unknown, and more than four metrics need two passes.
CUPTI_DOUBLE_API void cupti_double_overflow_sampling();       // the hardware buffer was full
CUPTI_DOUBLE_API std::uint64_t cupti_double_samples_taken();  // that a client has evaluated
CUPTI_DOUBLE_API bool cupti_double_is_sampling();             // a client has left something on
CUPTI_DOUBLE_API void cupti_double_reset_sampling();          // part of cupti_double_reset()
// Calls cudaDeviceSynchronize: waits until all work has ended.
CUPTI_DOUBLE_API void cupti_double_synchronize();
// While the device is held, no work ends.
CUPTI_DOUBLE_API void cupti_double_hold_device(bool held);

// Graphs, with the callbacks that the driver makes: the nodes of a graph are cloned when it is instantiated.
CUPTI_DOUBLE_API void cupti_double_begin_capture(std::uint32_t stream);                            // in the mode 0
CUPTI_DOUBLE_API void cupti_double_begin_capture_in(std::uint32_t stream, std::uint32_t mode);     // as CUDA numbers them
CUPTI_DOUBLE_API void* cupti_double_end_capture(std::uint32_t stream);                             // the graph; null if it was invalidated
CUPTI_DOUBLE_API void* cupti_double_instantiate_graph(void* graph);                                // the executable graph
CUPTI_DOUBLE_API std::uint32_t cupti_double_launch_graph(void* executable, std::uint32_t stream);  // the correlation id of the call
CUPTI_DOUBLE_API void cupti_double_destroy_graph(void* graph_or_executable);

// What the driver does about captures. These return 0 or CUDA's error, as the driver's functions do.
CUPTI_DOUBLE_API int cupti_double_exchange_capture_mode(int* mode);  // of this thread
// A call that is not safe while a graph is captured: unless the thread has chosen a mode that permits it, it invalidates captures.
CUPTI_DOUBLE_API int cupti_double_unsafe_call();
// Freeing memory is such a call, and waits until all work has ended.
CUPTI_DOUBLE_API int cupti_double_free();
// Waiting for a whole context invalidates every capture, whatever their modes.
CUPTI_DOUBLE_API int cupti_double_wait_for_context();

// Plays a file of captured activity (capture_file.h, compressed with zstd): its graph callbacks, then its buffers. Times are moved so that
// the last one is `end_ns` on the double's clock (0: as captured), and `thread_id` replaces that of the captured program's main thread if
// it is not 0. Returns the number of records that went into buffers, -1 if the file cannot be read.
CUPTI_DOUBLE_API std::int64_t cupti_double_replay(const char* path, std::uint64_t end_ns, std::uint32_t thread_id);

// -------------------------------------------------------------------------------------------------------------- behaviour

// Forgets everything, as if the library had just been loaded. Only while no client is subscribed or uses it.
CUPTI_DOUBLE_API void cupti_double_reset();
// What cuptiGetVersion says, and with it the size of records, and from 130300 on the interface of subscribers. 130001 unless told, also by
// the variable CUPTI_DOUBLE_VERSION.
CUPTI_DOUBLE_API void cupti_double_set_version(std::uint32_t version);
// The double's clock runs `offset_ns` ahead of CLOCK_REALTIME and faster than it by `drift_ppm`, from now on.
CUPTI_DOUBLE_API void cupti_double_set_clock(std::int64_t offset_ns, double drift_ppm);
// Where fields are in the records of subscribers that select them (13.3 and later).
struct CuptiDoubleLayouts {
  std::uint64_t seed = 0;              // 0: as the vendor documents it; otherwise in any order, with padding
  std::uint32_t change_every = 0;      // the places change with each n-th buffer
  bool are_kept_secret = false;        // clients are not told where the fields are
  std::uint64_t correlation_base = 0;  // is added to correlations, which have 64 bits in these records
};
CUPTI_DOUBLE_API void cupti_double_set_layouts(const CuptiDoubleLayouts* layouts);
// Another tool has subscribed through the classic interface, or has gone (null).
CUPTI_DOUBLE_API void cupti_double_set_other_subscriber(const char* name);

// Of the records of the device, or of whole buffers. 0 switches a fault off, null all of them.
struct CuptiDoubleFaults {
  std::uint32_t lose_every = 0;            // each n-th record is lost
  bool count_lost = true;                  // cuptiActivityGetNumDroppedRecords tells of them
  std::uint32_t zero_times_every = 0;      // each n-th record has start = end = 0
  std::uint32_t unknown_record_every = 0;  // each n-th is followed by a record of a kind that no version knows: it ends its buffer
  std::uint64_t shuffle_seed = 0;          // records change places in their buffer, and buffers among each other
  std::uint32_t late_by_flushes = 0;       // buffers are handed over by the n-th flush after the one that should have done so
};
CUPTI_DOUBLE_API void cupti_double_set_faults(const CuptiDoubleFaults* faults);

// The calls of `function` ("*": of all functions) fail with `result`: `skip` of them succeed, then `times` fail (0: all that follow).
CUPTI_DOUBLE_API void cupti_double_fail(const char* function, std::int32_t result, std::uint32_t skip, std::uint32_t times);

// ------------------------------------------------------------------------------------------------------------------ truth

// A piece of work of the device that a client who asked for its kind must see.
struct CuptiDoubleTruth {
  std::uint32_t activity_kind;
  std::uint32_t correlation;
  std::uint64_t graph_node;  // 0: not of a graph
  std::uint64_t monotonic_start_ns;
  std::uint64_t monotonic_end_ns;
};
// Moves up to `capacity` entries to `out` and returns their number; with a capacity of 0, returns how many there are.
CUPTI_DOUBLE_API std::size_t cupti_double_take_truth(CuptiDoubleTruth* out, std::size_t capacity);
// How often a function ("*": any) has been called.
CUPTI_DOUBLE_API std::uint64_t cupti_double_calls(const char* function);
// The function that failed last because it was told to; empty if none has.
CUPTI_DOUBLE_API const char* cupti_double_last_failed();
// How many records of the device were lost, whether counted for the client or not, and how many had their times taken.
CUPTI_DOUBLE_API std::uint64_t cupti_double_lost_records();
CUPTI_DOUBLE_API std::uint64_t cupti_double_zeroed_records();
// How many subscribers there are, and how many buffers the clients handed over and have not got back.
CUPTI_DOUBLE_API std::uint64_t cupti_double_subscribers();
CUPTI_DOUBLE_API std::uint64_t cupti_double_buffers_held();
// What the client did that CUPTI does not allow, one sentence per line; empty if nothing. Valid until the next call.
CUPTI_DOUBLE_API const char* cupti_double_violations();
