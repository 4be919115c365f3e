"""mtprof attach: records a process that runs already, was not prepared for it, and has never heard of this profiler."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

import mindtorch_v2
from mindtorch_v2.cli.attach.injection import Injection, NotPythonError, once
from mindtorch_v2.cli.attach.tracing import is_supported
from mindtorch_v2.cli.program import Problem
from mindtorch_v2.cli.run import command as run
from mindtorch_v2.cli.run.collect import collect
from mindtorch_v2.cli.run.folder import Process, RunFolder
from mindtorch_v2.cli.run.recorder import Settings
from mindtorch_v2.cli.run.summary import summary

_PACKAGE = Path(mindtorch_v2.__file__).absolute().parent
_BOOT = "boot.py"
_LOOK_S = 0.02
_PATIENCE_S = 1.0  # how long the main thread may take until another way is tried
_COLLECTING_S = 120.0  # a recording that has ended is written within that time

# Runs in the process, in whatever Python it is. What it needs is imported in a thread of its own, so that the program goes on meanwhile.
_BOOT_TEXT = """
def boot(home, package, extension):
    import os
    try:
        os.rename(home + "/boot.py", home + "/booted.py")
    except OSError:
        return
    import json
    import sys
    import _thread

    def say(**facts):
        with open(home + "/state.tmp", "w") as file:
            json.dump(facts, file)
        os.rename(home + "/state.tmp", home + "/state.json")

    this_thread = getattr(_thread, "get_native_id", int)()
    with open(home + "/thread", "w") as file:
        file.write(str(this_thread))

    def work():
        say(state="arrived")
        added = False
        try:
            if "mindtorch_v2" not in sys.modules:
                suffixes = __import__("importlib.machinery", fromlist=["EXTENSION_SUFFIXES"]).EXTENSION_SUFFIXES
                if extension in suffixes and os.path.isdir(package + "/mindtorch_v2"):
                    sys.path.insert(0, package)
                    added = True
            from mindtorch_v2.cli.attach import agent
        except Exception as error:
            say(state="refused", reason="its Python (%d.%d, %s) cannot import mindtorch_v2 (%s: %s); install it there" % (
                sys.version_info[0], sys.version_info[1], sys.executable, type(error).__name__, error))
            return
        finally:
            if added:
                sys.path.remove(package)
        agent.work(home)

    if "threading" not in sys.modules and this_thread != os.getpid():  # which takes the thread that imports it for the main thread
        say(state="refused", reason="its main thread waits, and it has not imported the module threading, without which nothing can begin")
        return
    import threading
    threading.Thread(target=work, daemon=True, name="mtprof attach").start()

"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mtprof attach",
        description="Records a running Python process that was not prepared for it. Steps end with the steps of its optimizer; without one "
        "they are slices of time.",
        epilog="It takes the right to trace the process: the same user and kernel.yama.ptrace_scope=0, or root; in a container "
        "--cap-add=SYS_PTRACE.",
    )
    parser.add_argument("pid", type=int, metavar="PID", help="the process")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--seconds", type=run._seconds, default=None, metavar="S", help="how long to record; default: 10")
    length.add_argument("--steps", type=run._number, metavar="N", help="record N whole steps")
    length.add_argument("--monitor", action="store_true", help="leave a monitor in the process instead; see `mtprof trigger`")
    length.add_argument("--detach", action="store_true", help="end the monitor that --monitor has left")
    parser.add_argument("-o", "--output", metavar="FILE", help="the recording: .mtrec, .json or .json.gz; default: processPID.mtrec")
    parser.add_argument("--shapes", action="store_true", help="record the shapes of the arguments of ops")
    parser.add_argument("--memory", action="store_true", help="record allocations and frees")
    parser.add_argument("--stack", action="store_true", help="record the Python stack of ops")
    parser.add_argument("--modules", action="store_true", help="record calls of modules")
    parser.add_argument("--all", action="store_true", help="all of these four")
    parser.add_argument("--keep-last", default="60s", metavar="N", help="with --monitor: steps or time to keep; default: 60s")
    parser.add_argument(
        "--daemon", action="store_true", help="with --monitor: also record what dynolog's daemon asks for (`dyno gputrace`)"
    )
    parser.add_argument("--folder", default=".", help="with --monitor: where it writes its files; default: here")
    parser.add_argument("--max-memory", type=run._size, metavar="SIZE", help="most memory for events, such as 1GB")
    parser.add_argument(
        "--timeout", type=run._seconds, default=15.0, metavar="S", help="how long the process may take to answer; default: 15"
    )
    parser.add_argument("--quiet", action="store_true", help="say nothing but errors")
    return parser


def _sees_our_files(pid: int) -> bool:
    return os.stat(f"/proc/{pid}/ns/mnt").st_ino == os.stat("/proc/self/ns/mnt").st_ino


def _has_ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


class _Meeting:
    """A folder that both processes see, made for this one request."""

    def __init__(self, pid: int):
        # Through /proc only where the process sees other files than we do: what is there goes with the process.
        self._root = Path("/") if _sees_our_files(pid) else Path(f"/proc/{pid}/root")
        folder = self._root / tempfile.gettempdir().lstrip("/")
        if not folder.is_dir():
            folder = self._root / "tmp"
        try:
            self.path = Path(tempfile.mkdtemp(prefix="mtprof-attach-", dir=folder))
            owner = os.stat(f"/proc/{pid}")
            if owner.st_uid != os.geteuid():
                os.chown(self.path, owner.st_uid, owner.st_gid)
        except OSError as error:
            raise Problem(f"process {pid}: its folder for temporary files cannot be used: {error.strerror}") from error

    def seen_by_process(self, path: Path) -> str:
        return "/" + os.path.relpath(path, self._root)

    def put(self, name: str, text: str) -> None:
        path = self.path / name
        path.write_text(text)
        path.chmod(0o644)

    def state(self) -> dict:
        try:
            return json.loads((self.path / "state.json").read_text())
        except (OSError, ValueError):
            return {"state": ""}

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


def _check_process(pid: int) -> None:
    try:
        facts = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line)
        Path(f"/proc/{pid}/maps").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        raise Problem(f"there is no process {pid}") from None
    except PermissionError:
        raise Problem(_forbidden(pid)) from None
    if pid == os.getpid():
        raise Problem("that is this process")
    if facts["Tgid"].strip() != str(pid):
        raise Problem(f"{pid} is a thread of process {facts['Tgid'].strip()}")
    if facts["State"][0] in "ZX":
        raise Problem(f"process {pid} has ended")
    if facts["State"][0] in "T":
        raise Problem(f"process {pid} is stopped (SIGSTOP or a shell's Ctrl-Z); let it go on first: kill -CONT {pid}")
    tracer = facts["TracerPid"].strip()
    if tracer != "0":
        raise Problem(f"process {pid} is traced by process {tracer}, a debugger perhaps; only one at a time can")
    if not is_supported():
        raise Problem(f"attaching is possible on x86-64 only, and this machine is {os.uname().machine}")


def _forbidden(pid: int) -> str:
    with contextlib.suppress(OSError):
        if os.stat(f"/proc/{pid}").st_uid not in (os.geteuid(), 0 if os.geteuid() == 0 else -1) and os.geteuid() != 0:
            return f"process {pid} belongs to another user; run mtprof as that user or as root"
    with contextlib.suppress(OSError):
        if (scope := Path("/proc/sys/kernel/yama/ptrace_scope").read_text().strip()) != "0":
            return f"the system forbids to trace process {pid}: kernel.yama.ptrace_scope is {scope}; run mtprof as root, or set it to 0"
    return f"the system forbids to trace process {pid}; in a container this takes --cap-add=SYS_PTRACE"


def _where_it_is(pid: int) -> str:
    """What the main thread does, as far as the kernel tells."""
    task = Path(f"/proc/{pid}/task/{pid}")
    with contextlib.suppress(OSError):
        state = task.joinpath("stat").read_text().rpartition(")")[2].split()[0]
        waits_in = task.joinpath("wchan").read_text().strip()
        if state == "R":
            return "its main thread computes in native code"
        if state == "D":
            return f"its main thread waits for a disk or a device in the kernel ({waits_in})"
        return f"its main thread waits in the kernel ({waits_in if waits_in != '0' else 'not known where'})"
    return "it has ended"


class _Attachment:
    """One request to one process."""

    def __init__(self, pid: int, timeout: float):
        self.pid, self._timeout = pid, timeout
        self.meeting = _Meeting(pid)
        self._injection: Injection | None = None
        self._asked_to_stop: float | None = None

    def ask(self, request: dict) -> dict:
        """Hands the request over, and returns the first answer that is more than a sign of life."""
        self.meeting.put("request.json", json.dumps({"asker": asdict(Process.current()), **request}))
        home = self.meeting.seen_by_process(self.meeting.path)
        extension = f".cpython-{sys.version_info[0]}{sys.version_info[1]}-{os.uname().machine}-linux-gnu.so"
        self.meeting.put(_BOOT, f"{_BOOT_TEXT}\nboot({home!r}, {os.fspath(_PACKAGE.parent)!r}, {extension!r})\n")
        try:
            self._injection = Injection(self.pid, once(f"{home}/{_BOOT}"))
            self._injection.ask_main_thread()
        except NotPythonError as error:
            raise Problem(f"process {self.pid} cannot be attached to: {error}; is it a Python program?") from None
        except PermissionError:
            raise Problem(_forbidden(self.pid)) from None
        except (ProcessLookupError, FileNotFoundError):
            raise Problem(f"process {self.pid} has ended") from None
        return self._answer()

    def _answer(self) -> dict:
        began = time.monotonic()
        tried_others = False
        while True:
            state = self.meeting.state()
            if state["state"] not in ("", "arrived"):
                return state
            waited = time.monotonic() - began
            if not state["state"] and waited > _PATIENCE_S and not tried_others:
                tried_others = True
                with contextlib.suppress(OSError, TimeoutError):
                    self._injection.ask_another_thread()
            if _has_ended(self.pid):
                raise Problem(f"process {self.pid} has ended")
            if waited > self._timeout and not state["state"]:
                (self.meeting.path / _BOOT).unlink(missing_ok=True)  # from now on, the line does nothing
                raise Problem(f"process {self.pid} did not run a line of Python within {self._timeout:g} s: {_where_it_is(self.pid)}")
            time.sleep(_LOOK_S)

    def stop(self, *_) -> None:
        """Asks the process to end the recording; a handler of signals. Whoever asks twice does not want to wait for it."""
        if self._asked_to_stop is not None:
            raise KeyboardInterrupt
        self._asked_to_stop = time.monotonic()
        (self.meeting.path / "stop").touch()

    def wait_until_done(self) -> dict:
        """Until the recording is over."""
        while (state := self.meeting.state())["state"] in ("recording", ""):
            if _has_ended(self.pid):
                return {"state": "ended"}
            if self._asked_to_stop is not None and time.monotonic() - self._asked_to_stop > _COLLECTING_S:
                return {"state": "silent"}
            time.sleep(_LOOK_S)
        return state

    def close(self) -> None:
        """Takes back what was put into the process."""
        with contextlib.suppress(OSError, TimeoutError, RuntimeError, ValueError):
            if self._injection is not None and self.meeting.state()["state"]:
                self._wait_for(int((self.meeting.path / "thread").read_text()))
                self._injection.clean_up(has_run=True)
        self.meeting.remove()

    def _wait_for(self, thread: int) -> None:
        """Until the thread that ran the line has ended, unless it is the main thread. In a container it has another number here."""
        deadline = time.monotonic() + _PATIENCE_S
        while thread != self.pid and Path(f"/proc/{self.pid}/task/{thread}").is_dir() and time.monotonic() < deadline:
            time.sleep(_LOOK_S)
        time.sleep(_LOOK_S)


def _refusal(pid: int, state: dict) -> Problem:
    reasons = {"ended": "it has ended", "silent": f"it did not end the recording within {_COLLECTING_S:g} s"}
    return Problem(f"process {pid}: {state.get('reason') or reasons.get(state['state'], state['state'])}")


def _settings(options: argparse.Namespace, folder: str, suffix: str) -> Settings:
    chosen = {} if options.steps is None else {"first_step": 1, "warmup": 1, "active": options.steps}
    everything = options.all
    return Settings(
        folder=folder,
        suffix=suffix,
        launcher=asdict(Process.current()),
        shapes=options.shapes or everything,
        memory=options.memory or everything,
        stack=options.stack or everything,
        modules=options.modules or everything,
        max_memory=options.max_memory,
        **chosen,
    )


def _parts(attachment: _Attachment, folder: RunFolder) -> tuple[Path, str]:
    """Where the process puts its recording: as this process sees it, and as that one does."""
    pid = attachment.pid
    if _sees_our_files(pid) and os.stat(f"/proc/{pid}").st_uid == os.geteuid():
        return folder.path, os.fspath(folder.path.absolute())
    parts = attachment.meeting.path / "parts"
    parts.mkdir()
    owner = attachment.meeting.path.stat()
    os.chown(parts, owner.st_uid, owner.st_gid)
    return parts, attachment.meeting.seen_by_process(parts)


def _record(options: argparse.Namespace, folder: RunFolder) -> int:
    attachment = _Attachment(options.pid, options.timeout)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, attachment.stop)
    try:
        parts, seen = _parts(attachment, folder)
        seconds = None if options.steps is not None else options.seconds or 10.0
        settings = _settings(options, seen, folder.manifest.suffix)
        state = attachment.ask({"do": "record", "settings": asdict(settings), "seconds": seconds})
        if state["state"] == "refused":
            raise _refusal(options.pid, state)
        if not options.quiet:
            length = f"{options.steps} steps" if seconds is None else f"{seconds:g} s"
            run.say(f"recording {length} of process {options.pid}; Ctrl-C ends it earlier")
        state = attachment.wait_until_done()
        if state["state"] == "refused":
            raise _refusal(options.pid, state)
        for remark in state.get("remarks", []):
            run.say(f"process {options.pid}: {remark}")
        if state["state"] != "done":
            run.say(str(_refusal(options.pid, state)))
        if parts != folder.path:
            for path in parts.iterdir():
                shutil.move(path, folder.path / path.name)
    finally:
        attachment.close()
    return _collect(options, folder)


def _collect(options: argparse.Namespace, folder: RunFolder) -> int:
    collected = collect(folder, force=True)
    for remark in collected.remarks:
        run.say(remark)
    if not collected.files:
        raise Problem(f"process {options.pid}: nothing was recorded")
    if not options.quiet:
        run.say(summary(collected.files))
    return 0


def _change_monitor(options: argparse.Namespace) -> int:
    attachment = _Attachment(options.pid, options.timeout)
    try:
        if options.detach:
            state = attachment.ask({"do": "detach"})
        else:
            choices = {
                "record_shapes": options.shapes,
                "profile_memory": options.memory,
                "with_stack": options.stack,
                "with_modules": options.modules,
            }
            wanted = {name: True for name, is_chosen in choices.items() if is_chosen or options.all}
            memory = {} if options.max_memory is None else {"max_memory": options.max_memory}
            keep_last = int(options.keep_last) if options.keep_last.isdecimal() else options.keep_last
            folder = os.path.abspath(options.folder)
            state = attachment.ask(
                {"do": "monitor", "options": {"keep_last": keep_last, "folder": folder, "daemon": options.daemon, **memory, **wanted}}
            )
        if state["state"] != "done":
            raise _refusal(options.pid, state)
    finally:
        attachment.close()
    if not options.quiet:
        run.say(
            f"the monitor of process {options.pid} has ended"
            if options.detach
            else f"process {options.pid} has a monitor now: `mtprof trigger {options.pid}` writes what just happened, "
            f"`mtprof attach --detach {options.pid}` ends it"
        )
    return 0


def main(argv: list[str]) -> int:
    parser = _parser()
    options = parser.parse_args(argv)
    if options.steps == 0:
        parser.error("--steps must be at least 1")
    _check_process(options.pid)
    if options.monitor or options.detach:
        return _change_monitor(options)
    folder = run._folder_for(parser, options.output, f"process{options.pid}", ["process", str(options.pid)])
    folder.manifest.program = options.pid
    folder.save()
    try:
        return _record(options, folder)
    except Problem:
        for note in folder.notes():
            folder.forget(note)
        raise
    finally:
        with contextlib.suppress(OSError):
            folder.remove()
