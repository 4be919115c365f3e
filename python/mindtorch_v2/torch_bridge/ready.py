"""The bridges that come ready-built with the package, so that no compiler is needed.

Each is in a folder of its own beside a note, torch.json, that says which PyTorch it fits: the one whose headers are those that it was
compiled with. Builds of one release for the CPU and for CUDA have the same headers, and often patch releases have too.
"""

import hashlib
import json
from functools import cache
from pathlib import Path

from mindtorch_v2.torch_bridge import layout

NOTE_NAME = "torch.json"
# The end of the names of the headers that hold nothing but the number of the release.
VERSION_HEADER = "/version.h"


class ReadyBridge:
    """A bridge of the package, and the PyTorch that it fits."""

    def __init__(self, note: Path):
        facts = json.loads(note.read_text())
        self.path = note.with_name(layout.LIBRARY_NAME)
        self.releases: dict[str, str] = facts["releases"]  # the number of each release that was compared, and its commit
        self._cxx11_abi: bool = facts["cxx11_abi"]
        self._headers: list[str] = facts["headers"]
        self._digest: str = facts["headers_digest"]

    def fits(self, torch) -> bool:
        """True for a torch that was built from a known commit, and for one with the same headers."""
        if bool(torch.compiled_with_cxx11_abi()) != self._cxx11_abi or minor_release(torch.__version__) not in self.minor_releases():
            return False
        if getattr(torch.version, "git_version", None) in self.releases.values():
            return True
        return headers_digest(Path(torch.__file__).parent / "include", self._headers) == self._digest

    def minor_releases(self) -> set[tuple[int, int]]:
        return {minor_release(release) for release in self.releases}


def find(torch) -> Path | None:
    """The ready bridge for this torch; None if the package has none."""
    return next((bridge.path for bridge in _bridges() if bridge.fits(torch)), None)


def releases() -> list[str]:
    """The releases of torch for which the package has a bridge, oldest first."""
    names = {f"{major}.{minor}": (major, minor) for bridge in _bridges() for major, minor in bridge.minor_releases()}
    return sorted(names, key=names.get)


def other_way() -> str:
    """What a message adds about the ready bridges; nothing if there are none."""
    names = releases()
    return f", or use a PyTorch for which this package has a bridge: {', '.join(names)}" if names else ""


def headers_digest(include: Path, names: list[str]) -> str | None:
    """A digest of headers without those that hold the number of the release; None if one of them is missing."""
    text = hashlib.sha256()
    for name in names:
        if name.endswith(VERSION_HEADER):
            continue
        try:
            text.update(f"{name}\n".encode() + (include / name).read_bytes())
        except OSError:
            return None
    return text.hexdigest()


def minor_release(version: str) -> tuple[int, int]:
    """(2, 8) of "2.8.0+cu128"; (0, 0) of a version of another form."""
    try:
        major, minor = str(version).split(".")[:2]
        return int(major), int(minor)
    except ValueError:
        return 0, 0


@cache
def _bridges() -> list[ReadyBridge]:
    return [ReadyBridge(note) for note in sorted(layout.ready_folder().glob(f"*/{NOTE_NAME}"))]
