"""The calls that thirty projects make to torch.profiler, in their order. Written for these tests; the source is named with each.

A client is called with torch.profiler, torch.autograd.profiler and an empty folder, which is also the current one. What it returns, the
files that it leaves and its exceptions are compared.
"""

import contextlib
import gzip
import inspect
import json
import os
import re
import socket
from collections import Counter
from types import SimpleNamespace

import torch

CLIENTS = {}


def client(source, registry=CLIENTS):
    def register(function):
        function.source = source
        registry[function.__name__] = function
        return function

    return register


def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))


def train(steps, step=lambda number: None, scope=contextlib.nullcontext):
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for number in range(steps):
        with scope():
            loss = net(torch.ones(4, 8)).sum()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        step(number)


def infer(times=1):
    net = model()
    with torch.no_grad():
        for _ in range(times):
            net(torch.ones(4, 8))


def counts(rows):
    return {row.key: row.count for row in rows}


def write(path, text):
    with open(path, "w") as file:
        print(text, file=file)


def columns(table):
    """The words of a table's header, without the widths."""
    return [line.split() for line in table.splitlines() if "Name" in line][:1]


# --- Inference servers ---


class VllmWrapper:
    """TorchProfilerWrapper."""

    def __init__(self, profiler, name, activities, schedule=None, **options):
        handler = profiler.tensorboard_trace_handler("traces", worker_name=name, use_gzip=True)
        kinds = [getattr(profiler.ProfilerActivity, each) for each in activities]
        self.profiler = profiler.profile(activities=kinds, schedule=schedule, on_trace_ready=handler, **options)
        self.is_scheduled = schedule is not None

    def start(self):
        self.profiler.start()

    def step(self):
        if self.is_scheduled:
            self.profiler.step()

    def stop(self):
        self.profiler.stop()
        if self.profiler.profiler is None:
            return None
        self.profiler.add_metadata_json("vllm_version", json.dumps("0.20"))
        table = self.profiler.key_averages().table(sort_by="self_cuda_time_total")
        write("profiler_out_0.txt", table)
        return columns(table)


@client("vllm/profiler/wrapper.py")
def vllm_worker(profiler, older, folder):
    worker = VllmWrapper(profiler, "rank0", ["CPU", "CUDA"], record_shapes=True, profile_memory=True, with_stack=False, with_flops=True)
    worker.start()
    infer(3)
    return worker.stop()


@client("vllm/profiler/wrapper.py")
def vllm_worker_with_a_schedule(profiler, older, folder):
    schedule = profiler.schedule(skip_first=0, wait=1, warmup=1, active=2, repeat=1)
    worker = VllmWrapper(profiler, "rank0", ["CPU"], schedule=schedule)
    worker.start()
    for _ in range(6):
        infer()
        worker.step()
    return worker.stop()


@client("vllm/profiler/wrapper.py")
def vllm_worker_that_waits_to_the_end(profiler, older, folder):
    worker = VllmWrapper(profiler, "rank0", ["CPU"], schedule=profiler.schedule(wait=9, warmup=1, active=2, repeat=1))
    worker.start()
    worker.step()
    return worker.stop()


@client("vllm/v1/engine/async_llm.py")
def vllm_api_process(profiler, older, folder):
    handler = profiler.tensorboard_trace_handler("traces", worker_name="host_1.async_llm", use_gzip=False)
    prof = profiler.profile(activities=[profiler.ProfilerActivity.CPU], with_stack=True, on_trace_ready=handler)
    for _ in range(2):  # POST /start_profile and /stop_profile, twice
        prof.start()
        infer()
        prof.stop()


@client("vllm/profiler/layerwise_profile.py")
def vllm_layerwise(profiler, older, folder):
    config = torch._C._profiler._ExperimentalConfig(verbose=True)
    with profiler.profile(
        activities=[profiler.ProfilerActivity.CPU], record_shapes=True, with_stack=True, with_modules=True, experimental_config=config
    ) as prof:
        infer()
    found = []

    def walk(node):
        kind, fields = node.typed
        if str(kind).endswith("PyCall") and fields.module is not None:
            parameters = [(name, list(tensor.sizes)) for name, tensor, *_ in fields.module.parameters]
            found.append((str(fields.module.cls_name), parameters))
        for child in node.children:
            walk(child)

    for root in prof.profiler.kineto_results.experimental_event_tree():
        walk(root)
    return sorted(found)


def sglang_profile(profiler, **options):
    return profiler.profile(
        activities=[profiler.ProfilerActivity.CPU], with_stack=True, record_shapes=False, on_trace_ready=None, **options
    )


@client("sglang/srt/managers/scheduler_profiler_mixin.py")
def sglang_scheduler(profiler, older, folder):
    os.makedirs("out", exist_ok=True)
    prof = sglang_profile(profiler)
    prof.start()
    infer(2)
    prof.stop()
    prof.export_chrome_trace("out/17-TP-0.trace.json.gz")


@client("sglang/srt/managers/scheduler_profiler_mixin.py")
def sglang_by_stage(profiler, older, folder):
    for stage in ("EXTEND", "DECODE"):
        prof = sglang_profile(profiler)
        prof.start()
        infer()
        prof.stop()
        prof.export_chrome_trace(os.path.join(folder, f"18-TP-0-{stage}.trace.json.gz"))
    return sorted(os.listdir(folder))


@client("text-generation-inference: its server")
def text_generation_inference(profiler, older, folder):
    with profiler.profile(
        activities=[profiler.ProfilerActivity.CPU],
        record_shapes=True,
        with_stack=False,
        on_trace_ready=profiler.tensorboard_trace_handler("tgi", use_gzip=False),
    ) as prof:
        infer()
    return counts(prof.key_averages(group_by_input_shape=True))


@client("gpt-fast/generate.py")
def gpt_fast(profiler, older, folder):
    profiled = profiler.profile()
    with profiled:
        infer()
    profiled.export_chrome_trace("gpt.json")


# --- Training ---


@client("torchtitan/tools/profiling.py")
def torchtitan(profiler, older, folder):
    def handler(prof):
        where = os.path.join("profile_trace", f"iteration_{prof.step_num}")
        os.makedirs(where, exist_ok=True)
        prof.export_chrome_trace(os.path.join(where, "rank0_trace.json"))

    with profiler.profile(
        activities=[profiler.ProfilerActivity.CPU],
        schedule=profiler.schedule(wait=1, warmup=3, active=1),
        on_trace_ready=handler,
        record_shapes=True,
    ) as prof:
        prof.step_num = 10
        train(6, lambda number: prof.step())
    return prof.step_num


class ScheduleWrapper:
    def __init__(self, schedule):
        self.schedule, self.calls = schedule, 0

    def __call__(self, number):
        self.calls += 1
        return self.schedule(number)


@client("lightning/pytorch/profilers/pytorch.py")
def lightning(profiler, older, folder):
    wanted = {"schedule": ScheduleWrapper(profiler.schedule(wait=1, warmup=1, active=2, repeat=1)), "record_shapes": True, "nothing": 1}
    known = inspect.signature(profiler.profile.__init__).parameters
    prof = profiler.profile(activities=[profiler.ProfilerActivity.CPU], **{name: wanted[name] for name in wanted if name in known})
    files = []

    def on_trace_ready(ready):
        files.append(f"{len(files)}.pt.trace.json")
        ready.export_chrome_trace(files[-1])

    prof.__enter__()
    prof.on_trace_ready = on_trace_ready
    isinstance(prof, profiler.profile) or files.append("no instance")
    for number in range(5):
        with profiler.record_function(f"[pl][profile]step_{number}"):
            infer()
        prof.step_num = number
        prof.step()
    prof.add_metadata("Framework", "pytorch-lightning")
    prof.__exit__(None, None, None)
    events = prof.events()
    table = events.key_averages(group_by_input_shapes=False).table(sort_by="cpu_time_total", row_limit=20)
    return files, columns(table), torch.autograd._profiler_enabled()


@client("accelerate/utils/dataclasses.py")
def accelerate(profiler, older, folder):
    options = {"record_shapes": False, "profile_memory": False, "with_stack": False, "with_flops": False, "with_modules": False}
    schedule = profiler.schedule(**{"wait": 1, "warmup": 1, "active": 1, "repeat": 2, "skip_first": 1})
    ready = []
    with profiler.profile(
        activities=[profiler.ProfilerActivity.CPU], schedule=schedule, on_trace_ready=lambda prof: ready.append(prof.step_num), **options
    ) as prof:
        train(8, lambda number: prof.step())
    prof.export_chrome_trace(os.path.join(folder, "profile_0.json"))
    return ready


@client("transformers: a TrainerCallback")
def trainer_callback(profiler, older, folder):
    with profiler.profile(
        activities=[profiler.ProfilerActivity.CPU],
        schedule=profiler.schedule(skip_first=1, wait=1, warmup=1, active=2, repeat=2),
        on_trace_ready=profiler.tensorboard_trace_handler("hf-training-trainer"),
        profile_memory=True,
        with_stack=True,
        record_shapes=True,
    ) as prof:
        train(10, lambda number: prof.step())


@client("torchtune/training/_profiler.py")
def torchtune(profiler, older, folder):
    activities = [getattr(profiler.ProfilerActivity, name) for name in ("CPU", "CUDA", "XPU")]

    def handler(prof):
        where = f"iteration_{prof.step_num}"
        os.makedirs(where, exist_ok=True)
        prof.export_chrome_trace(os.path.join(where, "rank0_trace.json"))
        table = prof.key_averages(group_by_input_shape=True).table(sort_by="cpu_time_total", row_limit=-1)
        write(os.path.join(where, "key_averages.txt"), table)

    prof = profiler.profile(
        activities=activities,
        schedule=profiler.schedule(wait=1, warmup=1, active=2, repeat=1),
        on_trace_ready=handler,
        record_shapes=True,
        profile_memory=False,
        with_stack=False,
        with_flops=False,
    )
    prof.start()
    train(6, lambda number: prof.step())
    prof.stop()


@client("megatron/training/training.py")
def megatron(profiler, older, folder):
    prof = profiler.profile(
        schedule=profiler.schedule(wait=1, warmup=1, active=2, repeat=1),
        on_trace_ready=profiler.tensorboard_trace_handler("tensorboard"),
        record_shapes=True,
        with_stack=True,
    )
    prof.start()

    def step(number):
        prof.step()  # goes on to the end of the training
        if number == 4:
            prof.stop()

    train(8, step)
    return prof.step_num


@client("DeepSpeed: docs/_tutorials/pytorch-profiler.md")
def deepspeed(profiler, older, folder):
    with profiler.profile(
        schedule=profiler.schedule(wait=5, warmup=2, active=6, repeat=2), on_trace_ready=lambda prof: None, with_stack=True
    ) as prof:
        train(9, lambda number: prof.step(), lambda: profiler.record_function("model_forward"))


@client("detectron2/engine/hooks.py")
def detectron2(profiler, older, folder):
    prof = profiler.profile(
        activities=[profiler.ProfilerActivity.CPU], record_shapes=True, profile_memory=True, with_stack=True, with_flops=True
    )
    prof.__enter__()
    train(1)
    prof.__exit__(None, None, None)
    prof.export_chrome_trace(os.path.join(folder, "profiler-trace-iter0.json"))
    return columns(prof.key_averages().table(sort_by="cpu_time_total"))


@client("mmengine/hooks/profiler_hook.py")
def mmengine(profiler, older, folder):
    prof = profiler.profile(
        activities=[profiler.ProfilerActivity.CPU],
        schedule=profiler.schedule(**{"wait": 1, "warmup": 1, "active": 1, "repeat": 1}),
        on_trace_ready=lambda ready: write("log", ready.key_averages().table(sort_by="self_cpu_time_total", row_limit=5)),
        record_shapes=False,
        profile_memory=False,
        with_stack=False,
        with_flops=False,
    )
    prof.__enter__()
    train(4, lambda number: prof.step())
    prof.__exit__(None, None, None)
    prof.export_chrome_trace("mmengine.json")


@client("fairseq2/profilers.py")
def fairseq2(profiler, older, folder):
    os.makedirs("tb", exist_ok=True)
    handler = profiler.tensorboard_trace_handler("tb", worker_name="rank_0", use_gzip=True)
    prof = profiler.profile(
        activities=[profiler.ProfilerActivity.CPU],
        schedule=profiler.schedule(skip_first=1, wait=0, warmup=1, active=2, repeat=1),
        on_trace_ready=handler,
        record_shapes=True,
        with_stack=True,
    )
    with prof:
        train(6, lambda number: prof.step(), lambda: profiler.record_function("step"))


@client("verl/utils/profiler/profile.py")
def verl(profiler, older, folder):
    prof = profiler.profile(
        activities=[profiler.ProfilerActivity.CPU],
        schedule=profiler.schedule(wait=max(2 - 1, 0), warmup=1, active=2, repeat=1),
        record_shapes=True,
        with_stack=True,
    )
    prof.start()
    train(4, lambda number: prof.step())
    prof.stop()
    prof.export_chrome_trace("prof_start_2_end_4_rank_0.json")


@client("NeMo: its callback for PyTorch's profiler")
def nemo(profiler, older, folder):
    def ready(prof):
        prof.export_chrome_trace(os.path.join(folder, f"device-rank-0-step-{prof.step_num}.json.gz"))

    prof = profiler.profile(
        activities=[profiler.ProfilerActivity.CPU],
        schedule=profiler.schedule(wait=0, warmup=2, active=2, repeat=1),
        on_trace_ready=ready,
        execution_trace_observer=profiler.ExecutionTraceObserver().register_callback("chakra_host.json"),
    )
    prof.start()
    train(5, lambda number: prof.step())
    prof.stop()
    prof.execution_trace_observer.unregister_callback()


@client("composer/profiler/torch_profiler.py")
def composer(profiler, older, folder):
    def handler(prof):
        prof.export_chrome_trace("torch_traces_rank_0.json")
        from torch.profiler._memory_profiler import MemoryProfileTimeline

        timeline = MemoryProfileTimeline(prof._memory_profile())
        times, sizes = timeline._coalesce_timeline("cpu")
        ready.append(len(times) > 0 and len(times) == len(sizes))

    ready = []
    prof = profiler.profile(
        activities=[profiler.ProfilerActivity.CPU],
        schedule=profiler.schedule(wait=0, warmup=1, active=1, repeat=1),
        on_trace_ready=handler,
        record_shapes=True,
        profile_memory=True,
        with_stack=True,
        with_flops=True,
    )
    prof.__enter__()
    train(3, lambda number: prof.step())
    prof.__exit__(None, None, None)
    return ready


@client("torchtnt/framework/callbacks/torch_profiler.py")
def torchtnt(profiler, older, folder):
    prof = profiler.profile(
        activities=[profiler.ProfilerActivity.CPU],
        schedule=profiler.schedule(wait=1, warmup=1, active=1),
        on_trace_ready=profiler.tensorboard_trace_handler("tnt"),
    )
    prof.start()
    train(4, lambda number: prof.step())
    prof.stop()
    return [str(prof.current_action), prof.step_num]


@client("Ray Train: an example")
def ray_train(profiler, older, folder):
    with profiler.profile(
        activities=[profiler.ProfilerActivity.CPU],
        schedule=profiler.schedule(wait=1, warmup=1, active=1, repeat=1),
        with_stack=True,
        on_trace_ready=profiler.tensorboard_trace_handler("logs"),
    ) as prof:
        train(4, lambda number: prof.step())


@client("Catalyst: ProfilerCallback")
def catalyst(profiler, older, folder):
    prof = profiler.profile(
        activities=[profiler.ProfilerActivity.CPU],
        with_stack=True,
        experimental_config=torch._C._profiler._ExperimentalConfig(verbose=True),
    )
    prof.__enter__()
    train(1)
    prof.__exit__(None, None, None)
    table = prof.key_averages().table(sort_by="cpu_time_total", row_limit=100)
    prof.export_stacks("profiler_stacks.txt", "self_cpu_time_total")
    prof.export_chrome_trace("chrome.json")
    return columns(table)


@client("LLaMA-Factory: its profiler callback")
def llama_factory(profiler, older, folder):
    prof = profiler.profile(
        activities=[profiler.ProfilerActivity.CPU],
        schedule=profiler.schedule(wait=1, warmup=1, active=3),
        on_trace_ready=profiler.tensorboard_trace_handler("profiler"),
        record_shapes=True,
        profile_memory=True,
    )
    prof.__enter__()
    train(4, lambda number: prof.step())
    prof.__exit__(None, None, None)


@client("nanoGPT/bench.py")
def nano_gpt(profiler, older, folder):
    with profiler.profile(
        activities=[profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.CUDA],
        schedule=profiler.schedule(wait=1, warmup=1, active=1, repeat=1),
        on_trace_ready=profiler.tensorboard_trace_handler("./bench_log"),
        record_shapes=False,
        profile_memory=False,
        with_stack=False,
        with_flops=True,
        with_modules=False,
    ) as prof:
        train(3, lambda number: prof.step())


@client("pytorch_geometric/torch_geometric/profile/profiler.py")
def pytorch_geometric(profiler, older, folder):
    def ready(prof):
        write("table.txt", prof.key_averages().table(sort_by="self_cpu_time_total"))
        prof.export_chrome_trace("timeline.json")

    with profiler.profile(activities=[profiler.ProfilerActivity.CPU], on_trace_ready=ready) as prof:
        infer()
        prof.step()


# --- Benchmarks and analyses ---


@client("pytorch/benchmark/torchbenchmark/util/experiment/instantiator.py")
def torchbench(profiler, older, folder):
    observer = profiler.ExecutionTraceObserver()
    observer.register_callback(os.path.join(folder, "et.json"))
    observer.start()
    with profiler.profile(
        schedule=profiler.schedule(wait=0, warmup=1, active=2),
        activities=[profiler.ProfilerActivity.CPU],
        record_shapes=True,
        on_trace_ready=profiler.tensorboard_trace_handler("tb"),
    ) as prof:
        for _ in range(4):
            infer()
            prof.step()
    observer.stop()
    observer.unregister_callback()
    with open("et.json") as file:
        nodes = json.load(file)["nodes"]
    return [sum(node["name"] == name for node in nodes) for name in ("aten::linear", "aten::relu", "aten::addmm")]


@client("tritonbench/components/do_bench/run.py")
def tritonbench(profiler, older, folder):
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU]) as prof:
        for _ in range(3):
            with profiler.record_function("## bench ##"):
                infer()
    events = [event for event in prof.events() if event.name.startswith("aten::") and event.device_type.name == "CPU"]
    return Counter(event.name for event in events), all(event.time_range.elapsed_us() >= 0 for event in events)


@client("pytorch/torch/_inductor/utils.py: _do_bench_using_profiling")
def inductor_bench(profiler, older, folder):
    from torch.autograd.profiler_util import EventList

    with profiler.profile(activities=[profiler.ProfilerActivity.CPU]) as prof:
        infer(3)
    kept = EventList([event for event in prof.events() if event.cpu_parent is None])
    kept._build_tree()
    rows = kept.key_averages()
    return counts(rows), sum(row.self_cpu_time_total for row in rows) > 0


@client("torchao/benchmarks/microbenchmarks/profiler.py")
def torchao(profiler, older, folder):
    with profiler.profile(
        activities=[profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.CUDA],
        record_shapes=True,
        with_stack=True,
        profile_memory=True,
        on_trace_ready=lambda prof: None,
    ) as prof:
        infer(2)
    prof.export_chrome_trace("torchao.json")
    peak = max(row.self_device_memory_usage for row in prof.key_averages())
    return peak, {name: count for name, count in counts(prof.key_averages()).items() if name.startswith("aten::")}


@client("diffusers/benchmarks and examples")
def diffusers(profiler, older, folder):
    cpu = profiler.ProfilerActivity.CPU
    with profiler.profile(activities=[cpu], with_stack=True, record_shapes=True) as prof, profiler.record_function("pipeline"):
        infer(2)
    prof.export_chrome_trace("trace.json")
    return columns(prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=10))


@client("pytorch/benchmarks/dynamo/common.py")
def dynamo_bench(profiler, older, folder):
    def ready(prof):
        prof.export_chrome_trace("model.json.gz")

    @contextlib.contextmanager
    def maybe_profile(is_on, **options):
        with profiler.profile(**options) if is_on else contextlib.nullcontext() as prof:
            yield prof

    with maybe_profile(True, record_shapes=True, on_trace_ready=ready, activities=[profiler.ProfilerActivity.CPU]) as prof:
        infer()
    with maybe_profile(False) as none:
        infer()
    return none, counts(prof.key_averages())


@client("xformers/profiler/api.py")
def xformers(profiler, older, folder):
    def done(prof):
        prof.export_chrome_trace(os.path.join(folder, "xformers.json.gz"))

    prof = profiler.profile(
        on_trace_ready=done,
        profile_memory=True,
        record_shapes=True,
        with_stack=True,
        with_flops=True,
        activities=[profiler.ProfilerActivity.CPU],
    )
    prof.__enter__()
    infer()
    prof.__exit__(None, None, None)
    return sum(event.flops or 0 for event in prof.events() if event.name == "aten::addmm")


@client("param/train/compute/python: et_replay")
def param(profiler, older, folder):
    observer = profiler.ExecutionTraceObserver()
    observer.register_callback("pt_et.json")
    with profiler.profile(
        activities=[profiler.ProfilerActivity.CPU],
        schedule=profiler.schedule(wait=1, warmup=1, active=1, repeat=1),
        on_trace_ready=lambda prof: prof.export_chrome_trace("kineto.json"),
        execution_trace_observer=observer,
    ) as prof:
        for _ in range(4):
            infer()
            prof.step()
    return observer.is_registered


@client("MONAI and older programs: torch.autograd.profiler")
def monai(profiler, older, folder):
    with older.profile(use_device=None, record_shapes=True) as prof:
        train(1)
    prof.export_chrome_trace("older.json")
    return columns(prof.key_averages().table(sort_by="self_cpu_time_total")), isinstance(prof, older.profile)


@client("a class derived from torch.profiler.profile")
def derived(profiler, older, folder):
    class Profile(profiler.profile):
        def __init__(self, name, **options):
            self.name, self.calls = name, []
            super().__init__(activities=[profiler.ProfilerActivity.CPU], **options)

        def start_trace(self):
            self.calls.append("start_trace")
            super().start_trace()

        def stop_trace(self):
            self.calls.append("stop_trace")
            super().stop_trace()

        def step(self):
            self.calls.append("step")
            super().step()

    with Profile("mine", schedule=profiler.schedule(wait=1, warmup=1, active=1, repeat=1)) as prof:
        for _ in range(4):
            infer()
            prof.step()
    return prof.calls, prof.name, isinstance(prof, profiler.profile)


@client("a program that compares what it gets")
def comparing(profiler, older, folder):
    kinds = profiler.ProfilerActivity
    with profiler.profile(activities=[kinds.CPU], record_shapes=True) as prof:
        infer()
    event = next(event for event in prof.events() if event.name == "aten::addmm")
    return [
        kinds.CPU in prof.activities,
        prof.activities == {kinds.CPU},
        kinds.CPU in profiler.supported_activities(),
        event.device_type == profiler.DeviceType.CPU,
        event.device_type in (profiler.DeviceType.CPU,),
        event.device_type in {profiler.DeviceType.CPU: 1},
        prof.current_action == profiler.ProfilerAction.RECORD,
        isinstance(event, torch.autograd.profiler_util.FunctionEvent),
        event.input_shapes,
    ]


# --- What is compared ---


def content(path):
    """Of a trace, how often ops and annotations of each name occur; of other files, that they are there."""
    if ".json" not in path:
        return "there"
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as file:
        trace = json.load(file)
    if "traceEvents" not in trace:
        return "nodes" in trace
    named = Counter((event["cat"], event["name"]) for event in trace["traceEvents"] if event.get("cat") in ("cpu_op", "user_annotation"))
    return sorted([*key, count] for key, count in named.items())


def plain_name(path):
    """Without the time, and without the host and the process of handlers that were given no name of their own."""
    where, name = os.path.split(path)
    name = name.replace(f"{socket.gethostname()}_{os.getpid()}", "HOST_PID")
    return os.path.join(where, re.sub(r"\.\d{15,}\.pt\.", ".TIME.pt.", name))


def outcome(function, folder, profiler=None, older=None):
    """Everything about a run of a client that must be the same, as JSON."""
    os.makedirs(folder)
    before = os.getcwd()
    os.chdir(folder)
    found = SimpleNamespace(error=None, returned=None)
    try:
        found.returned = function(profiler or torch.profiler, older or torch.autograd.profiler, folder)
    except Exception as error:
        found.error = f"{type(error).__name__}: {error}"
    finally:
        os.chdir(before)
    files = [os.path.relpath(os.path.join(where, name), folder) for where, _, names in os.walk(folder) for name in names]
    return {**vars(found), "files": sorted([plain_name(path), content(os.path.join(folder, path))] for path in files)}
