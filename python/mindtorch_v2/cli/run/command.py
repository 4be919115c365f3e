"""mtprof run: profiles a program without any change of its code.

The program runs as it would alone, in an interpreter of its own. It records itself because a folder on PYTHONPATH holds a sitecustomize
(site), which every Python process that the program starts imports too.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import secrets
import shlex
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from mindtorch_v2.cli.run import take_over
from mindtorch_v2.cli.run.collect import Collected, collect, living, silent_processes
from mindtorch_v2.cli.run.folder import MANIFEST, RunFolder, leftovers, make_folder
from mindtorch_v2.cli.run.pages import make_page, show_page
from mindtorch_v2.cli.run.program import Collecting, Program, begin_collecting, leave_as
from mindtorch_v2.cli.run.recorder import ENVIRONMENT, Settings
from mindtorch_v2.cli.run.summary import summary
from mindtorch_v2.monitor.settings import parse_size
from mindtorch_v2.profiler._options import SAMPLING_INTERVAL_MS

_PACKAGE = Path(__file__).resolve().parents[2]
_SITE = Path(__file__).resolve().parent / "site"
_SUFFIXES = (".mtrec", ".json", ".json.gz")
_LEAST_MEMORY = 1 << 20
_ENDING_S = 0.5  # how long processes of the program that are about to end may take
_BEGINNING_S = 2.0  # and those that are about to begin
_LONGEST_TAIL = ".process4194304.10"  # what a recording's name may get besides


def say(text: str) -> None:
    """Standard output belongs to the program. A standard error that is not read does not change the exit status."""
    with contextlib.suppress(OSError, ValueError):
        if sys.stderr is not None:
            print("\n".join(f"mtprof: {line}" for line in text.splitlines()), file=sys.stderr, flush=True)


def _size(text: str) -> int:
    try:
        size = parse_size(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 512MB") from None
    if size < _LEAST_MEMORY:
        raise argparse.ArgumentTypeError(f"{text!r} is less than 1MB, the least that a recording needs")
    return size


def _range(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+):(\d+)", text)
    if not match or int(match[1]) >= int(match[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is not a range of steps such as 10:15")
    return int(match[1]), int(match[2])


def _number(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of steps")
    return int(text)


def _milliseconds(text: str) -> float:
    if not re.fullmatch(r"\d*\.?\d+", text) or not 0.1 <= float(text) <= 60_000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of milliseconds between 0.1 and 60000")
    return float(text)


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
    parser.add_argument("--no-sample", action="store_true", help="do not look at what the threads of Python do between ops")
    parser.add_argument(
        "--sample-interval",
        type=_milliseconds,
        default=SAMPLING_INTERVAL_MS,
        metavar="MS",
        help=f"milliseconds between two looks at the threads of Python; default: {SAMPLING_INTERVAL_MS:g}",
    )
    parser.add_argument("--keep-last", type=_number, metavar="N", help="keep only the last N steps")
    parser.add_argument("--max-memory", type=_size, metavar="SIZE", help="most memory for events that are not yet in the file, such as 1GB")
    parser.add_argument(
        "--take-over", action="store_true", help="record nothing; the program's own use of torch.profiler gets this profiler, and its files"
    )
    parser.add_argument("--report", action="store_true", help="make the page about the recording when the program has ended, and open it")
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
    if program[0] == "-":  # Python reads it from standard input
        return [sys.executable, *program], "stdin"
    path = Path(program[0])
    if path.is_dir() and not (path / "__main__.py").is_file():
        parser.error(f"the folder {program[0]!r} has no __main__.py, so that Python cannot run it")
    if not path.exists():
        parser.error(
            f"there is no file {program[0]!r}; commands that are not Python files follow --, as in: mtprof run -- {shlex.join(program)}"
        )
    return [sys.executable, *program], path.absolute().stem


def _suffix_of(path: str) -> str:
    return next((suffix for suffix in sorted(_SUFFIXES, key=len, reverse=True) if path.endswith(suffix)), "")


def _folder_for(parser: argparse.ArgumentParser, output: str | None, name: str, command: list[str]) -> RunFolder:
    """The folder of this run. What can be known about a target that cannot be written is told now, and not when the program is over."""
    suffix = _suffix_of(output or ".mtrec")
    if not suffix:
        parser.error(f"{output!r} must end in {', '.join(_SUFFIXES)}; mtprof export makes other formats from a recording")
    path = Path(output or f"{name}{suffix}")
    target = path.absolute().parent
    if not target.is_dir():
        parser.error(
            f"there is no folder {str(path.parent)!r} to write {path.name!r} into; make it first: mkdir -p {shlex.quote(str(path.parent))}"
        )
    if path.is_dir() and output:
        parser.error(f"{output!r} is a folder; -o names the file to write, such as {str(path / 'train.mtrec')!r}")
    try:
        longest = os.pathconf(target, "PC_NAME_MAX") - len(os.fsencode(_LONGEST_TAIL))
        if len(os.fsencode(path.name)) > longest:
            parser.error(f"the name {path.name!r} is too long: {longest} bytes are possible in {str(target)!r}")
        number, folder = 1, make_folder(target, path.name, suffix, command, may_replace=output is not None)
        while folder is None:
            number += 1
            folder = make_folder(target, f"{name}.{number}{suffix}", suffix, command, may_replace=False)
    except OSError as error:
        hint = "" if output else "; -o names another place"
        parser.error(f"{str(path)!r} cannot be written: {error.strerror}{hint}")
    folder.target = path.parent  # as the user has written it
    return folder


def _settings(options: argparse.Namespace, folder: RunFolder, spare_folder: Path) -> Settings:
    chosen = {}
    if options.steps:
        first, end = options.steps
        chosen = {"first_step": first, "warmup": min(1, first), "active": end - first}
    elif options.active:
        wait, warmup = options.wait or 0, options.warmup or 0
        chosen = {"first_step": wait + warmup, "warmup": warmup, "active": options.active}
    return Settings(
        folder=str(folder.path),
        spare_folder=str(spare_folder),
        suffix=folder.manifest.suffix,
        launcher=asdict(folder.manifest.launcher),
        slice_s=options.slice,
        shapes=options.shapes or options.all,
        memory=options.memory or options.all,
        stack=options.stack or options.all,
        modules=options.modules or options.all,
        sampling_interval_ms=0.0 if options.no_sample else options.sample_interval,
        keep_last=options.keep_last,
        max_memory=options.max_memory,
        **chosen,
    )


def _environment(settings: Settings) -> dict[str, str]:
    folders = [str(_SITE), *filter(None, [os.environ.get("PYTHONPATH")])]
    if not any(folder in ("site-packages", "dist-packages") for folder in _PACKAGE.parent.parts):
        folders.append(str(_PACKAGE.parent))  # a checkout, which the program may not have on its own path
    return {**os.environ, "PYTHONPATH": os.pathsep.join(folders), ENVIRONMENT: settings.to_environment()}


def main(argv: list[str]) -> int:
    parser = _parser()
    ours, program = _split(parser, argv)
    options = parser.parse_args(ours)
    if (options.wait or options.warmup) and not options.active and not options.steps:
        parser.error("--wait and --warmup need --active")
    if options.active == 0:
        parser.error("--active must be at least 1")
    command, name = _command(parser, program)
    if options.take_over:
        return leave_as(take_over.run(command))
    folder = _folder_for(parser, options.output, name, command)
    return leave_as(_Run(options, folder).run())


class _Run:
    """One program and its recordings."""

    def __init__(self, options: argparse.Namespace, folder: RunFolder):
        self.options, self.folder = options, folder
        # Where processes and this one meet if the program removes the folder. It is made only then.
        self.spare_folder = Path(tempfile.gettempdir(), f"mtprof-{secrets.token_hex(8)}", "parts")
        self.said: set[str] = set()

    def run(self) -> int:
        """The exit status of the program, whatever happens to its recordings."""
        command = self.folder.manifest.command
        if not self.options.quiet:
            self._tell_of_leftovers()
            say(f"recording {' '.join(command)} into {self.folder.target / self.folder.manifest.output}")
        try:
            program = Program.start(command, _environment(_settings(self.options, self.folder, self.spare_folder)))
        except OSError as error:
            self.folder.remove()
            say(f"{command[0]} cannot be started: {error.strerror}")
            return 127 if isinstance(error, FileNotFoundError) else 126
        with contextlib.suppress(OSError):
            self.folder.manifest.program = program.pid
            self.folder.save()
        status = program.wait(self._pass_on_remarks)
        begin_collecting()
        try:
            self._finish()
        except Collecting:
            say(f"not everything is collected: `mtprof collect {self.folder.path}` does the rest")
        except Exception as error:
            say(f"the recordings cannot be collected: {error}; try `mtprof collect {self.folder.path}`")
        return status

    def _tell_of_leftovers(self) -> None:
        others = [each for each in leftovers(self.folder.target) if any(note.process.is_alive() is False for note in each.notes())]
        if others:
            say(f"earlier runs have left recordings that were not collected: `mtprof collect {self.folder.target}` writes them")

    def _pass_on_remarks(self) -> None:
        for pid, text in self.folder.take_remarks():
            if text not in self.said:  # many processes may have the same to say
                self.said.add(text)
                say(f"process {pid}: {text}")

    def _finish(self) -> None:
        self._find_folder()
        self._pass_on_remarks()
        if self.folder.path.is_dir():
            self._wait_for_the_last()
            collected = collect(self.folder)
            with contextlib.suppress(OSError):  # unless it was never made, or holds the recordings now
                self.spare_folder.parent.rmdir()
        else:
            collected = Collected(remarks=[f"{self.folder.path} was removed while the program ran: nothing of what was recorded is left"])
        for remark in collected.remarks:
            say(remark)
        if collected.files:
            if not self.options.quiet:
                say(summary(collected.files))
            if self.options.report:
                self._make_page(collected.files)
        elif not collected.remarks:
            say(f"nothing was recorded: {self._why_nothing()}")

    def _make_page(self, files: list[Path]) -> None:
        page, problem = make_page(files)
        if page is None:
            say(f"there is no page: {problem}")
            return
        if not self.options.quiet:
            say(f"page      {page}")
        show_page(page)

    def _find_folder(self) -> None:
        """The program may have removed the folder of the run, and that of the output."""
        if not self.folder.path.is_dir() and self.spare_folder.is_dir():
            self.folder.path = self.spare_folder
        if self.folder.path.is_dir() and not (self.folder.path / MANIFEST).exists():
            self.folder.save()
        if not self.folder.target.is_dir():
            gone, self.folder.target = self.folder.target, self.spare_folder.parent
            say(f"{gone} was removed while the program ran: what was recorded is kept in {self.folder.target}")

    def _wait_for_the_last(self) -> None:
        """Processes that end with the program need a moment, and so do daemons that were forked just now to say that they record."""
        began = time.monotonic()
        while (passed := time.monotonic() - began) < _BEGINNING_S:
            notes = self.folder.notes()
            ends = passed < _ENDING_S and living(self.folder, notes)
            if not ends and not silent_processes(self.spare_folder.parent.name, notes):
                return
            time.sleep(0.02)

    def _why_nothing(self) -> str:
        command = self.folder.manifest.command
        for word in command[1:]:
            if not word.startswith("-"):
                break
            if re.fullmatch(r"-[A-Za-z]*[IE][A-Za-z]*", word):
                return f"{command[0]} {word} ignores the environment, through which a program is recorded"
        return "no process of the program imported torch or mindtorch_v2 (python -I and python -E are not seen)"
