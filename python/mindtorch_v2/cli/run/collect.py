"""Takes the recordings of a run out of its folder: names them, and completes those of processes that did not end by themselves.

`mtprof run` does so at its end. `mtprof collect` does it for runs whose launcher was killed, or was over before all of their processes.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import itertools
import os
import secrets
import shutil
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mindtorch_v2.cli.run.folder import Note, RunFolder, find_folders, stamp_of, stem_of
from mindtorch_v2.profiler.recording import load

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass
class Collected:
    files: list[Path] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    failed: bool = False  # something is still in the folder that should not be there


def processes_text(notes: Iterable[Note]) -> str:
    """ "process 12" or "processes 12, 13 and 14"; of many the first ones."""
    pids = list(dict.fromkeys(note.process.pid for note in notes))
    if len(pids) == 1:
        return f"process {pids[0]}"
    shown = [str(pid) for pid in pids[:8]]
    rest = [f"{len(pids) - 8} more"] if len(pids) > 8 else [shown.pop()]
    return f"processes {', '.join(shown)} and {rest[0]}"


def living(folder: RunFolder, notes: list[Note]) -> list[Note]:
    """The recorders that still write, as far as this machine can know. One that begins in a process ends the one before it (os.execv)."""
    latest = {note.process: note for note in notes}
    return [note for note in notes if note.events is None and latest[note.process] is note and note.process.is_alive() is not False]


def silent_processes(word: str, notes: list[Note]) -> list[int]:
    """The Python processes that have `word` in their environment and have written no note: a child has none in its first moments."""
    known, found = {note.process.pid for note in notes}, []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ends, or belongs to somebody else
            pid = int(folder.name)
            if pid not in known and word.encode() in (folder / "environ").read_bytes() and "python" in os.readlink(folder / "exe"):
                found.append(pid)
    return found


class _Collection:
    """One pass over the folder of a run."""

    def __init__(self, folder: RunFolder):
        self.folder = folder
        self.result = Collected()
        self._groups: dict[str, list[Note]] = defaultdict(list)  # remarks about several processes

    def collect(self, *, force: bool) -> None:
        notes = self.folder.notes()
        still = [] if force else living(self.folder, notes)
        recorded = self._chosen([note for note in notes if note not in still and self._has_recording(note)], still)
        self._place(recorded)
        self._tell(still)
        if not still and not self.result.failed:
            self.folder.remove()
        elif self.folder.path.is_dir():
            self.folder.manifest.collected += len(self.result.files)
            self.folder.save()

    def _has_recording(self, note: Note) -> bool:
        path, partial = self.folder.recording_of(note), self.folder.partial_of(note)
        if path.exists():
            return True
        if partial.exists():
            left = f"left by {note.left}(), recorded up to that moment"
            killed = "no regular end, recorded up to the last events that reached the file"
            return self._complete(note, partial, path, left if note.left else killed)
        if note.waits_for_step is not None:
            hint = "" if note.steps else "; without an optimizer, a step is a slice of time (--slice)"
            made = f"made {note.steps} steps, fewer than it takes to record step {note.waits_for_step}{hint}"
            self._groups[made].append(note)
        elif note.in_memory:
            self._groups["no regular end, nothing is recorded: --keep-last keeps events in memory until the end"].append(note)
        self.folder.forget(note)
        return False

    def _complete(self, note: Note, partial: Path, path: Path, remark: str) -> bool:
        """Makes a recording of what a process has left."""
        try:
            recording = load(partial)
            recording.export(path)
        except (OSError, RuntimeError, ValueError) as error:
            self._fail(f"the recording of process {note.process.pid} could not be completed: {error}")
            return False
        note.events = recording.event_count
        self._groups[remark].append(note)
        return True

    def _chosen(self, notes: list[Note], still: list[Note]) -> list[Note]:
        """Launchers and workers make no steps: they have no recording if others train. Neither have those that ran no op, but for a run
        that would have none at all."""
        chosen = [note for note in notes if note.steps] or [note for note in notes if note.events]
        if not chosen and not still and not self.folder.manifest.collected:
            chosen = notes[:1]
        for note in notes:
            if note not in chosen:
                self.folder.forget(note)
        for remark, those in self._groups.items():
            self._groups[remark] = [note for note in those if note in chosen or note not in notes]
        return chosen

    def _place(self, notes: list[Note]) -> None:
        manifest = self.folder.manifest
        several = len(notes) + manifest.collected > 1
        first = next((note for note in notes if note.process.pid == manifest.program), None)
        if manifest.collected:
            first = None
        for note in sorted(notes, key=lambda note: (note.rank is None, note.rank or 0, note.began_ns)):
            name = manifest.output
            if several and note is not first:
                who = f"process{note.process.pid}" if note.rank is None else f"rank{note.rank}"
                name = f"{stem_of(name, manifest.suffix)}.{who}{manifest.suffix}"
            try:
                self.result.files.append(self._move(self.folder.recording_of(note), name))
            except OSError as error:
                self._fail(f"{self.folder.target / name} cannot be written: {error.strerror}")
            else:
                self.folder.forget(note)

    def _move(self, part: Path, name: str) -> Path:
        """To its name or the next that is free: only files that were there before the run, and are unchanged, are replaced."""
        stem, suffix = stem_of(name, self.folder.manifest.suffix), self.folder.manifest.suffix
        for number in itertools.count(1):
            path = self.folder.target / (name if number == 1 else f"{stem}.{number}{suffix}")
            before = self.folder.manifest.before.get(path.name)
            is_new = before is None or before != stamp_of(path)
            if is_new:
                try:
                    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
                except FileExistsError:
                    continue
            try:
                _replace(part, path)
            except OSError:
                if is_new:
                    path.unlink()
                raise
            if number > 1 and name == self.folder.manifest.output:
                self.result.remarks.append(f"{self.folder.target / name} has been written by another program meanwhile: it is kept")
            return path
        raise AssertionError

    def _fail(self, text: str) -> None:
        self.result.failed = True
        self.result.remarks.append(f"{text}; it is kept in {self.folder.path}, and `mtprof collect {self.folder.path}` tries again")

    def _tell(self, still: list[Note]) -> None:
        for remark, notes in self._groups.items():
            if notes:
                self.result.remarks.append(f"{processes_text(notes)}: {remark}")
        collecting = f"`mtprof collect {self.folder.path}`"
        here = [note for note in still if note.process.is_alive()]
        if here:
            self.result.remarks.append(f"{processes_text(here)}: still recording; {collecting} writes what was recorded when that is over")
        for host in {note.process.host for note in still if note not in here}:
            there = [note for note in still if note not in here and note.process.host == host]
            text = f"perhaps still recording on {host}; {collecting} writes what was recorded, there or with --force"
            self.result.remarks.append(f"{processes_text(there)}: {text}")


def _replace(part: Path, path: Path) -> None:
    try:
        os.replace(part, path)
        return
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        shutil.copyfile(part, temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def collect(folder: RunFolder, *, force: bool = False) -> Collected:
    """Writes all recordings whose processes have ended; `force`: also of those that may still run on another machine."""
    with folder.locked() as is_ours:
        if not is_ours:
            return Collected(remarks=[f"{folder.path} is being collected by another process"], failed=True)
        collection = _Collection(folder)
        collection.collect(force=force)
        return collection.result


# --- The command ---


def _say(text: str) -> None:
    print(f"mtprof: {text}", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mtprof collect",
        description="Writes the recordings of runs that could not do it themselves: `mtprof run` was killed, or a process of the program "
        "recorded longer than the program ran. Runs that go on are left alone.",
    )
    parser.add_argument("places", nargs="*", default=["."], metavar="PLACE", help="a folder of outputs, or an output; default: here")
    parser.add_argument("--force", action="store_true", help="also recordings of processes that may still run on another machine")
    return parser


def _folders_at(parser: argparse.ArgumentParser, place: str) -> list[RunFolder]:
    path = Path(place)
    try:
        return [RunFolder.at(path)]
    except (OSError, ValueError):
        pass
    if path.is_dir():
        return find_folders(path)
    if not path.parent.is_dir():
        parser.error(f"there is no folder {str(path.parent)!r}")
    return find_folders(path.parent, path.name)


def _collect_one(folder: RunFolder, force: bool) -> bool:
    launcher, command = folder.manifest.launcher, " ".join(folder.manifest.command)
    is_alive = launcher.is_alive()
    if is_alive:
        _say(f"the run of {command} goes on: its mtprof is process {launcher.pid}")
        return True
    if is_alive is None and not force:
        _say(f"the run of {command} may go on, on {launcher.host}: collect it there, or with --force")
        return True
    try:
        collected = collect(folder, force=force)
    except OSError as error:
        _say(f"the recordings in {folder.path} cannot be collected: {error}")
        return False
    for remark in collected.remarks:
        _say(remark)
    for path in collected.files:
        print(path)
    return not collected.failed


def main(argv: list[str]) -> int:
    parser = _parser()
    options = parser.parse_args(argv)
    folders = [folder for place in options.places for folder in _folders_at(parser, place)]
    if not folders:
        _say(f"there is nothing to collect in {', '.join(options.places)}")
    return 0 if all([_collect_one(folder, options.force) for folder in folders]) else 1
