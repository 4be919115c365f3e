"""Compiles the bridge against the installed torch."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mindtorch_v2.torch_bridge import layout

OLDEST_TORCH = (2, 6)


class BuildError(Exception):
    """What went wrong, and what to do about it."""


def build(say: Callable[[str], None] = lambda line: None) -> Path:
    """Compiles and links the bridge, and stores it where profiles look for it. Raises BuildError."""
    torch = _torch()
    target = layout.bridge_path(torch)
    say(f"Building the bridge to PyTorch {torch.__version__} with {_compiler()}")
    compile_library(layout.sources(), target)
    say(f"Built {target}")
    return target


def build_if_needed() -> Path:
    """Does the same as build(), unless the bridge for this torch and these sources exists."""
    path = layout.bridge_path(_torch())
    return path if path.exists() else build()


def compile_library(sources: list[Path], target: Path) -> None:
    """Makes a shared library from sources that use torch's and our headers. It appears whole or not at all. Raises BuildError."""
    torch, compiler = _torch(), _compiler()
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        objects = [Path(folder) / f"{source.stem}.o" for source in sources]
        commands = [_compile_command(compiler, torch, source, out) for source, out in zip(sources, objects, strict=True)]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(_run, commands))
        linked = Path(folder) / target.name
        _run(_link_command(compiler, torch, objects, linked))
        os.replace(linked, target)


def _torch():
    try:
        import torch
    except ImportError as error:
        raise BuildError(f"PyTorch cannot be imported ({error}); install it first: pip install torch") from error
    release = tuple(int(number) for number in str(torch.__version__).split("+")[0].split(".")[:2])
    if release < OLDEST_TORCH:
        raise BuildError(f"PyTorch {torch.__version__} is too old: the bridge needs 2.6 or later")
    return torch


def _compiler() -> str:
    for name in (os.environ.get("CXX"), "c++", "g++", "clang++"):
        if name and shutil.which(name.split()[0]):
            return name
    raise BuildError("there is no C++ compiler; install one: sudo apt-get install g++")


def _compile_command(compiler: str, torch, source: Path, out: Path) -> list[str]:
    command = [*compiler.split(), "-std=c++20", "-O2", "-DNDEBUG", "-fPIC", "-fvisibility-inlines-hidden"]
    command += [f"-I{folder}" for folder in layout.include_folders()]
    if _speaks_to_torch(source):
        # Torch's wheels before 2.7 have the old strings of the standard library, ours never have.
        command.append(f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}")
        include = Path(torch.__file__).parent / "include"
        command += [f"-isystem{include}", f"-isystem{include / 'torch' / 'csrc' / 'api' / 'include'}"]
    return [*command, "-c", str(source), "-o", str(out)]


def _speaks_to_torch(source: Path) -> bool:
    files = [source, *source.parent.glob(f"{source.stem}.h")]
    return any(f"#include <{part}/" in path.read_text() for path in files for part in ("ATen", "c10", "torch"))


def _link_command(compiler: str, torch, objects: list[Path], out: Path) -> list[str]:
    libraries = Path(torch.__file__).parent / "lib"
    recorder = layout.recorder_library()
    if not recorder.exists():
        raise BuildError(f"{recorder} was replaced since this process has loaded it; try again")
    command = [*compiler.split(), "-shared", "-Wl,--no-undefined", "-Wl,--exclude-libs,ALL", *map(str, objects), str(recorder)]
    return [*command, f"-L{libraries}", "-ltorch_cpu", "-lc10", f"-Wl,-rpath,{recorder.parent}", "-o", str(out)]


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise BuildError(f"the compiler failed:\n{' '.join(command)}\n{done.stderr.strip()}")
