"""export_memory_timeline: its flags, devices, categories and formats."""

import json

import mindtorch_v2 as torch
import pytest
from mindtorch_v2.profiler import profile

# Rule: memory.timeline


def test_a_memory_timeline_without_the_flags_is_refused(tmp_path):
    with profile() as prof:
        pass
    with pytest.raises(ValueError) as refused:
        prof.export_memory_timeline(tmp_path / "timeline.json")
    assert str(refused.value) == "record_shapes=True, profile_memory=True, with_stack=True required for memory profiling."


def test_with_the_flags_there_is_a_real_memory_timeline(tmp_path):
    with profile(record_shapes=True, profile_memory=True, with_stack=True) as prof:
        kept = [torch.ones((256, 256)) for _ in range(4)]
    prof.export_memory_timeline(tmp_path / "timeline.json", device="cpu")
    times, sizes = json.loads((tmp_path / "timeline.json").read_text())
    assert len(times) == len(sizes) > 0 and times == sorted(times)
    assert max(sum(row) for row in sizes) >= len(kept) * 256 * 256 * 4


@pytest.mark.parametrize("suffix", [".html", ".json", ".json.gz", ".raw.json.gz"])
def test_a_memory_timeline_needs_no_device_named_and_its_suffix_chooses_the_format(suffix, tmp_path):
    with profile(record_shapes=True, profile_memory=True, with_stack=True) as prof:
        kept = torch.ones((256, 256)) * 2
    path = tmp_path / f"timeline{suffix}"
    prof.export_memory_timeline(path)
    start = {".html": b"<", ".json": b"["}.get(suffix, b"\x1f\x8b")
    assert path.read_bytes().lstrip().startswith(start) and kept.shape == (256, 256)


# Rule: memory.peak


def test_a_memory_timeline_works_without_a_gpu_and_names_its_categories(tmp_path):
    with profile(record_shapes=True, profile_memory=True, with_stack=True) as prof:
        layer = torch.nn.Linear(64, 64)
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)
        layer(torch.ones((32, 64))).sum().backward()
        optimizer.step()
    prof.export_memory_timeline(tmp_path / "timeline.html", device="cpu")
    page = (tmp_path / "timeline.html").read_text().lower()
    assert [name for name in ("parameter", "optimizer state", "activation", "gradient") if name not in page] == []


def test_a_memory_timeline_of_no_device_is_refused(tmp_path):
    with profile(record_shapes=True, profile_memory=True, with_stack=True) as prof:
        pass
    for device in ("cpu:x", "tpu", "xpu:0", ""):
        with pytest.raises(ValueError):
            prof.export_memory_timeline(tmp_path / "timeline.json", device=device)
