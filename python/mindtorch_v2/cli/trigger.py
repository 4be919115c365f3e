"""mtprof trigger: asks monitors of running processes to write what just happened."""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mindtorch_v2.monitor.settings import seconds_argument
from mindtorch_v2.monitor.socket import NoMonitor, ask, monitored_processes

_MOST_AT_ONCE = 32


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("mtprof trigger", description="Asks the monitor of a running process to write what just happened.")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("pid", nargs="?", type=int, metavar="PID", help="the process")
    which.add_argument("--job", action="store_true", help="all processes of this user on this machine that have a monitor")
    parser.add_argument("--after", type=int, default=0, metavar="N", help="record N more steps before it is written")
    parser.add_argument("-o", "--output", help="the file to write; with --job a folder")
    parser.add_argument("--timeout", type=seconds_argument, default=60.0, metavar="SECONDS", help="how long to wait; default 60")
    arguments = parser.parse_args(argv)
    if arguments.after < 0:
        parser.error("--after must not be negative")
    return arguments


def _output(arguments: argparse.Namespace, pid: int) -> str | None:
    if arguments.output is None:
        return None
    path = Path(arguments.output).absolute()
    if arguments.job:
        path.mkdir(parents=True, exist_ok=True)
        path = path / f"process{pid}.mtrec"
    return os.fspath(path)


def _trigger(arguments: argparse.Namespace, pid: int) -> tuple[bool, str] | None:
    """Whether there is a file, and what to say; None if the process of a job has ended meanwhile."""
    request = {"command": "trigger", "steps": arguments.after, "output": _output(arguments, pid)}
    try:
        reply = ask(pid, request, timeout=arguments.timeout)
    except TimeoutError:
        return False, f"mtprof: process {pid}: no file within {arguments.timeout:g} s; if the process still runs, it writes it later"
    except NoMonitor as error:
        return None if arguments.job else (False, f"mtprof: {error}")
    except ConnectionError as error:
        return False, f"mtprof: {error}"
    except (OSError, RuntimeError) as error:
        return False, f"mtprof: process {pid}: {error}"
    return True, reply["file"] or f"process {pid}: its own handler has it"


def main(argv: list[str] | None = None) -> int:
    arguments = _arguments(argv)
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.reconfigure(errors="surrogateescape")  # names of files may be no text
    pids = monitored_processes() if arguments.job else [arguments.pid]
    with ThreadPoolExecutor(max_workers=min(len(pids), _MOST_AT_ONCE) or 1) as pool:
        results = [result for result in pool.map(lambda pid: _trigger(arguments, pid), pids) if result is not None]
    if not results:
        print("mtprof: no process of this user has a monitor", file=sys.stderr)
        return 1
    for is_written, text in results:
        print(text, file=sys.stdout if is_written else sys.stderr)
    return 0 if all(is_written for is_written, _ in results) else 1
