"""What a case has at hand: its parameters, a folder of its own, and programs that it runs, waits for and kills."""

import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
SANITIZER_OPTIONS = {
    "asan": {
        "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1:abort_on_error=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    },
    "tsan": {"TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1:die_after_fork=0"},
}


class Failure(Exception):
    """Something that must never happen has happened."""


class Skipped(Exception):
    """This machine cannot run the case: a privilege or a file system is missing."""


def require(condition, message):
    if not condition:
        raise Failure(message)


@dataclass(frozen=True)
class Setup:
    """The build and the hosts that cases run with."""

    root: Path
    preset: str
    host: str

    @property
    def build(self):
        return Path(os.environ.get("MINDTORCH_BUILD_DIR", self.root / "build" / self.preset))

    @property
    def sanitizer(self):
        return self.preset if self.preset in SANITIZER_OPTIONS else None

    @property
    def hosts(self):
        return ["embedded", "torch"] if self.host == "both" else [self.host]

    @property
    def limit(self):
        """Seconds after which a program hangs: far more than it needs on a busy machine."""
        return 900 if self.sanitizer else 300

    def environment(self):
        build = str(self.build)
        extra = {
            "MINDTORCH_BUILD_DIR": build,
            "MINDTORCH_LIBRARY_PATH": f"torch_bridge={build}/torch_bridge",
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",  # where the native mtprof finds this interpreter
            "PYTHONPATH": f"{build}/python",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        return os.environ | extra | SANITIZER_OPTIONS.get(self.preset, {})


@dataclass(frozen=True)
class Ended:
    """A program that is over. `answer` is the JSON of the last line that it printed, if that was JSON."""

    status: int
    output: str
    errors: str

    @property
    def answer(self):
        lines = self.output.splitlines()
        try:
            return json.loads(lines[-1])
        except (IndexError, ValueError):
            raise Failure(f"the program gave no answer\n{self}") from None

    def __str__(self):
        return f"exit status {self.status}\n--- stdout\n{self.output[-3000:]}\n--- stderr\n{self.errors[-6000:]}"


class Case:
    def __init__(self, setup, name, number, host, rng):
        self.setup, self.name, self.number, self.host, self.random = setup, name, number, host, rng
        self.parameters, self.folder, self.started, self.mounted = {}, None, [], []

    # --- Programs ---

    def python(self, program, *, prefix=(), env=None, **parameters):
        """Starts a program of programs.py with these parameters."""
        self.parameters[program] = parameters = {"host": self.host} | parameters
        command = [sys.executable, "-X", "faulthandler", str(HERE / "programs.py"), program]
        with tempfile.TemporaryFile("w+") as written:  # names can be longer than an argument may be
            json.dump(parameters, written)
            written.seek(0)
            return self.start([*prefix, *command], stdin=written, env=env or {})

    def start(self, command, **options):
        program = subprocess.Popen(
            [str(word) for word in command],
            cwd=options.pop("cwd", self.folder),
            env={key: value for key, value in (self.setup.environment() | options.pop("env", {})).items() if value is not None},
            stdin=options.pop("stdin", subprocess.DEVNULL),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,  # so that what it forked can be ended with it
            **options,
        )
        self.started.append(program)
        return program

    def finish(self, program, expected=(0,)):
        """Waits for the end of a program; fails if it hangs or ends in another way than expected. None: any exit but a crash."""
        try:
            output, errors = program.communicate(timeout=self.setup.limit)
        except subprocess.TimeoutExpired:
            self.end_group(program, signal.SIGABRT)  # faulthandler prints where it hangs
            output, errors = program.communicate()
            raise Failure(f"the program hung\n{Ended(program.returncode, output, errors)}") from None
        ended = Ended(program.returncode, output, errors)
        as_expected = ended.status >= 0 if expected is None else ended.status in expected
        require(as_expected, f"expected exit status {expected}, got {ended}")
        require("Sanitizer" not in errors, f"a sanitizer complained\n{ended}")
        return ended

    def run(self, command, expected=(0,), **options):
        return self.finish(self.start(command, **options), expected)

    def run_python(self, program, *, prefix=(), env=None, **parameters):
        return self.finish(self.python(program, prefix=prefix, env=env, **parameters)).answer

    def kill_when(self, program, condition):
        """Sends SIGKILL as soon as `condition` holds; False if the program was over before."""
        deadline = time.monotonic() + self.setup.limit
        while program.poll() is None:
            if condition():
                self.end_group(program, signal.SIGKILL)
                program.communicate()
                return program.returncode == -signal.SIGKILL
            require(time.monotonic() < deadline, "the program did not get as far as to be killed")
            time.sleep(0.001)
        ended = Ended(program.returncode, *program.communicate())
        require(ended.status == 0, f"the program failed before it was killed: {ended}")
        return False

    def end_group(self, program, number):
        """Signals a program and what it forked. Only before it has been waited for: its id may be another's afterwards."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(program.pid, number)

    def mtprof(self, *words, expected=(0,), **options):
        return self.run([self.setup.build / "bin" / "mtprof", *words], expected, **options)

    # --- Places ---

    def make_node(self, name, minor):
        """A device node of the case's own that acts like /dev/null (3) or /dev/full (7)."""
        path = self.folder / name
        try:
            os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
            with open(path, "wb"):
                pass
        except OSError as error:
            raise Skipped(f"device nodes cannot be made here: {error}") from None
        return path

    def mount_small_disk(self, kilobytes):
        """A file system of this size."""
        path = self.folder / "disk"
        path.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(path)]
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            raise Skipped("file systems cannot be mounted here")
        self.mounted.append(path)
        return path

    def clean_up(self):
        for program in self.started:
            if program.returncode is None:
                self.end_group(program, signal.SIGKILL)
                program.communicate()
        for path in self.mounted:
            subprocess.run(["umount", "--lazy", str(path)], capture_output=True, check=False)
