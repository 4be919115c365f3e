"""A training loop on the reference NPU, in a process of its own: its memory timeline, its table and its trace."""

import itertools
import json
import re

import pytest

PROGRAM = """
import mindtorch_v2 as torch
from mindtorch_v2.profiler import profile

with profile(record_shapes=True, profile_memory=True, with_stack=True) as prof:
    layer = torch.nn.Linear(64, 64).to("npu")
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)
    for _ in range(3):
        optimizer.zero_grad()
        layer(torch.ones((32, 64), device="npu")).sum().backward()
        optimizer.step()
        prof.step()
    torch.npu.synchronize()
    peak = torch.npu.max_memory_allocated()
folder = {folder!r}
prof.export_memory_timeline(folder + "/timeline.html", device="npu:0")
prof.export_memory_timeline(folder + "/timeline.json")
prof.export_chrome_trace(folder + "/trace.json")
with open(folder + "/table.txt", "w") as file:
    file.write(prof.key_averages().table(sort_by="self_npu_time_total", row_limit=-1))
print(peak)
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return tmp_path_factory.mktemp("npu")


@pytest.fixture
def trained(written, run_program):
    """The folder of what the program has written, and the most bytes that it had on the NPU; the program runs once."""
    peak = written / "peak"
    if not peak.exists():
        peak.write_text(run_program(PROGRAM.format(folder=str(written)), MINDTORCH_NPU="reference"))
    return written, int(peak.read_text())


# Rule: memory.peak
def test_the_memory_timeline_is_that_of_the_npu_unless_told_otherwise_and_names_its_categories(trained):
    folder, peak = trained
    page = (folder / "timeline.html").read_text().lower()
    assert [name for name in ("parameter", "optimizer state", "activation", "gradient") if name not in page] == []
    times, sizes = json.loads((folder / "timeline.json").read_text())
    assert times == sorted(times) and max(map(sum, sizes)) == peak


# Rule: table.shares
def test_no_share_of_the_table_exceeds_100_and_header_and_cells_agree(trained):
    lines = (trained[0] / "table.txt").read_text().splitlines()
    rule = next(line for line in lines if line.startswith("-"))
    starts = [match.start() for match in re.finditer("-+", rule)]
    header = lines[lines.index(rule) + 1]
    columns = [header[start:end].strip() for start, end in itertools.zip_longest(starts, starts[1:])]
    assert {"Self NPU", "Self NPU %", "NPU total", "NPU time avg", "NPU Mem", "Self NPU Mem"} <= set(columns)
    rows = [line for line in lines[lines.index(rule) + 3 :] if line and not line.startswith(("-", "Self", "Total"))]
    assert rows
    for row in rows:
        cells = [row[start:end].strip() for start, end in itertools.zip_longest(starts, starts[1:])]
        assert all(cells)
        assert all(
            cell == "--" or 0 <= float(cell.rstrip("%")) <= 100 for cell, column in zip(cells, columns, strict=True) if "%" in column
        )


# Rule: trace.valid
def test_tracks_of_the_npu_have_small_positive_ids_and_no_overlaps(trained):
    events = [event for event in json.loads((trained[0] / "trace.json").read_text())["traceEvents"] if event["ph"] == "X"]
    kernels = [event for event in events if event["cat"] == "kernel"]
    assert kernels
    assert all(0 < event["tid"] < 2**31 for event in kernels)
    for _, track in itertools.groupby(sorted(kernels, key=lambda e: (e["tid"], e["ts"])), key=lambda e: e["tid"]):
        for one, next_one in itertools.pairwise(track):
            assert round((one["ts"] + one["dur"]) * 1000) <= round(next_one["ts"] * 1000)
