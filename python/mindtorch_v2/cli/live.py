"""mtprof live: a view of a running monitor in the terminal."""

from __future__ import annotations

import argparse
import os
import sys
import time

from mindtorch_v2.cli.percent import percent_text
from mindtorch_v2.cli.run.summary import time_text
from mindtorch_v2.monitor.settings import seconds_argument
from mindtorch_v2.monitor.socket import ask


def _number(value: float | None, text) -> str:
    return "-" if value is None else text(value)


def screen(status: dict) -> str:
    """The lines of one view."""
    metrics = status["metrics"]

    def seconds(name: str) -> str:
        return _number(metrics[name], lambda value: time_text(value * 1e9))

    def share(name: str) -> str:
        return _number(metrics[name], lambda value: percent_text(100 * value))

    lines = [
        f"process {status['pid']}",
        f"steps     {metrics['steps']}, last {seconds('step_seconds')}, median {seconds('step_seconds_median')}",
        f"events    {_number(metrics['ops_per_second'], lambda value: f'{value:.3g} per second')}, {metrics['lost_events']} lost",
        f"memory    {_number(metrics['resident_bytes'], lambda value: f'{value / 2**20:.0f} MiB')}",
        f"cost      {share('monitor_cost_share')} of at most {share('monitor_cost_limit')}",
        f"recorded  {share('recorded_steps_share')} of the steps",
        f"files     {metrics['files_written']}" + (f", last {status['files'][-1]}" if status["files"] else ""),
    ]
    for op in status["work"]["top_ops"]:
        lines.append(f"  {time_text(op['seconds'] * 1e9):>9} in {op['calls']:.4g} calls per step  {op['name'][:80]}")
    return "\n".join(_printable(line) for line in lines)


def _printable(line: str) -> str:
    """Names come from the program: they must not control the terminal."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in line)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("mtprof live", description="Shows what a process with a monitor does.")
    parser.add_argument("pid", type=int, metavar="PID")
    parser.add_argument("--every", type=seconds_argument, default=1.0, metavar="SECONDS", help="between two views; default 1")
    parser.add_argument("--refresh", action="store_true", help="look at new steps for each view; what was kept before is dropped")
    parser.add_argument("--once", action="store_true", help="one view, then end")
    arguments = parser.parse_args(argv)
    if sys.stdout is None:
        parser.error("there is no standard output to show it on")
    sys.stdout.reconfigure(errors="replace")
    try:
        while True:
            text = screen(ask(arguments.pid, {"command": "refresh" if arguments.refresh else "status"}))
            is_terminal = sys.stdout.isatty() and not arguments.once
            print(("\x1b[H\x1b[2J" if is_terminal else "") + text, flush=True)
            if arguments.once:
                return 0
            time.sleep(arguments.every)
    except KeyboardInterrupt:
        return 0
    except BrokenPipeError:  # the reader has closed its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what Python writes at its end
        return 1
    except (OSError, RuntimeError) as error:
        print(f"mtprof: {error}", file=sys.stderr)
        return 1
