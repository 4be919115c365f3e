"""Compiles the bridge against a torch: the installed one, or the headers of a release."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from mindtorch_v2.torch_bridge import layout, ready, trust

OLDEST_TORCH = (2, 6)


class BuildError(Exception):
    """What went wrong, and what to do about it."""


@dataclass(frozen=True)
class Torch:
    """The PyTorch that a library is compiled for."""

    folder: Path  # contains include and lib
    cxx11_abi: bool


def build(say: Callable[[str], None] = lambda line: None) -> Path:
    """Compiles and links the bridge, and stores it where profiles look for it. Raises BuildError."""
    torch = _torch()
    if not layout.sources():
        raise BuildError(f"this installation lacks the sources of the bridge ({layout.source_folder()}); install mindtorch_v2 again")
    target = layout.bridge_path(torch)
    _require_own_folder(target.parent)
    say(f"Building the bridge to PyTorch {torch.__version__} with {_compiler()}: once for this release, about a minute")
    compile_library(layout.sources(), target)
    return target


def build_if_needed(say: Callable[[str], None] = lambda line: None) -> Path:
    """Does the same as build(), unless the bridge for this torch and these sources exists. One process builds, others wait for it."""
    torch = _torch()
    path = ready.find(torch) or layout.bridge_path(torch)
    if path.exists():
        return path
    _compiler()  # without one, nothing is written
    _require_own_folder(layout.cache_folder())
    trust.make_folder(layout.cache_folder())
    with open(layout.cache_folder() / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return path if path.exists() else build(say)


def _require_own_folder(folder: Path) -> None:
    if (problem := trust.problem_of(folder)) is not None:
        raise BuildError(
            f"no bridge is built in {folder}, because others could replace it: {problem}; "
            "name a folder of your own with MINDTORCH_LIBRARY_PATH=torch_bridge=FOLDER"
        )


def compile_library(sources: list[Path], target: Path, torch: Torch | None = None, *, compiler="", linked_with=()) -> None:
    """Makes a shared library from sources that use torch's and our headers. It appears whole or not at all. Raises BuildError.

    It is made for the installed torch, by the compiler of this machine, and uses the recorder of this process, unless others are given.
    """
    torch, compiler = torch or _installed(), compiler or _compiler()
    linked_with = linked_with or _recorder_options()
    trust.make_folder(target.parent)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        objects = [Path(folder) / f"{source.stem}.o" for source in sources]
        commands = [_compile_command(compiler, torch, source, out) for source, out in zip(sources, objects, strict=True)]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(_run, commands))
        linked = Path(folder) / target.name
        _run(_link_command(compiler, torch, [*map(str, objects), *linked_with], linked))
        linked.chmod(0o755)  # whatever the umask is
        os.replace(linked, target)


def torch_headers(sources: list[Path], torch: Torch, compiler: str) -> list[str]:
    """The headers of torch that compiling the sources reads, by their names below torch's include folder."""
    found = set()
    for source in filter(_speaks_to_torch, sources):
        command = [*_compile_command(compiler, torch, source, Path("unused"))[:-4], "-M", str(source)]
        words = _run(command).replace("\\\n", " ").split()
        found |= {os.path.relpath(word, torch.folder / "include") for word in words if word.startswith(f"{torch.folder}/include/")}
    return sorted(found)


def _torch():
    try:
        import torch
    except ImportError as error:
        raise BuildError(f"PyTorch cannot be imported ({error}); install it first: pip install torch") from error
    release = tuple(int(number) for number in str(torch.__version__).split("+")[0].split(".")[:2])
    if release < OLDEST_TORCH:
        raise BuildError(f"PyTorch {torch.__version__} is too old: the bridge needs 2.6 or later")
    return torch


def _installed() -> Torch:
    torch = _torch()
    return Torch(Path(torch.__file__).parent, torch.compiled_with_cxx11_abi())


def _compiler() -> str:
    for name in (os.environ.get("CXX"), "c++", "g++", "clang++"):
        if name and shutil.which(name.split()[0]):
            return name
    raise BuildError(f"there is no C++ compiler to build the bridge with; install one: sudo apt-get install g++{ready.other_way()}")


def _compile_command(compiler: str, torch: Torch, source: Path, out: Path) -> list[str]:
    command = [*compiler.split(), "-std=c++20", "-O2", "-DNDEBUG", "-fPIC", "-fvisibility-inlines-hidden"]
    command += [f"-I{folder}" for folder in layout.include_folders()]
    if _speaks_to_torch(source):
        # Torch's wheels before 2.7 have the old strings of the standard library, ours never have.
        command.append(f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.cxx11_abi)}")
        include = torch.folder / "include"
        command += [f"-isystem{include}", f"-isystem{include / 'torch' / 'csrc' / 'api' / 'include'}"]
    return [*command, "-c", str(source), "-o", str(out)]


def _speaks_to_torch(source: Path) -> bool:
    files = [source, *source.parent.glob(f"{source.stem}.h")]
    return any(f"#include <{part}/" in path.read_text() for path in files for part in ("ATen", "c10", "torch"))


def _recorder_options() -> list[str]:
    recorder = layout.recorder_library()
    if not recorder.exists():
        raise BuildError(f"{recorder} was replaced since this process has loaded it; try again")
    return [str(recorder), f"-Wl,-rpath,{recorder.parent}"]


def _link_command(compiler: str, torch: Torch, linked: list[str], out: Path) -> list[str]:
    command = [*compiler.split(), "-shared", "-Wl,--no-undefined", "-Wl,--exclude-libs,ALL", *linked]
    return [*command, f"-L{torch.folder / 'lib'}", "-ltorch_cpu", "-lc10", "-o", str(out)]


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise BuildError(f"the compiler failed:\n{' '.join(command)}\n{done.stderr.strip()}")
    return done.stdout
