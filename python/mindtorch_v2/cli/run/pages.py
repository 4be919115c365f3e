"""The page of `mtprof run --report`: made when the program has ended, and opened if somebody sits in front of a screen."""

from __future__ import annotations

import os
import re
import shlex
import sys
import webbrowser
from functools import partial
from pathlib import Path

from mindtorch_v2 import _C
from mindtorch_v2.profiler.recording import load

_RANK = re.compile(r"\.rank\d+(?=\.)")
_MOST_NAMED = 4


def ranks_of(files: list[Path]) -> list[Path]:
    """The recordings of the ranks of a job; empty if there is no job with several ranks."""
    ranks = [path for path in files if _RANK.search(path.name)]
    return ranks if len(ranks) > 1 else []


def next_command(files: list[Path]) -> str:
    """What to type next, to see what the recordings tell."""
    ranks = ranks_of(files)
    if not ranks:
        return f"mtprof report {shlex.quote(str(files[0]))}"
    if len(ranks) <= _MOST_NAMED:
        return f"mtprof ranks {shlex.join(map(str, ranks))}"
    before, after = _RANK.split(str(ranks[0]), maxsplit=1)
    return f"mtprof ranks {shlex.quote(before)}.rank*{shlex.quote(after)}"


def make_page(files: list[Path]) -> tuple[Path | None, str]:
    """Writes the page about the job, or about the first recording, and returns its path; otherwise why there is none."""
    ranks = ranks_of(files)
    if ranks:
        page = ranks[0].with_name(_RANK.split(ranks[0].name, maxsplit=1)[0] + ".ranks.html")
        title = page.name.removesuffix(".ranks.html")
        write = partial(_C.write_ranks_page, [str(path) for path in ranks], title=title)
    else:
        stem = re.sub(r"(\.json)?\.gz$|\.json$|\.mtrec$", "", files[0].name)
        page = files[0].with_name(f"{stem}.report.html")
        write = load(files[0]).report
    try:
        write(str(page))
    except (MemoryError, OSError, RuntimeError, ValueError) as error:
        return None, str(error)
    return page, ""


def show_page(page: Path) -> None:
    """Opens the page if the command was typed by a person in front of a screen, and not by a job or over a network."""
    has_screen = sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if has_screen and sys.stderr is not None and sys.stderr.isatty():
        webbrowser.open(page.absolute().as_uri())
