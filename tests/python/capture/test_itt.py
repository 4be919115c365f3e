"""ITT markers: programs that have them run, and learn why they do nothing."""

import sys

from mindtorch_v2.profiler import itt


def test_without_torch_it_says_that_it_is_not_there_and_why(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.profiler.itt", None)
    assert itt.is_available() is False
    assert "ITT" in itt.reason


def test_without_torch_the_calls_do_nothing(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.profiler.itt", None)
    assert itt.range_push("x") == itt.range_pop()
    itt.mark("x")
    with itt.range("step {}", 3):
        pass


def test_it_has_torchs_names():
    assert {"is_available", "mark", "range", "range_pop", "range_push"} <= set(itt.__all__)
