"""mtprof run: profiles a program without any change of its code.

The program runs as it would alone, in an interpreter of its own. It records itself because a folder on PYTHONPATH holds a sitecustomize
(_run_site), which every Python process that the program starts imports too.
"""

from __future__ import annotations

import argparse
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from mindtorch_v2._mtprof import find_program
from mindtorch_v2.profiler._run_recorder import ENVIRONMENT, Settings
from mindtorch_v2.profiler._run_summary import summary

_PACKAGE = Path(__file__).resolve().parent.parent
_SITE = Path(__file__).resolve().parent / "_run_site"
_SUFFIXES = (".mtrec", ".json", ".json.gz")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def say(text: str) -> None:
    """Standard output belongs to the program."""
    print(f"mtprof: {text}", file=sys.stderr, flush=True)


def _size(text: str) -> int:
    match = re.fullmatch(r"(\d+)\s*([KMGT]?)i?B?", text.strip(), re.IGNORECASE)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 512MB")
    return int(match[1]) * _UNITS[match[2].upper()]


def _range(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+):(\d+)", text)
    if not match or int(match[1]) >= int(match[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is not a range of steps such as 10:15")
    return int(match[1]), int(match[2])


def _number(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of steps")
    return int(text)


def _seconds(text: str) -> float:
    if not re.fullmatch(r"\d*\.?\d+", text) or float(text) <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds such as 0.5")
    return float(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mtprof run",
        usage="mtprof run [options] (SCRIPT | -m MODULE | -- COMMAND) [arguments...]",
        description="Profiles a PyTorch or mindtorch_v2 program without any change of its code. Steps end with the steps of its optimizer; "
        "in a program without one they are slices of time.",
        epilog="The program's output and exit status are its own; what mtprof says goes to standard error.",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="the recording: .mtrec, .json or .json.gz; default: the program's name")
    parser.add_argument("--steps", type=_range, metavar="A:B", help="record only the steps A to B-1; the first step of a program is 0")
    parser.add_argument(
        "--slice", type=_seconds, default=1.0, metavar="S", help="seconds of a step, if the program has no optimizer; default: 1"
    )
    parser.add_argument("--wait", type=_number, metavar="N", help="record nothing in the first N steps")
    parser.add_argument("--warmup", type=_number, metavar="N", help="then let the recorder run for N steps without keeping them")
    parser.add_argument("--active", type=_number, metavar="N", help="then record N steps")
    parser.add_argument("--shapes", action="store_true", help="record the shapes of the arguments of ops")
    parser.add_argument("--memory", action="store_true", help="record allocations and frees")
    parser.add_argument("--stack", action="store_true", help="record the Python stack of ops")
    parser.add_argument("--modules", action="store_true", help="record calls of modules")
    parser.add_argument("--all", action="store_true", help="all of these four")
    parser.add_argument("--keep-last", type=_number, metavar="N", help="keep only the last N steps")
    parser.add_argument("--max-memory", type=_size, metavar="SIZE", help="most memory for events that are not yet in the file, such as 1GB")
    parser.add_argument("--quiet", action="store_true", help="say nothing but errors")
    return parser


def _split(parser: argparse.ArgumentParser, argv: list[str]) -> tuple[list[str], list[str]]:
    """Our options, and the program with its own. The first word that is neither an option of ours nor its value begins the program."""
    at = 0
    while at < len(argv) and argv[at].startswith("-") and argv[at] not in ("--", "-m", "-"):
        action = parser._option_string_actions.get(argv[at])
        at += 2 if action is not None and action.nargs is None else 1
    return argv[:at], argv[at:]


def _command(parser: argparse.ArgumentParser, program: list[str]) -> tuple[list[str], str]:
    """What to start, and the name of the recording."""
    if program[:1] == ["--"]:
        if len(program) == 1:
            parser.error("there is no command after --")
        return program[1:], Path(program[1]).stem
    if program[:1] == ["-m"]:
        if len(program) == 1:
            parser.error("there is no module after -m")
        return [sys.executable, *program], program[1].rpartition(".")[2]
    if not program:
        parser.error("there is no program to run")
    if not Path(program[0]).is_file():
        parser.error(f"there is no file {program[0]!r}; other commands follow --, as in: mtprof run -- {' '.join(program)}")
    return [sys.executable, *program], Path(program[0]).stem


def _suffix_of(path: str) -> str:
    return next((suffix for suffix in sorted(_SUFFIXES, key=len, reverse=True) if path.endswith(suffix)), "")


def _unused_name(name: str) -> str:
    number, path = 1, f"{name}.mtrec"
    while Path(path).exists() or list(Path().glob(f"{glob.escape(path[: -len('.mtrec')])}.rank*.mtrec")):
        number += 1
        path = f"{name}.{number}.mtrec"
    return path


def _settings(options: argparse.Namespace, folder: Path, suffix: str) -> Settings:
    chosen = {}
    if options.steps:
        first, end = options.steps
        chosen = {"first_step": first, "warmup": min(1, first), "active": end - first}
    elif options.active:
        wait, warmup = options.wait or 0, options.warmup or 0
        chosen = {"first_step": wait + warmup, "warmup": warmup, "active": options.active}
    return Settings(
        folder=str(folder),
        suffix=suffix,
        launcher=os.getpid(),
        slice_s=options.slice,
        shapes=options.shapes or options.all,
        memory=options.memory or options.all,
        stack=options.stack or options.all,
        modules=options.modules or options.all,
        keep_last=options.keep_last,
        max_memory=options.max_memory,
        **chosen,
    )


def _environment(settings: Settings) -> dict[str, str]:
    folders = [str(_SITE), *filter(None, [os.environ.get("PYTHONPATH")])]
    if not any(folder in ("site-packages", "dist-packages") for folder in _PACKAGE.parent.parts):
        folders.append(str(_PACKAGE.parent))  # a checkout, which the program may not have on its own path
    return {**os.environ, "PYTHONPATH": os.pathsep.join(folders), ENVIRONMENT: settings.to_environment()}


def _wait_for(process: subprocess.Popen) -> int:
    """Ctrl-C reaches the program by itself; a request to end is handed on. Returns the exit status, negative for a signal."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, frame: process.send_signal(received))
    return process.wait()


def _recovered(partial: Path, target: Path) -> bool:
    """Reads what a process that was killed has left."""
    program = find_program()
    if program is None:
        shutil.move(partial, target)
        return True
    done = subprocess.run([program, "export", partial, "-o", target], capture_output=True, text=True)
    return done.returncode == 0 or target.exists()


def _collect(folder: Path, output: str, suffix: str) -> tuple[list[Path], list[str]]:
    """Names the recordings of the processes. Returns the files, and what has to be said about them."""
    remarks, found = [], []
    for note_path in sorted(folder.glob("*.json.note")):
        pid = note_path.name.partition(".")[0]
        note = json.loads(note_path.read_text())
        path, partial = folder / f"{pid}{suffix}", folder / f"{pid}.partial.mtrec"
        if not path.exists() and partial.exists() and _recovered(partial, path):
            remarks.append(f"process {pid} did not end by itself: its recording goes up to the last events that it wrote")
            note["was_killed"] = True
        if path.exists():
            found.append((note, pid, path))
        elif note["waits_for_step"] is not None:
            hint = "" if note["steps"] else "; without an optimizer, a step is a slice of time (--slice)"
            remarks.append(f"process {pid} made {note['steps']} steps, fewer than it takes to record step {note['waits_for_step']}{hint}")
    if any(note["steps"] or note.get("was_killed") for note, _, _ in found):  # launchers and workers have no steps
        found = [item for item in found if item[0]["steps"] or item[0].get("was_killed")]
    stem = output[: -len(suffix)]
    several, files = len(found) > 1, []
    for note, pid, path in sorted(found, key=lambda item: (item[0]["rank"] is None, item[0]["rank"] or 0, item[1])):
        name = f"rank{note['rank']}" if note["rank"] is not None else f"process{pid}"
        files.append(Path(f"{stem}.{name}{suffix}" if several and not note["is_first"] else output))
        os.replace(path, files[-1])
    return files, remarks


def _leave_as(status: int) -> int:
    """Ends as the program did; a signal ends this process too."""
    if status >= 0:
        return status
    if -status not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
    return 128 - status


def main(argv: list[str]) -> int:
    parser = _parser()
    ours, program = _split(parser, argv)
    options = parser.parse_args(ours)
    if (options.wait or options.warmup) and not options.active and not options.steps:
        parser.error("--wait and --warmup need --active")
    if options.active == 0:
        parser.error("--active must be at least 1")
    command, name = _command(parser, program)
    output = options.output or _unused_name(name)
    suffix = _suffix_of(output)
    if not suffix:
        parser.error(f"{output!r} must end in {', '.join(_SUFFIXES)}; mtprof export makes other formats from a recording")
    if not Path(output).absolute().parent.is_dir():
        parser.error(f"there is no folder {str(Path(output).parent)!r}")
    folder = Path(f"{output}.parts").absolute()
    folder.mkdir(exist_ok=True)
    try:
        status = _run(options, command, output, folder, suffix)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return _leave_as(status)


def _run(options: argparse.Namespace, command: list[str], output: str, folder: Path, suffix: str) -> int:
    if not options.quiet:
        say(f"recording {' '.join(command)} into {output}")
    try:
        process = subprocess.Popen(command, env=_environment(_settings(options, folder, suffix)))
    except OSError as error:
        say(f"{command[0]} cannot be started: {error.strerror}")
        return 127 if isinstance(error, FileNotFoundError) else 126
    status = _wait_for(process)
    files, remarks = _collect(folder, output, suffix)
    for remark in remarks:
        say(remark)
    if not files:
        say("nothing was recorded: no Python process of the program imported torch or mindtorch_v2, or none came as far as asked")
    elif not options.quiet:
        print(summary(files), file=sys.stderr, flush=True)
    return status
