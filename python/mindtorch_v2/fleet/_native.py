"""Calls of the native program, which reads recordings and compares ranks."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

from mindtorch_v2._mtprof import find_program

_SUFFIXES = (".mtrec", ".json", ".json.gz", ".mtsum")


def recordings_in(paths) -> list[str]:
    """The files that `mtprof ranks` would read, in the same order."""
    files = []
    for path in map(Path, paths):
        if not path.exists():
            raise FileNotFoundError(f"there is no file or folder {path}")
        found = [path] if not path.is_dir() else [file for file in path.rglob("*") if file.is_file() and file.name.endswith(_SUFFIXES)]
        files += map(str, found)
    if not files:
        raise ValueError(f"there is no .mtrec, .json or .json.gz file in {', '.join(map(str, paths))}")
    return sorted(files)


def run_ranks(*arguments) -> dict:
    """The answer of `mtprof ranks ARGUMENTS --json`. Raises RuntimeError with its message if there is none."""
    program = find_program()
    if program is None:
        raise RuntimeError("the native program mtprof is missing: this package was built without its tools (MINDTORCH_BUILD_TOOLS)")
    done = subprocess.run([program, "ranks", *map(str, arguments), "--json"], capture_output=True, text=True, errors="replace")
    if not done.stdout:
        raise RuntimeError(done.stderr.strip() or f"mtprof ranks ended with status {done.returncode}")
    return json.loads(done.stdout)


def _summaries_of(*arguments) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "summaries.mtsum"
        run_ranks(*arguments, "--summaries", path)
        return path.read_bytes()


def summarize(files: list[str]) -> bytes:
    """The summaries of some recordings, and what is wrong with files that cannot be read. Runs where the files lie."""
    return _summaries_of(*files, "--threads", 1)


def merge(parts: list[bytes]) -> bytes:
    """One part with the summaries of several."""
    with tempfile.TemporaryDirectory() as folder:
        for place, summaries in enumerate(parts):
            (Path(folder) / f"part{place:06}.mtsum").write_bytes(summaries)
        return _summaries_of(folder)
