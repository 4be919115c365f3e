"""Writes _C.pyi and _runtime.pyi, the types of the compiled modules, with nanobind's generator.

    PYTHONPATH=build/dev/python python tools/compiled_stubs.py [FOLDER]        (./dev stubs)

Classes that a public module shows as its own are imports here, as tools/stubs.py describes those; what the generator cannot know about
types written with Python's own C interface stands below.
"""

import importlib
import inspect
import re
import sys
from pathlib import Path

import nanobind
from nanobind.stubgen import ReplacePattern, StubGen

ROOT = Path(__file__).resolve().parent.parent
# Module -> the folder of its file.
MODULES = {"_C": ROOT / "python" / "mindtorch_v2", "_runtime": ROOT / "runtime" / "python" / "mindtorch_v2"}
# Classes and functions whose types the generator cannot infer -> their text.
KNOWN = {
    "record_function": """class record_function:
    \\doc
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
    def __setstate__(self, state: dict, /) -> None: ...""",
    "_RecordFunctionFast": """class _RecordFunctionFast:
    \\doc
    def __init__(self, name: str, input_values: Sequence[Any] | None = None, keyword_values: dict[str, Any] | None = None) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(self, exc_type: object, exc_value: object, traceback: object, /) -> None: ...""",
    "is_profiler_enabled": """def is_profiler_enabled() -> bool:
    \\doc""",
    "dispatch_op_enter": """def dispatch_op_enter(
    name: str, device: Any = None, args: Sequence[Any] | None = (), kwargs: dict[str, Any] | None = None
) -> DispatchToken | None:
    \\doc""",
    "dispatch_op_exit": """def dispatch_op_exit(token: DispatchToken | None, /) -> None:
    \\doc""",
    "DispatchToken": """class DispatchToken:
    \\doc""",
    "_ModuleScope": """class _ModuleScope:
    \\doc
    def __enter__(self) -> None: ...
    def __exit__(self, exc_type: object, exc_value: object, traceback: object, /) -> None: ...""",
    "_module_scope": """def _module_scope(name: str, path: str, /) -> _ModuleScope:
    \\doc""",
    "ArgumentAssertionError": """class ArgumentAssertionError(ValueError, AssertionError):
    \\doc""",
}
PREFIX = r"""\from typing import Any, TypeVar
\from typing_extensions import Self
\from collections.abc import Callable, Sequence
Function = TypeVar("Function", bound=Callable[..., Any])
"""


def patterns_for(module):
    texts = {"__prefix__": PREFIX} | KNOWN
    texts |= {name: f"{name}: Any" for name, value in vars(module).items() if inspect.ismodule(value)}
    prefix = re.escape(module.__name__)
    return [ReplacePattern(re.compile(rf"^{prefix}\.{name}$"), [*text.splitlines(), ""], 0) for name, text in texts.items()]


def stub_text(name):
    module = importlib.import_module(f"mindtorch_v2.{name}")
    generator = StubGen(module=module, include_private=True, patterns=patterns_for(module), quiet=True)
    generator.put(module)
    return f"# Made by tools/compiled_stubs.py with nanobind {nanobind.__version__}: ./dev stubs makes it again.\n{generator.get()}"


def main():
    for name, folder in MODULES.items():
        target = Path(sys.argv[1]) if len(sys.argv) > 1 else folder
        (target / f"{name}.pyi").write_text(stub_text(name))


if __name__ == "__main__":
    main()
