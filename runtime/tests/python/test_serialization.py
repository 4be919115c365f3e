"""save and load: data only, whole files, clear refusals."""

import io
import json
import math
import os
import pickle
import zipfile

import mindtorch_v2 as torch
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mindtorch_v2 import nn


def tree(depth=2):
    leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
    if depth == 0:
        return leaves
    inner = tree(depth - 1)
    return (
        leaves
        | st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3)
    )


@settings(max_examples=100, deadline=None)
@given(value=tree())
def test_what_is_saved_comes_back(value):
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    loaded = torch.load(file)
    assert loaded == value and repr(loaded) == repr(value)


@pytest.mark.parametrize("kind", ["float32", "float64", "int64", "int32", "uint8", "bool"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3)])
def test_tensors_of_every_type_come_back(tmp_path, kind, shape):
    x = torch.randint(2, shape).to(getattr(torch, kind))
    torch.save({"x": x, "t": x.t() if x.dim() == 2 else x}, tmp_path / "x.pt")
    loaded = torch.load(tmp_path / "x.pt")
    assert loaded["x"].dtype is x.dtype and loaded["x"].shape == x.shape and torch.equal(loaded["x"], x)
    if x.dim() == 2:
        assert torch.equal(loaded["t"], x.t())


def test_special_numbers_come_back(tmp_path):
    torch.save([math.inf, -math.inf, math.nan, -0.0, 2**80], tmp_path / "n.pt")
    a, b, c, d, e = torch.load(tmp_path / "n.pt")
    assert a == math.inf and b == -math.inf and math.isnan(c) and math.copysign(1, d) == -1 and e == 2**80


def test_training_goes_on_from_a_file(tmp_path):
    def build():
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
        return model, torch.optim.AdamW(model.parameters(), lr=0.05)

    def step(model, optimizer):
        optimizer.zero_grad()
        (model(torch.arange(6.0).reshape(2, 3)) ** 2).sum().backward()
        optimizer.step()

    model, optimizer = build()
    for _ in range(3):
        step(model, optimizer)
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}, tmp_path / "checkpoint.pt")
    other, other_optimizer = build()
    saved = torch.load(tmp_path / "checkpoint.pt")
    assert saved["epoch"] == 3
    other.load_state_dict(saved["model"])
    other_optimizer.load_state_dict(saved["optimizer"])
    for _ in range(3):
        step(model, optimizer)
        step(other, other_optimizer)
    for a, b in zip(model.state_dict().values(), other.state_dict().values(), strict=True):
        assert torch.equal(a, b)


def test_parameters_and_shared_tensors_stay_what_they_were(tmp_path):
    x = torch.ones(1000)
    parameter = nn.Parameter(torch.zeros(2))
    torch.save([x, x, parameter, torch.ones(1, requires_grad=True)], tmp_path / "s.pt")
    assert os.path.getsize(tmp_path / "s.pt") < 2 * 4000
    a, b, p, g = torch.load(tmp_path / "s.pt")
    assert a is b and isinstance(p, nn.Parameter) and p.requires_grad and g.requires_grad and not a.requires_grad


def test_objects_with_code_are_neither_saved_nor_loaded(tmp_path):
    with pytest.raises(TypeError, match=r"cannot save object\['f'\] of type function"):
        torch.save({"f": lambda: None}, tmp_path / "f.pt")
    assert list(tmp_path.iterdir()) == []

    class Evil:
        def __reduce__(self):
            return os.system, ("touch /tmp/mindtorch_evil",)

    (tmp_path / "evil.pt").write_bytes(pickle.dumps(Evil()))
    with pytest.raises(ValueError, match="Files of pickled objects are refused"):
        torch.load(tmp_path / "evil.pt")
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as archive:
        archive.writestr("data.pkl", pickle.dumps(Evil()))
    with pytest.raises(ValueError, match="was not written by mindtorch_v2.save"):
        torch.load(tmp_path / "evil.zip")
    assert not os.path.exists("/tmp/mindtorch_evil")


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "x.pt"
    torch.save(1, path)
    with pytest.raises(TypeError):
        torch.save(object(), path)
    assert torch.load(path) == 1 and len(list(tmp_path.iterdir())) == 1
    with pytest.raises(FileNotFoundError):
        torch.save(1, tmp_path / "no" / "folder.pt")
    with pytest.raises(FileNotFoundError):
        torch.load(tmp_path / "nothing.pt")


def test_save_keeps_links_modes_and_everything_that_is_not_a_file(tmp_path):
    torch.save(1, tmp_path / "x.pt")
    (tmp_path / "x.pt").chmod(0o640)
    (tmp_path / "link.pt").symlink_to("x.pt")
    torch.save(2, tmp_path / "link.pt")
    assert (tmp_path / "link.pt").is_symlink() and torch.load(tmp_path / "x.pt") == 2
    assert (tmp_path / "x.pt").stat().st_mode & 0o7777 == 0o640
    os.mkfifo(tmp_path / "fifo.pt")
    with pytest.raises(OSError, match="it is a FIFO"):
        torch.save(1, tmp_path / "fifo.pt")
    (tmp_path / "null.pt").symlink_to("/dev/null")
    torch.save(1, tmp_path / "null.pt")
    assert (tmp_path / "null.pt").is_char_device()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fifo.pt", "link.pt", "null.pt", "x.pt"]


def test_newer_and_damaged_files_are_refused(tmp_path):
    path = tmp_path / "x.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data.json", json.dumps({"format": "mindtorch-data", "version": 99, "object": None}))
    with pytest.raises(ValueError, match="newer version"):
        torch.load(path)
    torch.save(torch.ones(100), path)
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(ValueError, match="cannot load"):
        torch.load(path)


def test_the_file_can_be_read_by_anyone(tmp_path):
    torch.save({"w": torch.tensor([1.0, 2.0])}, tmp_path / "x.pt")
    with zipfile.ZipFile(tmp_path / "x.pt") as archive:
        (key, value) = json.loads(archive.read("data.json"))["object"]["dict"][0]
        import numpy as np

        assert key == "w" and np.frombuffer(archive.read(value["tensor"]["entry"]), dtype=value["tensor"]["dtype"]).tolist() == [1.0, 2.0]
