"""Every name of torch.profiler is here, with torch's arguments, defaults, members and options."""

import ast
import gc
import importlib
import inspect
import itertools
import re
import warnings

import mindtorch_v2 as ours
import pytest

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
torch = pytest.importorskip("torch")

MODULES = ["profiler", "profiler.profiler", "autograd.profiler", "autograd.profiler_util", "profiler.itt"]


def both(path):
    """The module of torch and ours."""
    return importlib.import_module(f"torch.{path}"), importlib.import_module(f"mindtorch_v2.{path}")


PROFILER = re.compile(r"torch\.(profiler|autograd\.profiler|_C\._autograd|_C\._profiler)\w*(\.[a-z]\w*)?")


def belongs_to_the_profiler(name, value):
    """Whether it is a constant, or a class or function of a module of the profiler that is not private."""
    home = getattr(value, "__module__", None)
    return PROFILER.fullmatch(home) is not None if isinstance(home, str) else name.isupper() and name != "TYPE_CHECKING"


@pytest.mark.parametrize("path", MODULES)
def test_every_public_name_of_torch_exists(path):
    theirs, mine = both(path)
    imported = [name for name, value in vars(theirs).items() if not name.startswith("_") and belongs_to_the_profiler(name, value)]
    assert len(imported) > 4
    assert [name for name in [*getattr(theirs, "__all__", ()), *imported] if not hasattr(mine, name)] == []


def test_names_that_a_module_of_torch_has_without_listing_them_are_those_of_the_other_modules():
    import mindtorch_v2.autograd.profiler as mine

    assert mine.kineto_available is ours.profiler.kineto_available is ours.autograd.kineto_available
    assert mine.kineto_available() is True
    assert mine.MEMORY_EVENT_NAME == torch.autograd.profiler.MEMORY_EVENT_NAME
    assert mine.OUT_OF_MEMORY_EVENT_NAME == torch.autograd.profiler.OUT_OF_MEMORY_EVENT_NAME


def test_events_and_rows_have_torchs_attributes_as_their_dictionary():
    profiles = []
    for module in (torch.profiler, ours.profiler):
        with module.profile() as prof, module.record_function("scope"):
            pass
        profiles.append(prof)
    for objects in zip(*([prof.events()[0], prof.key_averages()[0]] for prof in profiles), strict=True):
        theirs, mine = ([name for name in vars(each) if not name.startswith("_")] for each in objects)
        assert mine == theirs


@pytest.mark.parametrize(
    "name", ["_KinetoProfile", "_ExperimentalConfig", "RecordScope", "_supported_activities", "KinetoStepTracker", "itt"]
)
def test_names_that_programs_use_though_they_are_not_listed_exist(name):
    assert hasattr(torch.profiler, name) and hasattr(ours.profiler, name)


@pytest.mark.parametrize(
    "path, name",
    [
        ("profiler", "ProfilerActivity"),
        ("profiler", "ProfilerAction"),
        ("profiler", "DeviceType"),
        ("profiler", "RecordScope"),
        ("autograd", "ProfilerState"),
    ],
)
def test_enums_have_torchs_members_and_numbers(path, name):
    theirs, mine = (getattr(module, name) for module in both(path))
    for member in theirs.__members__.values():
        assert mine.__members__[member.name].value == member.value
        assert mine.__members__[member.name] == member
    first, second = itertools.islice(theirs.__members__.values(), 2)
    assert mine.__members__[first.name] != second


OURS = [("options", inspect.Parameter.VAR_KEYWORD, inspect.Parameter.empty)]  # what only our profiles take, behind torch's arguments


# What methods take in PyTorch 2.15 and later.
OF_LATER_RELEASES = {
    "export_chrome_trace": ["cuda_graph_annotations", "graph_lanes", "default_stream"],
    "key_averages": ["include_python_functions"],
}


def without_later_ones(ours, theirs, method):
    """The parameters of ours, without those that the installed release of torch does not have yet."""
    known = [name for name, *_ in theirs]
    return [each for each in ours if each[0] in known or each[0] not in OF_LATER_RELEASES.get(method, ())]


def parameters(function):
    return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]


CALLABLES = {
    "profiler": ["profile", "schedule", "tensorboard_trace_handler", "supported_activities", "_KinetoProfile"],
    "profiler.itt": ["is_available", "range_push", "range_pop", "mark", "range"],
    "autograd.profiler": ["profile", "emit_itt", "emit_nvtx", "load_nvprof", "parse_nvprof_trace", "EnforceUnique", "record_function"],
    "autograd.profiler_util": ["Interval", "MemRecordsAcc", "FunctionEvent"],
}


@pytest.mark.parametrize("path, name", [(path, name) for path, names in CALLABLES.items() for name in names])
def test_calls_have_torchs_arguments_and_defaults(path, name):
    theirs, mine = (getattr(module, name) for module in both(path))
    own = OURS if path == "profiler" and name in ("profile", "_KinetoProfile") else []
    assert parameters(mine) == [*parameters(theirs), *own]


METHODS = [
    ("profiler", "profile"),
    ("profiler", "_KinetoProfile"),
    ("autograd.profiler", "profile"),
    ("autograd.profiler_util", "EventList"),
    ("autograd.profiler", "KinetoStepTracker"),
    ("autograd.profiler", "EnforceUnique"),
    ("profiler", "ExecutionTraceObserver"),
]


@pytest.mark.parametrize("path, name", METHODS)
def test_methods_have_torchs_arguments_and_defaults(path, name):
    theirs, mine = (getattr(module, name) for module in both(path))
    for method, function in inspect.getmembers(theirs, inspect.isroutine):
        if method.startswith("_") or method in vars(list):
            continue
        assert hasattr(mine, method), method
        expected = parameters(function)
        assert without_later_ones(parameters(getattr(mine, method)), expected, method) == expected, method


def test_the_config_has_torchs_options_in_torchs_order():
    documented = torch.profiler._ExperimentalConfig.__init__.__doc__.split("->")[0]
    expected = [part.split(":")[0].strip() for part in documented.split("(self: ")[1].split(", ")[1:]]
    mine = [name for name, kind, _ in parameters(ours.profiler._ExperimentalConfig) if kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    assert mine == expected
    for part in documented.split("(self: ")[1].split(", ")[1:]:
        name, default = part.split(":")[0], part.split(" = ")[1].rstrip(" )")
        if name != "profile_all_threads":  # all threads are recorded here
            assert getattr(ours.profiler._ExperimentalConfig(), name) == ast.literal_eval(default), name


def test_torchs_own_enums_and_config_are_accepted():
    config = torch.profiler._ExperimentalConfig(verbose=True, trace_only=False)
    prof = ours.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU],
        schedule=torch.profiler.schedule(wait=0, warmup=1, active=1),
        experimental_config=config,
    )
    assert prof.current_action == torch.profiler.ProfilerAction.WARMUP
    assert torch.profiler.ProfilerActivity.CPU in prof.activities


# An option each, whether torch's own object says it or ours: the same warnings.
OPTIONS = {
    "profiler_metrics": ["cycles"],
    "profiler_measure_per_kernel": True,
    "verbose": True,
    "performance_events": ["cycles"],
    "enable_cuda_sync_events": True,
    "adjust_profiler_step": True,
    "disable_external_correlation": True,
    "profile_all_threads": True,
    "capture_overload_names": True,
    "record_python_gc_info": True,
    "expose_kineto_event_metadata": True,
    "custom_profiler_config": "x",
    "adjust_timestamps": True,
    "trace_only": True,
}


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_of_torchs_own_config_does_what_ours_does(name):
    from mindtorch_v2.profiler._config import as_ours

    option = {name: OPTIONS[name]}
    assert as_ours(torch.profiler._ExperimentalConfig(**option)) == ours.profiler._ExperimentalConfig(**option)
    told = []
    for module in (torch.profiler, ours.profiler):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            prof = ours.profiler.profile(experimental_config=module._ExperimentalConfig(**option))
        told.append([str(warning.message) for warning in caught if "PyTorch is imported" not in str(warning.message)])
        assert type(prof.experimental_config) is module._ExperimentalConfig
    assert told[0] == told[1]


def test_torchs_own_config_is_honoured():
    with ours.profiler.profile(experimental_config=torch.profiler._ExperimentalConfig(record_python_gc_info=True)) as prof:
        gc.collect()
    assert "Python GC" in [event.name for event in prof.events()]
    with ours.profiler.profile(experimental_config=torch.profiler._ExperimentalConfig(trace_only=True)) as prof:
        pass
    with pytest.raises(RuntimeError, match="trace_only=True"):
        prof.events()
    prof = ours.profiler.profile(with_stack=True, experimental_config=torch.profiler._ExperimentalConfig(trace_only=True))
    assert prof.experimental_config.trace_only is False and type(prof.experimental_config) is torch.profiler._ExperimentalConfig


@pytest.mark.parametrize("name", ["ProfilerActivity", "DeviceType", "RecordScope"])
def test_torchs_members_say_no_to_whatever_is_on_their_right(name):
    """pybind11's == never asks the other side, so ours must be on the left (docs/profiler.md)."""

    class EqualToAll:
        def __eq__(self, other):
            return True

    theirs, mine = (next(iter(getattr(module.profiler, name).__members__.values())) for module in (torch, ours))
    assert mine == theirs and theirs in [mine]
    assert not theirs == EqualToAll() and not theirs == mine  # noqa: SIM201
    assert ours.profiler.ProfilerAction.RECORD == torch.profiler.ProfilerAction.RECORD == ours.profiler.ProfilerAction.RECORD
