"""PyTorch's DataLoader as scopes: fetching, items and collating, in the process of the training loop or in workers, waiting for
workers, and pinning of memory.

Everything is hooked when a profile with a sampler is made (`sampling_interval_ms`); workers that began earlier are not recorded.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import multiprocessing
import os
import shutil
import sys
import tempfile
import threading
from contextlib import nullcontext
from pathlib import Path

from mindtorch_v2 import _C
from mindtorch_v2.capture.data_worker import LoggedFetch, LoggedQueue, LoggedScope, WorkerLog

_PREFIX = "mindtorch-loading-"
_FETCH = "DataLoader.fetch"
_NO_SCOPE = nullcontext()
_hooked: set[str] = set()
_profiles = 0  # that record now and want these scopes
_log: WorkerLog | None = None  # in a worker
_pinning = threading.local()
_made: dict[int, Path] = {}  # the folder that a process has made, by its pid: a forked child leaves it to its parent


class DataLoading:
    """Of one profile: its trace has the scopes of data loading."""

    def start(self) -> None:
        global _profiles
        hook()
        _profiles += 1

    def stop(self) -> None:
        global _profiles
        _profiles -= 1

    def cleanup(self) -> None:
        pass


def _scope(name: str, source: str = ""):
    """A function that returns a context manager for each call."""
    if _log is not None:
        number = _log.name(name, source)
        scope = LoggedFetch(_log, number) if name == _FETCH else LoggedScope(_log, number)
        return lambda: scope
    return lambda: _C.record_function(name) if _profiles > 0 else _NO_SCOPE


def hook() -> None:
    """Hooks the DataLoader if the program uses PyTorch. A release of PyTorch that has other parts is left alone."""
    if "torch" not in sys.modules or "main" in _hooked:
        return
    _hooked.add("main")
    with contextlib.suppress(Exception):
        hook_fetchers()
        _hook_workers()
        _hook_waiting()
        _hook_pinning()


def hook_fetchers() -> None:
    """Also in a worker that was not forked."""
    if "fetchers" in _hooked:
        return
    _hooked.add("fetchers")
    from torch.utils.data import _DatasetKind

    create = _DatasetKind.create_fetcher

    @functools.wraps(create)
    def create_fetcher(*args, **kwargs):
        fetcher = create(*args, **kwargs)
        with contextlib.suppress(Exception):
            _record_fetcher(fetcher)
        return fetcher

    _DatasetKind.create_fetcher = staticmethod(create_fetcher)


def _record_fetcher(fetcher) -> None:
    kind = _innermost(fetcher.dataset)
    if hasattr(fetcher, "dataset_iter"):
        scope = _scope(f"Dataset.__iter__({kind.__name__})", _source(kind.__iter__))
        fetcher.dataset_iter = _Items(fetcher.dataset_iter, scope)
    else:
        item = _scope(f"Dataset.__getitem__({kind.__name__})", _source(kind.__getitem__))
        items = _scope(f"Dataset.__getitems__({kind.__name__})", _source(getattr(kind, "__getitems__", kind.__getitem__)))
        fetcher.dataset = _Dataset(fetcher.dataset, item, items)
    collate = fetcher.collate_fn
    function = getattr(collate, "func", collate)  # of a partial
    name = getattr(function, "__qualname__", type(function).__qualname__)
    code = function if hasattr(function, "__code__") else type(function).__call__
    fetcher.collate_fn = _in_scope(collate, _scope(f"collate_fn({name})", _source(code)))
    fetcher.fetch = _in_scope(fetcher.fetch, _scope(_FETCH))


def _in_scope(function, scope):
    def call(*args, **kwargs):
        with scope():
            return function(*args, **kwargs)

    return call


def _innermost(dataset) -> type:
    """The class of the dataset itself, inside of torch's Subset."""
    while type(dataset).__module__.startswith("torch.utils.data") and hasattr(dataset, "dataset"):
        dataset = dataset.dataset
    return type(dataset)


def _source(function) -> str:
    code = getattr(function, "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code is not None else ""


class _Dataset:
    """Stands for the dataset in a fetcher of torch, which asks for an item or (a Subset) for all items of a batch, and for nothing else."""

    def __init__(self, dataset, item, items):
        self._dataset, self._item, self._items = dataset, item, items

    def __getitem__(self, index):
        with self._item():
            return self._dataset[index]

    def __getattr__(self, name):
        value = getattr(self._dataset, name)
        return _in_scope(value, self._items) if name == "__getitems__" and value else value


class _Items:
    """Stands for the iterator of a dataset."""

    def __init__(self, items, scope):
        self._items, self._scope = items, scope

    def __iter__(self):
        return self

    def __next__(self):
        with self._scope():
            return next(self._items)

    def __getattr__(self, name):
        return getattr(self._items, name)


class WorkerLoop:
    """Stands for torch's _worker_loop, which it calls: an object that is pickled for workers that are not forked."""

    def __init__(self, loop, base: str):
        self.loop, self.base = loop, base
        self.__module__ = loop.__module__
        self.__name__ = self.__qualname__ = loop.__name__

    def __reduce__(self):
        return _loop_of_spawned_worker, (self.base,)

    def __call__(self, *arguments):
        try:
            arguments = self._recorded(list(arguments))
        except Exception:  # another release of torch
            _record_in(None)
        return self.loop(*arguments)

    def _recorded(self, arguments: list) -> list:
        log = WorkerLog(Path(self.base, str(multiprocessing.parent_process().pid)), arguments[10])
        hook_fetchers()
        _record_in(log)
        arguments[2] = LoggedQueue(arguments[2], log, get="DataLoader.idle")
        arguments[3] = LoggedQueue(arguments[3], log, put="DataLoader.put")
        return arguments


def _loop_of_spawned_worker(base: str) -> WorkerLoop:
    """A worker that was not forked imports torch anew, and its own loop."""
    from torch.utils.data._utils import worker

    return WorkerLoop(getattr(worker._worker_loop, "loop", worker._worker_loop), base)


def _record_in(log: WorkerLog | None) -> None:
    """In a worker: its scopes go to the log; None: nowhere."""
    global _log
    _log = log


def _hook_workers() -> None:
    from torch.utils.data._utils import worker

    base = _make_base()
    worker._worker_loop = WorkerLoop(worker._worker_loop, str(base))
    _watch(base)
    os.register_at_fork(after_in_child=lambda: _watch(base))


def _watch(base: Path) -> None:
    _C._watch_data_workers(str(base / str(os.getpid())))


def _make_base() -> Path:
    """The folder for the files of workers. It goes with this process; those of processes that were killed go now."""
    folder = Path(tempfile.gettempdir())
    for old in folder.glob(f"{_PREFIX}*"):
        owner = old.name.removeprefix(_PREFIX).partition("-")[0]
        if owner.isdecimal() and not Path("/proc", owner).exists():
            shutil.rmtree(old, ignore_errors=True)
    _made[os.getpid()] = base = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
    return base


# Registered before a recording can be, and so called after the recordings that end with the program have read the files.
@atexit.register
def _remove_base() -> None:
    if (base := _made.get(os.getpid())) is not None:
        shutil.rmtree(base, ignore_errors=True)


def _hook_waiting() -> None:
    from torch.utils.data.dataloader import _MultiProcessingDataLoaderIter

    _MultiProcessingDataLoaderIter._get_data = functools.wraps(_MultiProcessingDataLoaderIter._get_data)(
        _in_scope(_MultiProcessingDataLoaderIter._get_data, _scope("DataLoader.wait"))
    )


def _hook_pinning() -> None:
    from torch.utils.data._utils import pin_memory as module

    original, scope = module.pin_memory, _scope("pin_memory")

    @functools.wraps(original)
    def pin_memory(data, *args, **kwargs):
        if getattr(_pinning, "is_inside", False):  # it calls itself for the parts of a batch
            return original(data, *args, **kwargs)
        _pinning.is_inside = True
        try:
            with scope():
                return original(data, *args, **kwargs)
        finally:
            _pinning.is_inside = False

    module.pin_memory = pin_memory
