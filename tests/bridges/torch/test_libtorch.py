"""A LibTorch program under the profiler: the C++ example, compiled against the installed torch."""

import json
import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest

BUILD = Path(os.environ.get("MINDTORCH_BUILD_DIR", Path(__file__).resolve().parents[3] / "build" / "dev"))


@pytest.mark.slow
def test_the_example_trains_prints_a_table_and_writes_a_trace(torch, project_root, program, tmp_path):
    from mindtorch_v2.torch_bridge import layout

    folder, source = Path(torch.__file__).parent, project_root / "examples" / "libtorch_train.cpp"
    includes = [project_root, folder / "include", folder / "include/torch/csrc/api/include"]
    bridge = layout.bridge_path(torch.__version__)
    libraries = [bridge, f"-L{BUILD / 'lib'}", "-lmindtorch", "-lfmt", f"-L{folder / 'lib'}", "-ltorch", "-ltorch_cpu", "-lc10"]
    paths = [f"-Wl,-rpath,{path}" for path in (bridge.parent, BUILD / "lib", folder / "lib")]
    command = ["c++", "-std=c++20", "-O1", *(f"-isystem{path}" for path in includes), source, *libraries, *paths]
    subprocess.run([*command, "-Wl,--no-as-needed", "-o", tmp_path / "train"], check=True)
    done = subprocess.run([tmp_path / "train", tmp_path / "trace.json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "aten::addmm" in done.stdout
    assert done.stderr == ""
    names = Counter(event["name"] for event in json.loads((tmp_path / "trace.json").read_text())["traceEvents"])
    assert names["forward"] == names["ProfilerStep#2"] * 3 == 3
    assert names["aten::addmm"] == 6
    assert names["AddmmBackward0"] == 6
    subprocess.run([program("mtprof"), "validate", tmp_path / "trace.json"], check=True)
