"""What the compiler and the linker need of a release of PyTorch, taken from its package and kept in a folder.

    folder/2.8.0-x86_64/include          torch's headers
    folder/2.8.0-x86_64/lib              stand-ins for libc10.so and libtorch_cpu.so: every name that they export, and no code
    folder/2.8.0-x86_64/release.json     the release, its commit, and whether it has the strings of C++11

A package has up to a gigabyte, and what is kept has 60 megabytes. One package at a time is on the disk.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path

LIBRARIES = ("libc10.so", "libtorch_cpu.so")
# How the tools for each machine begin, and the tags of its packages, newest first.
TOOLS = {"x86_64": "", "aarch64": "aarch64-linux-gnu-"}
PLATFORMS = ("manylinux_2_28", "manylinux2014", "manylinux1", "linux")


@dataclass(frozen=True)
class Release:
    """A release of PyTorch in a folder of its own."""

    folder: Path
    version: str
    git_version: str
    build: str  # what the package is for, as it says itself: "2.8.0+cu128"
    cxx11_abi: bool

    @property
    def minor(self) -> tuple[int, int]:
        major, minor = self.version.split(".")[:2]
        return int(major), int(minor)

    def exported_names(self) -> set[str]:
        return {name for library in LIBRARIES for name in exported_names(self.folder / "lib" / library)}


def get(version: str, machine: str, folder: Path, say=print) -> Release:
    """The release for a machine ("x86_64", "aarch64"), downloaded unless the folder has it."""
    place = folder / f"{version}-{machine}"
    if not (place / "release.json").exists():
        say(f"Downloading PyTorch {version} for {machine}")
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            package = _download(version, machine, Path(scratch))
            made = Path(scratch) / "made"
            _extract(package, version, machine, made)
            shutil.rmtree(place, ignore_errors=True)
            made.rename(place)
    return Release(place, **json.loads((place / "release.json").read_text()))


def _download(version: str, machine: str, scratch: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-cache-dir", "--no-deps"]
    command += ["--only-binary=:all:", "--python-version=3.12", "--dest", str(scratch), f"torch=={version}"]
    command += [f"--platform={platform}_{machine}" for platform in PLATFORMS]
    done = subprocess.run(command, capture_output=True, text=True)
    packages = sorted(scratch.glob("torch-*.whl"))
    if done.returncode != 0 or not packages:
        raise SystemExit(f"PyTorch {version} for {machine} cannot be downloaded:\n{done.stderr.strip()}")
    return packages[0]


def _extract(package: Path, version: str, machine: str, made: Path) -> None:
    originals = made / "originals"
    with zipfile.ZipFile(package) as wheel:
        wanted = [name for name in wheel.namelist() if name.startswith("torch/include/") or name == "torch/version.py"]
        wheel.extractall(originals, wanted + [f"torch/lib/{name}" for name in LIBRARIES])
    package.unlink()
    torch = originals / "torch"
    names = {name: exported_names(torch / "lib" / name) for name in LIBRARIES}
    for name in LIBRARIES:
        make_stand_in(made / "lib" / name, name, names[name], TOOLS[machine])
    text = (torch / "version.py").read_text()
    release = Release(
        folder=made,
        version=version,
        git_version=re.search(r"^git_version = '(\w+)'", text, re.MULTILINE).group(1),
        build=re.search(r"^__version__ = '(.+)'", text, re.MULTILINE).group(1),
        cxx11_abi=any("3c10" in name and "__cxx11" in name for name in names["libc10.so"]),
    )
    (torch / "include").rename(made / "include")
    shutil.rmtree(originals)
    facts = {key: value for key, value in asdict(release).items() if key != "folder"}
    (made / "release.json").write_text(json.dumps(facts, indent=1) + "\n")


def exported_names(library: Path) -> dict[str, str]:
    """The names that a library gives to others, with their kinds: FUNC, OBJECT, TLS."""
    listing = subprocess.run(["readelf", "--dyn-syms", "--wide", library], capture_output=True, text=True, check=True).stdout
    names = {}
    for line in listing.splitlines():
        fields = line.split()
        if len(fields) >= 8 and fields[0].endswith(":") and fields[4] in ("GLOBAL", "WEAK", "UNIQUE") and fields[6] != "UND":
            names[fields[7].partition("@")[0]] = fields[3]
    return names


def make_stand_in(library: Path, soname: str, names: dict[str, str], tools: str) -> None:
    """A library that exports the names and holds no code: what links with it links with the original too."""
    library.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for section, tls in (('.section .text,"ax"', False), ('.section .tbss,"awT",@nobits', True)):
        lines.append(section)
        for name, kind in names.items():
            if (kind == "TLS") == tls:
                lines.append(f'.globl "{name}"\n.type "{name}",%{"tls_object" if tls else "function"}\n"{name}":')
        lines.append(".zero 8")
    text = library.with_suffix(".s")
    text.write_text("\n".join(lines) + "\n")
    command = [f"{tools}gcc", "-shared", "-nostdlib", "-x", "assembler", str(text), f"-Wl,-soname,{soname}", "-o", str(library)]
    subprocess.run(command, check=True)
    text.unlink()
