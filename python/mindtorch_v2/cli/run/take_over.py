"""mtprof run --take-over: the program's own use of torch.profiler gets this profiler. Nothing else is recorded."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from mindtorch_v2.cli.run.program import Program
from mindtorch_v2.compat.take_over import ENVIRONMENT

_SITE = Path(__file__).resolve().parent / "site"
_PACKAGE = Path(__file__).resolve().parents[2]


def environment() -> dict[str, str]:
    """Processes that have it take torch.profiler over: the program, and all that it starts."""
    folders = [str(_SITE), *filter(None, [os.environ.get("PYTHONPATH")])]
    if not any(folder in ("site-packages", "dist-packages") for folder in _PACKAGE.parent.parts):
        folders.append(str(_PACKAGE.parent))  # a checkout, which the program may not have on its own path
    return {**os.environ, "PYTHONPATH": os.pathsep.join(folders), ENVIRONMENT: os.environ.get(ENVIRONMENT, "1")}


def run(command: list[str]) -> int:
    """Returns the exit status, negative for a signal."""
    try:
        program = Program.start(command, environment())
    except OSError as error:
        print(f"mtprof: {command[0]} cannot be started: {error.strerror}", file=sys.stderr)
        return 127 if isinstance(error, FileNotFoundError) else 126
    return program.wait(lambda: None)
