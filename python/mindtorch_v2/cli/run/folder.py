"""The folder of one `mtprof run`: its processes put their recordings there, until they are collected.

It lies beside the output and is made for this run alone. A manifest says what the run is, and each recorder leaves a note about itself,
so that another program can collect the recordings if the launcher is killed.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import json
import os
import socket
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

MANIFEST = "run.json"
PARTIAL = ".partial.mtrec"
_NOTE = ".note"
_OURS = (_NOTE, ".remark", ".tmp")  # how the names of files end that are of no use when the recordings have been collected


def _text_of(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""


@functools.cache
def _this_machine() -> tuple[str, str, str]:
    """The machine, its start, and the namespace that numbers its processes: containers have their own."""
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        namespace = ""
    return f"{socket.gethostname()} {_text_of('/etc/machine-id')}", _text_of("/proc/sys/kernel/random/boot_id"), namespace


def _start_of(pid: int) -> int | None:
    """When a process of this machine began, in ticks of its clock; None if it has ended."""
    fields = _text_of(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return None if not fields or fields[0] in "ZXx" else int(fields[19])


@dataclass(frozen=True)
class Process:
    """One process and no other that gets its number later."""

    machine: str
    boot: str
    namespace: str
    pid: int
    start: int

    @classmethod
    def current(cls) -> Process:
        return cls(*_this_machine(), os.getpid(), _start_of(os.getpid()) or 0)

    @property
    def host(self) -> str:
        return self.machine.split()[0]

    def is_alive(self) -> bool | None:
        """None if this machine or this container cannot know."""
        machine, boot, namespace = _this_machine()
        if (self.boot, self.namespace) == (boot, namespace):
            return _start_of(self.pid) == self.start
        return False if self.boot != boot and self.machine == machine else None


@dataclass
class Note:
    """What a recorder says about itself. It is written again whenever something of it has changed."""

    process: Process
    began_ns: int  # Unix time
    rank: int | None = None
    steps: int = 0
    events: int | None = None  # None: the recording is not yet whole
    waits_for_step: int | None = None
    in_memory: bool = False  # nothing reaches a file before the end
    left: str = ""  # the function by which the program left this process, if everything was written before

    @property
    def stem(self) -> str:
        """Two recorders never have the same one, though one process can have several: os.execv keeps its number."""
        return f"{self.process.pid}-{self.began_ns}"

    @classmethod
    def read(cls, path: Path) -> Note:
        values = json.loads(path.read_text())
        return cls(**{**values, "process": Process(**values["process"])})

    def write(self, folder: Path) -> None:
        write_whole(folder / (self.stem + _NOTE), asdict(self))


def write_whole(path: Path, values: dict[str, Any]) -> None:
    """Readers find the old file or the new one, and never half of it."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    temporary.write_text(json.dumps(values))
    os.replace(temporary, path)


Stamps = dict[str, list[int]]  # names of files, with what changes whenever a file is written


def stamp_of(path: Path) -> list[int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return [found.st_ino, found.st_mtime_ns, found.st_size]


@dataclass
class Manifest:
    """What is known about a run outside of its processes."""

    output: str  # the name of the recording, beside the folder
    suffix: str
    launcher: Process
    command: list[str]
    program: int | None = None  # process id, once it has been started
    collected: int = 0  # recordings that have been taken out of the folder
    before: Stamps = field(default_factory=dict)  # outputs that were there before the run: only these may be replaced

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        values = json.loads((folder / MANIFEST).read_text())
        return cls(**{**values, "launcher": Process(**values["launcher"])})

    def write(self, folder: Path) -> None:
        write_whole(folder / MANIFEST, asdict(self))


class RunFolder:
    """The folder of a run, where outputs are written to, and what the run is."""

    def __init__(self, path: Path, manifest: Manifest, target: Path):
        self.path, self.manifest, self.target = path, manifest, target

    @classmethod
    def at(cls, path: Path) -> RunFolder:
        """An existing folder. Throws OSError or ValueError if it is not the folder of a run."""
        try:
            return cls(path, Manifest.read(path), path.parent)
        except (KeyError, TypeError) as error:
            raise ValueError(f"{path / MANIFEST} is not the manifest of a run: {error}") from error

    def save(self) -> None:
        self.manifest.write(self.path)

    def notes(self) -> list[Note]:
        """Of all recorders that have not been collected, the earliest first."""
        found = {}
        for path in self.path.glob(f"*{_NOTE}"):
            with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
                found[path.name.removesuffix(_NOTE)] = Note.read(path)
        for path in self.path.glob(f"*{PARTIAL}"):  # a note cannot be written if the disk is full
            pid, _, began_ns = path.name.removesuffix(PARTIAL).partition("-")
            if f"{pid}-{began_ns}" not in found and pid.isdecimal() and began_ns.isdecimal():
                process = Process(*_this_machine(), int(pid), _start_of(int(pid)) or 0)
                found[f"{pid}-{began_ns}"] = Note(process, int(began_ns))
        return sorted(found.values(), key=lambda note: (note.began_ns, note.process.pid))

    def recording_of(self, note: Note) -> Path:
        return self.path / (note.stem + self.manifest.suffix)

    def partial_of(self, note: Note) -> Path:
        return self.path / (note.stem + PARTIAL)

    def forget(self, note: Note) -> None:
        """Removes what a recorder has left."""
        for path in (self.path / (note.stem + _NOTE), self.recording_of(note), self.partial_of(note)):
            path.unlink(missing_ok=True)

    def take_remarks(self) -> list[tuple[int, str]]:
        """What processes had to say that could not be recorded: process ids and texts. Each is returned once."""
        remarks = []
        with contextlib.suppress(OSError, ValueError):  # the program may remove the folder at any moment
            for path in sorted(self.path.glob("*.remark")):
                remarks.append((int(path.name.partition("-")[0]), path.read_text(errors="replace")))
                path.unlink()
        return remarks

    @contextlib.contextmanager
    def locked(self) -> Iterator[bool]:
        """Whether this process alone collects the folder now. Ends with the process that has it."""
        with open(self.path / MANIFEST) as file:
            yield lock(file.fileno())

    def remove(self) -> None:
        """Removes the files of the run, and the folder if there are no others in it."""
        for path in self.path.iterdir():
            if path.name.endswith(_OURS):
                path.unlink(missing_ok=True)
        if [path.name for path in self.path.iterdir()] == [MANIFEST]:
            (self.path / MANIFEST).unlink()
        with contextlib.suppress(OSError):
            self.path.rmdir()


def lock(descriptor: int, *, wait: bool = False) -> bool:
    """File systems without locks are taken for locked by no other process."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        return error.errno not in (errno.EWOULDBLOCK, errno.EACCES)
    return True


def stem_of(output: str, suffix: str) -> str:
    return output[: -len(suffix)]


def outputs_of(target: Path, output: str, suffix: str) -> list[Path]:
    """The files that runs with this output have written."""
    stem = stem_of(output, suffix) + "."
    with os.scandir(target) as entries:
        return [target / entry.name for entry in entries if entry.name == output or _is_part(entry.name, stem, suffix)]


def _is_part(name: str, stem: str, suffix: str) -> bool:
    middle = name[len(stem) : -len(suffix)]
    return name.startswith(stem) and name.endswith(suffix) and middle.startswith(("rank", "process")) and middle[-1].isdigit()


def make_folder(target: Path, output: str, suffix: str, command: list[str], *, may_replace: bool) -> RunFolder | None:
    """Makes the folder of a new run with this output; None if the name is taken and may not be replaced.

    The folder reserves the name: whoever makes it first has it, and files are looked for afterwards.
    """
    number = 1
    while True:
        path = target / (f".{output}.parts" if number == 1 else f".{output}.{number}.parts")
        try:
            path.mkdir(mode=0o700)
            break
        except FileExistsError:
            if not may_replace:
                return None
            number += 1
    found = outputs_of(target, output, suffix)
    if found and not may_replace:
        path.rmdir()
        return None
    before = {each.name: stamp for each in found if (stamp := stamp_of(each)) is not None}
    folder = RunFolder(path, Manifest(output, suffix, Process.current(), command, before=before), target)
    try:
        folder.save()
    except OSError:
        folder.remove()
        raise
    return folder


def find_folders(target: Path, output: str | None = None) -> list[RunFolder]:
    """The folders of runs whose outputs lie in `target`, or of those with one output."""
    found = []
    for path in sorted(target.glob(".*.parts")):
        with contextlib.suppress(OSError, ValueError):
            folder = RunFolder.at(path)
            if output in (None, folder.manifest.output):
                found.append(folder)
    return found


def leftovers(target: Path, output: str | None = None) -> list[RunFolder]:
    """Of these, the folders whose launcher is dead: `mtprof collect` takes care of them."""
    return [folder for folder in find_folders(target, output) if folder.manifest.launcher.is_alive() is False]
