"""mtprof trigger: asks monitors of running processes to write what just happened."""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mindtorch_v2.profiler._monitor_socket import ask, monitored_processes


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("mtprof trigger", description="Asks the monitor of a running process to write what just happened.")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("pid", nargs="?", type=int, metavar="PID", help="the process")
    which.add_argument("--job", action="store_true", help="all processes of this user on this machine that have a monitor")
    parser.add_argument("--steps", type=int, default=0, metavar="N", help="record N more steps before it is written")
    parser.add_argument("-o", "--output", help="the file to write; with --job a folder")
    parser.add_argument("--timeout", type=float, default=60, metavar="SECONDS", help="how long to wait for the file; default 60")
    arguments = parser.parse_args(argv)
    if arguments.steps < 0:
        parser.error("--steps must not be negative")
    return arguments


def _output(arguments: argparse.Namespace, pid: int) -> str | None:
    if arguments.output is None:
        return None
    path = Path(arguments.output).absolute()
    if arguments.job:
        path.mkdir(parents=True, exist_ok=True)
        path = path / f"process{pid}.mtrec"
    return os.fspath(path)


def _trigger(arguments: argparse.Namespace, pid: int) -> tuple[bool, str]:
    request = {"command": "trigger", "steps": arguments.steps, "output": _output(arguments, pid), "timeout": arguments.timeout}
    try:
        reply = ask(pid, request, timeout=arguments.timeout + 5)
    except (OSError, RuntimeError) as error:
        return False, f"mtprof: process {pid}: {error}"
    if reply.get("pending"):
        return False, f"mtprof: process {pid}: not written within {arguments.timeout:g} s; it will be written later"
    return True, reply["file"] or f"process {pid}: its own handler has it"


def main(argv: list[str] | None = None) -> int:
    arguments = _arguments(argv)
    pids = monitored_processes() if arguments.job else [arguments.pid]
    if not pids:
        print("mtprof: no process of this user has a monitor", file=sys.stderr)
        return 1
    with ThreadPoolExecutor(max_workers=len(pids)) as pool:
        results = list(pool.map(lambda pid: _trigger(arguments, pid), pids))
    for is_written, text in results:
        print(text, file=sys.stdout if is_written else sys.stderr)
    return 0 if all(is_written for is_written, _ in results) else 1
