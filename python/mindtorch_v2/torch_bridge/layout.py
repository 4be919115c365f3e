"""The locations of the bridge: its sources, our headers and library, the bridges of the package and the built bridges of this user."""

import hashlib
import os
import platform
from functools import cache
from pathlib import Path

from mindtorch_v2 import _C
from mindtorch_v2.torch_bridge import trust

BUILD_COMMAND = "python -m mindtorch_v2.torch_bridge build"
LIBRARY_NAME = "libmindtorch_torch.so"

_HERE = Path(__file__).resolve().parent


def _checkout() -> Path | None:
    """The source tree that this file is in; None in an installed package."""
    root = _HERE.parents[2]
    return root if (root / "mindtorch" / "bridges" / "torch").is_dir() else None


def include_folders() -> list[Path]:
    """The folder of our headers. Those of the bridge come with its sources."""
    root = _checkout()
    if root:
        return [root]
    # A wheel has the headers in the package. `cmake --install` puts the package into lib/python3.x/site-packages of the prefix.
    ours = _HERE.parent / "include"
    return [_HERE / "sources", ours if ours.is_dir() else _HERE.parents[4] / "include"]


def source_folder() -> Path:
    return include_folders()[0] / "mindtorch" / "bridges" / "torch"


def sources() -> list[Path]:
    return sorted(source_folder().glob("*.cpp"))


def recorder_library() -> Path:
    """The libmindtorch.so that this process has loaded: the bridge must share its recorder."""
    with open("/proc/self/maps") as maps:
        for line in maps:
            path = line.rstrip("\n").partition("/")[2]
            if "/libmindtorch.so" in "/" + path:
                return Path("/" + path)
    raise FileNotFoundError("libmindtorch.so is not loaded")


@cache
def digest(torch) -> str:
    """A digest of everything that a bridge depends on. A bridge with another digest must not be loaded.

    That is what is compiled and how, the name under which the recorder is found, and the very build of torch: two may have one version.
    """
    ours = include_folders()[-1] / "mindtorch"
    headers = [path for part in ("base", "trace", "record") for path in (ours / part).glob("*.h")]
    torchs = f"{torch.version.git_version} {torch.compiled_with_cxx11_abi()}"
    recorder = recorder_library().name.removesuffix(" (deleted)")  # replaced by another build of it since this process has loaded it
    text = hashlib.sha256(f"{platform.machine()} {recorder} {torchs}".encode())
    for path in [*sorted(headers), *sorted(source_folder().glob("*.h")), *sources(), _HERE / "compiler.py"]:
        text.update(path.name.encode())
        text.update(path.read_bytes())
    return text.hexdigest()[:12]


def ready_folder() -> Path:
    """The folder of the bridges that came with the package; it does not exist in one that came without."""
    return _HERE / "ready"


def cache_folder() -> Path:
    """The folder of built bridges, with one folder per release of torch. MINDTORCH_LIBRARY_PATH=torch_bridge=FOLDER names another.

    It is a folder of this user's own below /var/tmp if others could put a library into the usual one, as where HOME is /tmp.
    """
    chosen = _C.chosen_library("torch_bridge")
    if chosen:
        return Path(chosen)
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mindtorch" / "torch_bridge"
    return usual if trust.problem_of(usual) is None else trust.SHARED / f"mindtorch-{os.geteuid()}" / "torch_bridge"


def bridge_path(torch) -> Path:
    """The place of the bridge for this torch and these sources. A file in this place is never out of date."""
    return cache_folder() / f"torch-{torch.__version__}" / digest(torch) / LIBRARY_NAME


def built_versions() -> list[str]:
    """Releases of torch for which a bridge was built, from any version of the sources."""
    return sorted({path.parents[1].name.removeprefix("torch-") for path in cache_folder().glob(f"torch-*/*/{LIBRARY_NAME}")})
