# Made by tools/compiled_stubs.py with nanobind 3.1.0: ./dev stubs makes it again.
"""
What mindtorch_v2 is made of. Private: use the names of mindtorch_v2 and its submodules.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, overload

from typing_extensions import Self


Function = TypeVar("Function", bound=Callable[..., Any])

class ArgumentAssertionError(ValueError, AssertionError):
    """A wrong argument; both ValueError and AssertionError."""

class Schedule:
    """
    What schedule() returns: a callable from the number of a step to its ProfilerAction.
    """

    def __init__(self, *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0) -> None: ...

    def __call__(self, step: int) -> object: ...

    def __repr__(self) -> str: ...

    def __copy__(self) -> object: ...

    def __deepcopy__(self, memo: object) -> object: ...

    def __getstate__(self) -> tuple[int, int, int, int, int, int]: ...

    def __setstate__(self, arg: tuple[int, int, int, int, int, int], /) -> None: ...

class FunctionEvent:
    """One event of a recording. Made by the profiler: events()[i]."""

    def __setattr__(self, name, value, /):
        """Implement setattr(self, name, value)."""

    def __delattr__(self, name, /):
        """Implement delattr(self, name)."""

    __class__: getset_descriptor = ...

    @property
    def id(self) -> int: ...

    @property
    def name(self) -> str: ...

    @property
    def key(self) -> str: ...

    @property
    def trace_name(self) -> str: ...

    @property
    def overload_name(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def activity_type(self) -> str: ...

    @property
    def scope(self) -> int: ...

    @property
    def is_async(self) -> bool: ...

    @property
    def is_user_annotation(self) -> bool: ...

    @property
    def is_python_function(self) -> bool: ...

    @property
    def count(self) -> int: ...

    @property
    def external_id(self) -> int: ...

    @property
    def sequence_nr(self) -> int: ...

    @property
    def step(self) -> int: ...

    @property
    def is_remote(self) -> bool: ...

    @property
    def is_legacy(self) -> bool: ...

    @property
    def node_id(self) -> int: ...

    @property
    def python_id(self) -> int: ...

    @property
    def python_parent_id(self) -> int: ...

    @property
    def python_module_id(self) -> int: ...

    @property
    def self_cpu_percent(self) -> int: ...

    @property
    def total_cpu_percent(self) -> int: ...

    @property
    def total_device_percent(self) -> int: ...

    @property
    def device_type(self) -> object: ...

    @property
    def device_index(self) -> int: ...

    @property
    def device_resource_id(self) -> int: ...

    @property
    def use_device(self) -> object: ...

    @property
    def thread(self) -> int: ...

    @property
    def thread_id(self) -> int: ...

    @property
    def fwd_thread(self) -> int: ...

    @property
    def cpu_parent(self) -> object: ...

    @property
    def cpu_children(self) -> list: ...

    @property
    def kernels(self) -> list: ...

    @property
    def linked_correlation_id(self) -> int: ...

    @property
    def flow_id(self) -> int: ...

    @property
    def flow_type(self) -> int: ...

    @property
    def flow_start(self) -> bool: ...

    @property
    def time_range(self) -> object: ...

    @property
    def start_ns(self) -> int: ...

    @property
    def end_ns(self) -> int: ...

    @property
    def duration_ns(self) -> int: ...

    @property
    def cpu_time_total(self) -> float: ...

    @property
    def self_cpu_time_total(self) -> float: ...

    @property
    def device_time_total(self) -> float: ...

    @property
    def self_device_time_total(self) -> float: ...

    @property
    def cuda_time_total(self) -> float: ...

    @property
    def self_cuda_time_total(self) -> float: ...

    @property
    def cpu_time(self) -> float: ...

    @property
    def device_time(self) -> float: ...

    @property
    def cpu_time_str(self) -> str: ...

    @property
    def device_time_str(self) -> str: ...

    @property
    def cpu_time_total_str(self) -> str: ...

    @property
    def device_time_total_str(self) -> str: ...

    @property
    def self_cpu_time_total_str(self) -> str: ...

    @property
    def self_device_time_total_str(self) -> str: ...

    @property
    def cuda_time(self) -> float: ...

    @property
    def cpu_memory_usage(self) -> int: ...

    @property
    def device_memory_usage(self) -> int: ...

    @property
    def self_cpu_memory_usage(self) -> int: ...

    @property
    def self_device_memory_usage(self) -> int: ...

    @property
    def self_cuda_memory_usage(self) -> int: ...

    @property
    def flops(self) -> int: ...

    @property
    def input_shapes(self) -> list: ...

    @property
    def structured_input_shapes(self) -> list: ...

    @property
    def structured_input_strides(self) -> list: ...

    @property
    def input_dtypes(self) -> list: ...

    @property
    def concrete_inputs(self) -> list: ...

    @property
    def kwinputs(self) -> dict: ...

    @property
    def stack(self) -> list: ...

    @property
    def attributes(self) -> dict: ...

    @property
    def event_metadata(self) -> object: ...

    @property
    def _index_in_trace(self) -> int: ...

    @property
    def metadata_json(self) -> object: ...

    def __getitem__(self, key: str) -> object: ...

    def __contains__(self, key: object) -> bool: ...

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator: ...

    def keys(self) -> object: ...

    def values(self) -> object: ...

    def items(self) -> object: ...

    def get(self, key: object, default: object | None = None) -> object: ...

    def append_kernel(self, *args, **kwargs) -> object: ...

    def append_cpu_child(self, *args, **kwargs) -> object: ...

    def set_cpu_parent(self, *args, **kwargs) -> object: ...

    def __eq__(self, other: object) -> object: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

    @property
    def _added(self) -> dict:
        """The attributes that a program has added."""

class FunctionEventAvg:
    """A row of key_averages(): what events of one name took together."""

    def __init__(self, row: dict | None = None) -> None: ...

    @property
    def key(self) -> object: ...

    @key.setter
    def key(self, key: str | None) -> None: ...

    @property
    def count(self) -> int: ...

    @count.setter
    def count(self, arg: int, /) -> None: ...

    @property
    def cpu_time_total(self) -> float: ...

    @cpu_time_total.setter
    def cpu_time_total(self, arg: float, /) -> None: ...

    @property
    def self_cpu_time_total(self) -> float: ...

    @self_cpu_time_total.setter
    def self_cpu_time_total(self, arg: float, /) -> None: ...

    @property
    def device_time_total(self) -> float: ...

    @device_time_total.setter
    def device_time_total(self, arg: float, /) -> None: ...

    @property
    def self_device_time_total(self) -> float: ...

    @self_device_time_total.setter
    def self_device_time_total(self, arg: float, /) -> None: ...

    @property
    def cpu_memory_usage(self) -> int: ...

    @cpu_memory_usage.setter
    def cpu_memory_usage(self, arg: int, /) -> None: ...

    @property
    def self_cpu_memory_usage(self) -> int: ...

    @self_cpu_memory_usage.setter
    def self_cpu_memory_usage(self, arg: int, /) -> None: ...

    @property
    def device_memory_usage(self) -> int: ...

    @device_memory_usage.setter
    def device_memory_usage(self, arg: int, /) -> None: ...

    @property
    def self_device_memory_usage(self) -> int: ...

    @self_device_memory_usage.setter
    def self_device_memory_usage(self, arg: int, /) -> None: ...

    @property
    def flops(self) -> int: ...

    @flops.setter
    def flops(self, arg: int, /) -> None: ...

    @property
    def cpu_time(self) -> float: ...

    @property
    def device_time(self) -> float: ...

    @property
    def cpu_time_str(self) -> str: ...

    @property
    def device_time_str(self) -> str: ...

    @property
    def cpu_time_total_str(self) -> str: ...

    @property
    def device_time_total_str(self) -> str: ...

    @property
    def self_cpu_time_total_str(self) -> str: ...

    @property
    def self_device_time_total_str(self) -> str: ...

    @property
    def cuda_time(self) -> float: ...

    @property
    def node_id(self) -> int: ...

    @node_id.setter
    def node_id(self, arg: int, /) -> None: ...

    @property
    def is_async(self) -> bool: ...

    @is_async.setter
    def is_async(self, arg: bool, /) -> None: ...

    @property
    def is_remote(self) -> bool: ...

    @is_remote.setter
    def is_remote(self, arg: bool, /) -> None: ...

    @property
    def is_legacy(self) -> bool: ...

    @is_legacy.setter
    def is_legacy(self, arg: bool, /) -> None: ...

    @property
    def is_user_annotation(self) -> bool: ...

    @is_user_annotation.setter
    def is_user_annotation(self, arg: bool, /) -> None: ...

    @property
    def overload_name(self) -> object: ...

    @overload_name.setter
    def overload_name(self, text: str | None) -> None: ...

    @property
    def stack(self) -> object: ...

    @stack.setter
    def stack(self, stack: Sequence[str] | None) -> None: ...

    @property
    def scope(self) -> object: ...

    @scope.setter
    def scope(self, scope: int | None) -> None: ...

    @property
    def use_device(self) -> object: ...

    @use_device.setter
    def use_device(self, device: str | None) -> None: ...

    @property
    def device_type(self) -> object: ...

    @device_type.setter
    def device_type(self, arg: object, /) -> None: ...

    @property
    def op_device(self) -> object: ...

    @property
    def input_shapes(self) -> object: ...

    @input_shapes.setter
    def input_shapes(self, shapes: object | None) -> None: ...

    @property
    def cpu_parent(self) -> object: ...

    @cpu_parent.setter
    def cpu_parent(self, parent: object | None) -> None: ...

    @property
    def cpu_children(self) -> object: ...

    @cpu_children.setter
    def cpu_children(self, children: object | None) -> None: ...

    def __reduce__(self) -> tuple: ...

    def __setstate__(self, state: dict) -> None: ...

    @property
    def _row(self) -> dict:
        """The row as a dictionary, of which another row can be made."""

    def add(self, other: object) -> object: ...

    def __iadd__(self, arg: object, /) -> object: ...

    def __repr__(self) -> str: ...

class EventIterator:
    def __iter__(self) -> object: ...

    def __next__(self) -> FunctionEvent: ...

class EventSequence:
    """Events that are made when they are looked at."""

    def __len__(self) -> int: ...

    @overload
    def __getitem__(self, position: int) -> object: ...

    @overload
    def __getitem__(self, slice: slice) -> EventSequence: ...

    def __iter__(self) -> EventIterator: ...

    def tolist(self) -> list: ...

    def shares_events_with(self, other: EventSequence) -> bool:
        """True if both are of one recording."""

    @property
    def base_unix_ns(self) -> int:
        """Unix time at which the start_ns of events is 0."""

    @property
    def trace_start_ns(self) -> int:
        """Unix time at which their time_range is 0."""

    @property
    def use_device(self) -> object: ...

class TableContext:
    """What a table says that its rows do not."""

    def __init__(self, profile_memory: bool = False, with_flops: bool = False) -> None: ...

    @property
    def profile_memory(self) -> bool: ...

    @property
    def with_flops(self) -> bool: ...

def table_context(arg: EventSequence, /) -> TableContext: ...

def table(rows: object, context: TableContext, sort_by: str | None, row_limit: int | None, max_src_column_width: int | None, max_name_column_width: int | None, max_shapes_column_width: int | None, header: str | None, top_level_events_only: bool, time_unit: str | None) -> str: ...

def key_averages(rows: object, group_by_input_shapes: bool, group_by_stack_n: int, group_by_overload_name: bool) -> list: ...

def total_average(rows: object) -> FunctionEventAvg: ...

def export_stacks(rows: object, path: str, metric: str) -> None: ...

def export_list_trace(rows: object, path: str, device: str) -> None: ...

def write_text(path: str, text: str) -> None: ...

def format_time(us: float) -> str: ...

def format_memory(bytes: int) -> str: ...

def demangled(name: str) -> str: ...

def supported_export_stacks_metrics() -> list: ...

def to_json(arg0: object, arg1: TableContext, /) -> str: ...

def to_csv(arg0: object, arg1: TableContext, /) -> str: ...

def event_columns(events: EventSequence) -> dict: ...

def arrow_stream(rows: object) -> object: ...

class Counters:
    """
    Values of counters over time, as a table for Arrow: name, device, time_ns, value.
    """

    def __len__(self) -> int: ...

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class OneStream:
    """A table for Arrow, which can be taken once."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

def counters(events: EventSequence) -> Counters: ...

def all_events(events: EventSequence) -> list: ...

def derived_calls(events: EventSequence) -> list: ...

def memory_reports(events: EventSequence) -> list: ...

def nest_events(events: object) -> None:
    """
    Makes each hand-made event the child of the innermost one around it on its thread; two that overlap in part are not related.
    """

def without_repeated_calls(events: object) -> list:
    """
    The events without those that are the only child of one of the same name.
    """

def tensor_inputs(events: EventSequence) -> tuple: ...

class Step:
    """How long a step of the loop took."""

    @property
    def number(self) -> int: ...

    @property
    def start_ns(self) -> int: ...

    @property
    def duration_ns(self) -> int: ...

    @property
    def events(self) -> int:
        """Host events that start in it."""

    @property
    def device_ns(self) -> int:
        """Device work that was launched in it."""

    def __repr__(self) -> str: ...

class Steps:
    """Steps in order of time: a sequence, and a table for Arrow."""

    def __len__(self) -> int: ...

    def __getitem__(self, position: int) -> Step: ...

    def __repr__(self) -> str: ...

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class Samples:
    """Samples of threads, as a table for Arrow."""

    def __len__(self) -> int: ...

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class EfficiencyTable:
    """
    How far ops, kernels and modules were from their limits, as a table for Arrow.
    """

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class Loss:
    """Events that are missing, and why."""

    @property
    def reason(self) -> str: ...

    @property
    def count(self) -> int: ...

    @property
    def where(self) -> str: ...

    @property
    def detail(self) -> str: ...

    def __repr__(self) -> str: ...

class Recording:
    """What was recorded. Use mindtorch_v2.profiler.Recording."""

    @overload
    def __init__(self, other: Recording) -> None:
        """The same recording."""

    @overload
    def __init__(self, path: str, max_memory: int = 0) -> None:
        """
        A recording or a Chrome trace. Reading takes at most so many bytes of memory.
        """

    @property
    def damage(self) -> str | None:
        """
        What is wrong with its file; None if nothing is. The recording holds what could be read.
        """

    @property
    def event_count(self) -> int: ...

    @property
    def name(self) -> str:
        """The path of its file; "" if it was not read from one."""

    def _events(self) -> EventSequence: ...

    def _findings(self) -> str:
        """JSON of `mtprof report --json`."""

    def _info(self) -> str:
        """JSON of `mtprof info --json`."""

    def _diff(self, other: Recording, by_shape: bool, by_module: bool, confidence: float) -> tuple:
        """
        What changed from this run to the other: JSON of `mtprof diff --json`, and the text.
        """

    def _what_if(self, scale: Sequence[tuple[str, float]], remove: Sequence[str], overlap: Sequence[str]) -> str:
        """JSON of `mtprof what-if --json`."""

    def _check(self, baseline: Recording, limits: Sequence[str]) -> tuple:
        """JSON of `mtprof check --json`, and the text."""

    def _efficiency(self, files: Sequence[str], changes: Sequence[str]) -> tuple:
        """JSON of `mtprof efficiency --json`, and the text."""

    def _efficiency_table(self) -> EfficiencyTable: ...

    def samples(self) -> Samples:
        """
        What the threads of Python did whenever a sampler looked at them, as a table for Arrow.
        """

    def steps(self) -> Steps:
        """
        How long each step of the loop took; none if the recording has no steps.
        """

    def losses(self) -> list[Loss]:
        """Events that are missing, and why."""

    def _report(self, path: str, baseline: Recording | None) -> None: ...

    def _export(self, path: str, apart: bool = False) -> None:
        """
        In the format that the suffix names; `apart`: with descriptors that the program cannot close meanwhile.
        """

    def _export_chrome_trace(self, path: str, apart: bool = False) -> None: ...

    def _export_stacks(self, path: str, metric: str) -> None: ...

    def _export_memory_timeline(self, path: str, device: str | None) -> None: ...

    def _add_metadata_json(self, key: str, value: str) -> None: ...

class Overhead:
    """What the profiler itself took, of one trace."""

    @property
    def prepare_ns(self) -> int: ...

    @property
    def start_ns(self) -> int: ...

    @property
    def stop_ns(self) -> int: ...

    @property
    def window_ns(self) -> int:
        """How long was recorded."""

    @property
    def window_start_ns(self) -> int:
        """When, by time.perf_counter_ns()."""

    @property
    def bytes(self) -> int:
        """Of events and side data when it stopped."""

    @property
    def events(self) -> int: ...

    def __repr__(self) -> str: ...

class TraceFiles:
    """The files of a tensorboard_trace_handler()."""

    def __init__(self, dir_name: str, worker_name: str, use_gzip: bool) -> None: ...

    def next_path(self) -> str: ...

def random_trace_id() -> str: ...

def transition_calls(previous: object, current: object | None) -> list: ...

class Profile:
    """The state machine of a profile. Use mindtorch_v2.profiler.profile."""

    def __init__(self, *, activities: object | None, activity_filters: dict, schedule: object | None, record_shapes: bool, profile_memory: bool, with_stack: bool, with_flops: bool, with_modules: bool, experimental_config: object | None, acc_events: bool, post_processing_timeout_s: float | None) -> None: ...

    def start(self) -> None: ...

    def step(self) -> None:
        """The next step begins."""

    def stop(self) -> None: ...

    def _set_schedule(self, schedule: object | None) -> None: ...

    def close(self) -> None:
        """stop() if it runs, then the observer's cleanup()."""

    def _make_trace_calls(self) -> None:
        """From now on, steps call the methods of the Python object."""

    def prepare_trace(self) -> None: ...

    def start_trace(self) -> None: ...

    def stop_trace(self) -> None: ...

    def _snapshot(self, last_ns: int = 9223372036854775807) -> Recording:
        """What was recorded so far, or its last part; recording goes on."""

    def toggle_collection_dynamic(self, enable: bool, activities: object) -> None: ...

    @property
    def record_shapes(self) -> bool: ...

    @record_shapes.setter
    def record_shapes(self, arg: object, /) -> None: ...

    @property
    def profile_memory(self) -> bool: ...

    @profile_memory.setter
    def profile_memory(self, arg: object, /) -> None: ...

    @property
    def with_stack(self) -> bool: ...

    @with_stack.setter
    def with_stack(self, arg: object, /) -> None: ...

    @property
    def with_flops(self) -> bool: ...

    @with_flops.setter
    def with_flops(self, arg: object, /) -> None: ...

    @property
    def with_modules(self) -> bool: ...

    @with_modules.setter
    def with_modules(self, arg: object, /) -> None: ...

    @property
    def acc_events(self) -> bool: ...

    @acc_events.setter
    def acc_events(self, arg: object, /) -> None: ...

    @property
    def post_processing_timeout_s(self) -> float | None: ...

    @post_processing_timeout_s.setter
    def post_processing_timeout_s(self, seconds: float | None) -> None: ...

    def _set_activities(self, activities: object, activity_filters: dict) -> None: ...

    def _set_experimental_config(self, config: object | None) -> None: ...

    def _get_activities(self) -> object: ...

    @property
    def running(self) -> bool:
        """Between start() and stop()."""

    @property
    def recording_now(self) -> bool: ...

    @property
    def step_num(self) -> int: ...

    @step_num.setter
    def step_num(self, arg: int, /) -> None: ...

    @property
    def current_action(self) -> object: ...

    @current_action.setter
    def current_action(self, arg: object, /) -> None: ...

    @property
    def record_steps(self) -> bool: ...

    @record_steps.setter
    def record_steps(self, arg: object, /) -> None: ...

    @property
    def trace_only(self) -> bool: ...

    def _use_device(self) -> str | None: ...

    def get_trace_id(self) -> str | None: ...

    def losses(self) -> list[Loss]:
        """Events that are missing, and why."""

    def overhead(self) -> Overhead:
        """What the profiler itself took, of the last trace."""

    def add_metadata(self, key: str, value: str) -> None: ...

    def add_metadata_json(self, key: str, value: str) -> None: ...

    def _recording(self, doing: str) -> Recording: ...

    def _last_cycle(self, doing: str) -> Recording: ...

    def _check_stacks(self) -> None: ...

    def _check_memory_timeline(self) -> None: ...

def run_program(arguments: Sequence[str]) -> int:
    """Runs a command of mtprof that is written in C++; returns its status."""

def ranks_json(paths: Sequence[str], max_memory: int = 0, threads: int = 0) -> str:
    """JSON of `mtprof ranks --json`."""

def write_ranks_page(paths: Sequence[str], page: str, title: str) -> None:
    """Writes the page of `mtprof ranks -o`."""

def ranks_files(paths: Sequence[str]) -> list[str]:
    """The files that `mtprof ranks PATHS` reads."""

def summarize_ranks(paths: Sequence[str], max_memory: int = 0, threads: int = 0) -> bytes:
    """The bytes of a file of summaries (.mtsum)."""

def add_table_formats(suffix: str, needs: str, write: object) -> None:
    """
    Lets exports to files of this suffix call write(table, path); the table has __arrow_c_stream__().
    """

class SourceStatus:
    """Somebody who can watch a device, or the reason why not."""

    @property
    def name(self) -> str: ...

    @property
    def activity(self) -> object: ...

    @property
    def available(self) -> bool: ...

    @property
    def reason(self) -> str: ...

    @property
    def advice(self) -> str: ...

def profiler_status() -> tuple: ...

def diagnose_sources() -> dict: ...

def flush_recording() -> bool:
    """
    Writes what has been recorded so far to the file of a profile that spills. False if that takes longer than a second.
    """

def supported_activities() -> object: ...

def chosen_library(name: str) -> str:
    """
    The path that MINDTORCH_LIBRARY_PATH has for a name; "" if it has none.
    """

def nvtx_injection_path() -> str: ...

def nvtx_connected_libraries() -> int: ...

def write_apart(path: bytes, content: bytes) -> None:
    """
    Writes a file; the program can neither close it meanwhile nor get its bytes.
    """

class ControlSocket:
    """
    A Unix socket whose descriptors the program can neither close nor take for its own.
    """

    def __init__(self, path: bytes, answer: object) -> None:
        """
        `answer` is called with a token and a line; reply() may follow at any time.
        """

    def reply(self, token: int, line: bytes) -> None: ...

    def close(self) -> None: ...

    def is_lost(self) -> bool:
        """
        The program has closed the socket, where the kernel has no separate descriptors.
        """

def _session_listener(arg: object, /) -> int: ...

def _applied_arguments(arg0: dict, arg1: type, /) -> int: ...

class record_function:
    """
    Labels a block of code (as a context manager) or a function (as a decorator) in what a profile records.

    May be nested and entered again; an exception closes it. `args` is text about the call, shown with the event.
    A decorated generator, coroutine or asynchronous generator has one event each time it runs until it yields or waits.

        with record_function("forward"):
            loss = model(batch)
    """
    name: str
    args: str | None
    run_callbacks_on_exit: bool
    def __init__(self, name: str, args: str | None = None) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, exc_type: object, exc_value: object, traceback: object, /) -> None: ...
    def __call__(self, func: Function) -> Function: ...
    def _call_end_callbacks_on_future(self, fut: Any, /) -> Any: ...
    def _recreate_cm(self) -> record_function: ...
    def _end(self) -> None: ...
    def __getstate__(self) -> dict: ...
    def __setstate__(self, state: dict, /) -> None: ...

def _set_record_function_attribute(name, value, /):
    """An attribute of the class record_function."""

def _set_torchs_turn(address, /):
    """
    The address of a C function that says whether torch takes the scopes that this thread enters now; 0: it never does.
    """

class _RecordFunctionFast:
    """
    An op that generated code runs. Values are shown with its events if the profile records shapes.
    """
    def __init__(self, name: str, input_values: Sequence[Any] | None = None, keyword_values: dict[str, Any] | None = None) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(self, exc_type: object, exc_value: object, traceback: object, /) -> None: ...

def _stand_in_for(torchs, is_enabled, /):
    """
    From now on calls of the class `torchs` make a _RecordFunctionFast of ours.
    It enters torch's own object where is_enabled() says that torch's profiler runs.
    """

def _stop_standing_in():
    """Calls of torch's class make torch's objects again."""

class DispatchToken:
    """An op call that has begun: see dispatch_op_enter()."""

def is_profiler_enabled() -> bool:
    """
    True while a profile records: an op call that asks first pays for nothing else.
    """

def dispatch_op_enter(
    name: str, device: Any = None, args: Sequence[Any] | None = (), kwargs: dict[str, Any] | None = None
) -> DispatchToken | None:
    """
    An op call of a foreign framework begins. Returns a token for dispatch_op_exit(), None while nothing records.

    `device` is where its tensors live: "npu", "cuda:1", or an object with `type` and `index`. Arguments are looked at only if the
    profile records shapes; a tensor is anything with `shape`, lists of them included.
    """

def dispatch_op_exit(token: DispatchToken | None, /) -> None:
    """
    The op call of this token ends; call it in a `finally` clause. Does nothing the second time.
    """

class _ModuleScope:
    """One call of a module."""
    def __enter__(self) -> None: ...
    def __exit__(self, exc_type: object, exc_value: object, traceback: object, /) -> None: ...

def _module_scope(name: str, path: str, /) -> _ModuleScope:
    """A context manager for one call of the module of this name and place."""

def _record_calls_of(type: type, describe: Callable, own_tensors: Callable) -> None:
    """
    Records the calls of all objects of `type`, whose names and paths `describe` tells and their tensors `own_tensors`, in sessions that want modules or stacks.
    """

def _record_optimizer_step(name: str, tensors: tuple) -> None:
    """
    Records a step that has just ended and the tensors of its optimizer, in sessions that want the owners of memory.
    """

def _stop_recording_calls() -> None:
    """Ends what _record_calls_of() began."""

def _monitor_python_calls():
    """
    Records calls on all threads through sys.monitoring. False if that cannot be had.
    """

def _profile_python_calls():
    """Records calls on all threads that run now, with a profile function."""

def _stop_python_calls():
    """Ends what was begun."""

def _is_profiled():
    """
    Whether the calls of this thread are reported to a profile function of ours.
    """

def _setprofile(function, /):
    """Sets a profile function beside that which records calls."""

def _join_python_calls(frame, event, arg, /):
    """A profile function for threads that start later."""

def _watch_data_workers(folder: str) -> None:
    """
    Workers of data loaders write what they do into files in this folder, and recordings with a sampler have it.
    """

class _ExecutionTrace:
    """Collects what is called, and writes it as a Chakra execution trace."""

    def __init__(self) -> None: ...

    def register_output(self, path: str) -> None: ...

    def set_process_groups(self, json: str) -> None: ...

    def unregister(self) -> None: ...

    def start(self) -> None: ...

    def stop(self) -> None: ...

    @property
    def registered(self) -> bool: ...

    @property
    def running(self) -> bool: ...

_services: PyCapsule = ...
