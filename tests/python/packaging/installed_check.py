"""Run by ./dev wheel in an environment that holds the wheel and nothing of the sources: the package does what it promises there.

Its argument is the number of bridges to PyTorch that the wheel should contain.
"""

import json
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import mindtorch_v2 as torch
from mindtorch_v2.profiler import profile, record_function


def main():
    package = Path(torch.__file__).parent
    assert sys.prefix in str(package), f"not the installed package: {package}"
    with profile(record_shapes=True, with_stack=True) as prof, record_function("block"):
        x = torch.ones((4, 4), requires_grad=True)
        (x * x).sum().backward()
    names = [event["name"] for event in prof.events()]
    assert "block" in names, names
    assert any("mul" in name for name in names), names
    assert "Name" in prof.key_averages().table(sort_by="self_cpu_time_total")
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        prof.export_chrome_trace(str(trace))
        assert json.loads(trace.read_text())["traceEvents"]
        mtprof = Path(sysconfig.get_path("scripts")) / "mtprof"
        summary = subprocess.run([mtprof, "info", trace], capture_output=True, text=True, check=True).stdout
        assert summary, "mtprof says nothing"
    for path in ("lib/libmindtorch.so", "include/mindtorch/profiler/profile.h", "lib/cmake/mindtorch/mindtorch-config.cmake", "py.typed"):
        assert (package / path).exists(), f"{path} did not travel"
    bridges = list((package / "torch_bridge" / "ready").glob("*/libmindtorch_torch.so"))
    assert len(bridges) == int(sys.argv[1]), f"{len(bridges)} bridges to PyTorch travelled instead of {sys.argv[1]}"
    print(f"mindtorch_v2 {torch.__version__} works in {sys.prefix}: {len(names)} events recorded")


if __name__ == "__main__":
    main()
