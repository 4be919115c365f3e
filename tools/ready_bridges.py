"""Builds the bridges to PyTorch that a wheel contains. Run by ./dev wheel.

Usage: ready_bridges.py --into FOLDER [--kept FOLDER] [--releases 2.8.0,2.9.1] [--machine aarch64]

For each release the headers are taken from its package on PyPI, and the names that its libraries export: a bridge that would need a name
that one of its releases lacks is refused. Releases whose headers are the same share a bridge. 2.6 exists with the old and with the new
strings of the C++ library, and gets a bridge for each.
"""

import argparse
import hashlib
import json
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import torch_releases
from mindtorch_v2.torch_bridge import compiler, layout, ready

RELEASES = "2.6.0 2.7.0 2.7.1 2.8.0 2.9.0 2.9.1 2.10.0 2.11.0 2.12.0 2.12.1 2.13.0 2.14.0 2.14.1 2.15.0"
# Where a bridge of the package finds the recorder, if the process has not loaded it: mindtorch_v2/lib.
RUNPATH = "$ORIGIN/../../../lib"
# The releases of which other builds have other strings than those of PyPI.
WITH_BOTH_STRINGS = {(2, 6)}


@dataclass(frozen=True)
class Plan:
    """A bridge to build: the releases that have the same headers, newest last."""

    releases: list[torch_releases.Release]
    headers: list[str]
    digest: str
    cxx11_abi: bool

    @property
    def name(self) -> str:
        return f"torch-{self.releases[-1].version}" + ("" if self.cxx11_abi else "-old-strings")


def plans(releases: list[torch_releases.Release], compiler_name: str) -> list[Plan]:
    """Groups releases by the text of the headers that the bridge includes."""
    found: dict[tuple, Plan] = {}
    for release in releases:
        torch = compiler.Torch(release.folder, release.cxx11_abi)
        headers = compiler.torch_headers(layout.sources(), torch, compiler_name)
        digest = ready.headers_digest(release.folder / "include", headers)
        key = (release.minor, digest, release.cxx11_abi)
        before = found[key].releases if key in found else []
        found[key] = Plan([*before, release], headers, digest, release.cxx11_abi)
    others = [replace(plan, cxx11_abi=not plan.cxx11_abi) for plan in found.values() if plan.releases[0].minor in WITH_BOTH_STRINGS]
    return [*found.values(), *others]


def build(plan: Plan, into: Path, compiler_name: str, recorder: Path) -> Path:
    """Compiles the bridge for the newest release. The linker finds each name in its libraries, and so do we in those of the others."""
    target = into / plan.name / layout.LIBRARY_NAME
    newest = plan.releases[-1]
    # The libraries have the names of one kind of strings only. The names of the other kind are found when the bridge is loaded.
    unchecked = [] if plan.cxx11_abi == newest.cxx11_abi else ["-Wl,-z,undefs"]
    options = [str(recorder), f"-Wl,-rpath,{RUNPATH}", "-s", *unchecked]
    torch = compiler.Torch(newest.folder, plan.cxx11_abi)
    compiler.compile_library(layout.sources(), target, torch, compiler=compiler_name, linked_with=options)
    for release in plan.releases[:-1]:
        missing = needed_names(target) - set(torch_releases.exported_names(recorder)) - release.exported_names()
        if missing and not unchecked:
            raise SystemExit(f"{plan.name} cannot serve PyTorch {release.build}, which lacks {', '.join(sorted(missing))}")
    note = {
        "releases": {release.version: release.git_version for release in plan.releases},
        "cxx11_abi": plan.cxx11_abi,
        "headers_digest": plan.digest,
        "headers": plan.headers,
    }
    target.with_name(ready.NOTE_NAME).write_text(json.dumps(note, indent=1) + "\n")
    return target


def needed_names(library: Path) -> set[str]:
    """The names that a library expects of others, without those of the C and C++ libraries, which have versions."""
    listing = subprocess.run(["readelf", "--dyn-syms", "--wide", library], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listing.splitlines()]
    return {row[7] for row in rows if len(row) >= 8 and row[6] == "UND" and row[4] == "GLOBAL" and "@" not in row[7]}


def recorder_of_a_wheel(machine: str, scratch: Path) -> Path:
    """A stand-in for our library with the name that the file has in a wheel, where there are no links."""
    library = scratch / "libmindtorch.so"
    names = torch_releases.exported_names(layout.recorder_library())
    torch_releases.make_stand_in(library, library.name, names, torch_releases.TOOLS[machine])
    return library


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=Path, required=True, help="the folder of the bridges; what is in it is replaced")
    parser.add_argument("--kept", type=Path, default=Path("build/torch_releases"), help="the folder in which headers are kept between runs")
    parser.add_argument("--releases", default=RELEASES.replace(" ", ","), help="the releases of PyTorch, separated by commas")
    parser.add_argument("--machine", default=platform.machine(), choices=sorted(torch_releases.TOOLS))
    options = parser.parse_args()
    compiler_name = ("ccache " if shutil.which("ccache") else "") + f"{torch_releases.TOOLS[options.machine]}g++"
    get = torch_releases.get
    releases = [get(version, options.machine, options.kept.resolve(), print) for version in options.releases.split(",")]
    with tempfile.TemporaryDirectory() as scratch:
        recorder = recorder_of_a_wheel(options.machine, Path(scratch))
        for plan in plans(releases, compiler_name):
            target = build(plan, options.into.resolve(), compiler_name, recorder)
            served = ", ".join(release.build for release in plan.releases)
            digest = hashlib.sha256(target.read_bytes()).hexdigest()[:12]
            print(f"{plan.name}: {target.stat().st_size // 1024} KiB, {digest}, for {served}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
