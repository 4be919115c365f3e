"""Finds a file again that this process writes, after the program has removed or moved it."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import BinaryIO


def open_removed(path: Path) -> BinaryIO | None:
    """The content of the file that some thread of this process has open and that had this name; None if there is none."""
    with contextlib.suppress(OSError):
        for task in Path("/proc/self/task").iterdir():  # a thread can have descriptors of its own
            for link in (task / "fd").iterdir():
                with contextlib.suppress(OSError):
                    if Path(os.readlink(link).removesuffix(" (deleted)")).name == path.name:
                        return open(link, "rb")
    return None
