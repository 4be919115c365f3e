"""What recording costs: prices measured on this machine, in this process, and the cost of a recording at these prices.

An op costs what PyTorch's callback and the recorder take. The evaluation of an autograd node costs several times as much, because PyTorch
looks up its callbacks anew whenever it enters or leaves a node. Both are measured with layers of a few ops, as programs have them: one op
that is called again and again finds all of its code in the caches, and its price would be less than what programs pay.
"""

from __future__ import annotations

import itertools
import math
import statistics
import sys
import time
from dataclasses import asdict, dataclass
from types import SimpleNamespace

from mindtorch_v2._C import is_profiler_enabled
from mindtorch_v2.profiler.profiler import profile

_FEWEST_STEPS = 5
_MOST_COUNTED = 200_000
_ROUNDS = 12
_REPEATED = 3  # repetitions of one measurement: a short one is rarely interrupted
_SIZE = 16
_LAYERS = 4
_DEPTH = 10  # of the Python calls around an op, which stacks are made of
_NODE = "autograd::engine::evaluate_function"
_RUNTIME = ("cuda", "cu", "acl")
_OPTIONS = {"shapes": "record_shapes", "memory": "profile_memory", "stack": "with_stack"}


@dataclass
class Prices:
    """Nanoseconds that recording adds."""

    op: float  # to an op or a scope
    node: float  # to the evaluation of an autograd node
    module: float = 0.0  # to a call of a module, if these are recorded

    def cost(self, work: Work) -> float:
        return work.ops * self.op + work.nodes * self.node + work.modules * self.module


@dataclass
class Work:
    """What was recorded, as far as it has prices."""

    ops: float = 0  # and scopes
    nodes: float = 0
    modules: float = 0

    def __truediv__(self, count: float) -> Work:
        return Work(self.ops / count, self.nodes / count, self.modules / count)

    @classmethod
    def of(cls, prof, has_modules: bool = False) -> Work:
        work = cls(modules=_modules_in(prof) if has_modules else 0)
        for row in prof.key_averages():
            if row.device_type.name != "CPU" or row.key.startswith(_RUNTIME):
                continue
            if row.key.startswith(_NODE):
                work.nodes += row.count
            else:
                work.ops += row.count
        return work


def _modules_in(prof) -> float:
    """Calls of modules, which no averages have. Of a long recording the beginning is counted, and stands for the rest."""
    events = prof.events()
    looked_at = min(len(events), _MOST_COUNTED)
    calls = sum(1 for event in itertools.islice(events, looked_at) if event.kind == "module")
    return calls * len(events) / looked_at if looked_at else 0


def measure_prices(settings) -> Prices | None:
    """None if they cannot be measured. `settings` says what else than times is recorded, in its attributes shapes, memory and stack."""
    if is_profiler_enabled():  # the ops would be events of another profile
        return None
    library = sys.modules.get("torch") or sys.modules.get("mindtorch_v2")
    options = {option: bool(getattr(settings, name, False)) for name, option in _OPTIONS.items()}
    try:
        return _measure(library, options, bool(getattr(settings, "modules", False)))
    except (AttributeError, RuntimeError, TypeError, ValueError):
        return None


def measure_options(settings) -> dict[str, Prices]:
    """Prices with one option more, for each option of ops that the recording lacks."""
    found = {}
    for name in _OPTIONS:
        if getattr(settings, name, False):
            continue
        chosen = {other: getattr(settings, other, False) for other in _OPTIONS} | {name: True}
        prices = measure_prices(SimpleNamespace(**chosen))
        if prices is not None:
            found[name] = prices
    return found


def _measure(library, options: dict, modules: bool) -> Prices:
    on_device = {"device": "cuda"} if library.__name__ == "torch" and library.cuda.is_initialized() else {}
    batch, constant = library.ones(_SIZE, _SIZE, **on_device), library.ones(_SIZE, _SIZE, **on_device)
    weight = library.ones(_SIZE, _SIZE, requires_grad=True, **on_device)

    def ops(count: int) -> None:
        for _ in range(count):
            _layers(library, batch, constant)

    def nodes(count: int) -> None:
        for _ in range(count):
            _layers(library, batch, weight).sum().backward()
            weight.grad = None

    forward_ns, forward = _difference(ops, options)
    both_ns, both = _difference(nodes, options)
    op = forward_ns / forward.ops
    node = max(op, (both_ns - both.ops * op) / both.nodes) if both.nodes else op
    prices = Prices(op, node)
    if modules:
        prices.module = _price_of_modules(library, options)
    return prices


def _layers(library, batch, weight):
    """Several layers of a few ops, as programs have them."""
    value = batch
    for _ in range(_LAYERS):
        hidden = (library.matmul(value, weight) + batch).relu()
        hidden = (hidden - hidden.mean(1, keepdim=True)) * batch
        value = value + hidden.transpose(0, 1).softmax(1)
    return value


def _price_of_modules(library, options: dict) -> float:
    module = library.nn.Identity()

    def call(count: int) -> None:
        for _ in range(count * _SIZE):
            module(None)

    added, _ = _difference(call, {**options, "with_modules": True})
    return added / _SIZE


def _difference(run, options: dict) -> tuple[float, Work]:
    """What recording adds to one repetition, and what is recorded of it.

    The smallest of several measurements, with and without recording in turn: other programs only add to them.
    """
    recorded, plain = [], []
    for _ in range(_ROUNDS):
        with profile(**options, python_calls=False) as prof:
            run(1)  # the first ops are slower
            recorded.append(_time_of(run, _REPEATED))
        run(1)
        plain.append(_time_of(run, _REPEATED))
    return max(0.0, min(recorded) - min(plain)) / _REPEATED, Work.of(prof) / (_REPEATED + 1)


def _time_of(run, count: int, depth: int = _DEPTH) -> int:
    if depth:
        return _time_of(run, count, depth - 1)
    began = time.thread_time_ns()
    run(count)
    return time.thread_time_ns() - began


@dataclass
class Stretch:
    """The part of a run that is judged: a mean step, or the whole recording if it has no steps."""

    work: Work
    duration: float  # nanoseconds, with recording
    own: float = 0.0  # nanoseconds in the recorder's own functions

    def share(self, prices: Prices) -> float:
        """What recording adds, as a share of the time without it."""
        cost = prices.cost(self.work) + self.own
        return cost / max(self.duration - cost, self.duration / 10)


def measured_share(recorded: list[float], plain: list[float]) -> float | None:
    """From the durations of steps with and without recording; None if they are too few, or too uneven, to tell."""
    if min(len(recorded), len(plain)) < _FEWEST_STEPS:
        return None
    least = statistics.median(plain)
    if least <= 0:
        return None
    share = statistics.median(recorded) / least - 1
    error = math.hypot(_error_of_median(recorded), _error_of_median(plain)) / least
    return max(0.0, share) if 2 * error <= max(share / 3, 0.01) else None


def _error_of_median(values: list[float]) -> float:
    center = statistics.median(values)
    return 1.25 * 1.48 * statistics.median(abs(value - center) for value in values) / math.sqrt(len(values))


def cost_facts(stretch: Stretch, settings, recorded: list[float], plain: list[float]) -> dict:
    """What the page and the summary of a run say about its cost. The lists are the durations of steps with and without recording."""
    prices = measure_prices(settings)
    share, source = measured_share(recorded, plain), "steps"
    if share is None and prices is not None:
        share, source = stretch.share(prices), "prices"
    options = {}
    if prices is not None:
        for name, more in measure_options(settings).items():
            options[name] = max(0.0, stretch.share(more) - stretch.share(prices))
    return {"cost_share": share, "cost_source": source, "option_shares": options, "prices": asdict(prices) if prices else None}
