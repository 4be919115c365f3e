"""What a monitor is told: wrong types and values are found where they are given, by the name of the argument."""

import math
import signal

import pytest
from mindtorch_v2.monitor.settings import parse_folder, parse_seconds, parse_signals, parse_size, parse_window
from mindtorch_v2.profiler import monitor

THINGS = [object(), [], {}, b"5m", 1j, "soon", "-5m", "", "\udcff", math.nan, math.inf, -math.inf, -1, 10**400, True]


@pytest.mark.parametrize("value", THINGS, ids=lambda value: repr(value)[:20])
@pytest.mark.parametrize("name", ["keep_last", "max_memory", "hang_after", "metrics_every", "pause", "max_cost", "slow_steps"])
def test_a_wrong_number_is_found_in_the_constructor(name, value):
    if name == "slow_steps" and value is True:
        return
    with pytest.raises((TypeError, ValueError), match=name):
        monitor(**{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("folder", 5),
        ("folder", None),
        ("folder", "a\0b"),
        ("on_trace_ready", "a"),
        ("on_trace_ready", []),
        ("signals", signal.SIGUSR1),
        ("signals", ["SIGUSR1"]),
        ("signals", [10**9]),
        ("signals", [signal.SIGKILL]),
        ("signals", None),
        ("handlers", print),
        ("handlers", ["a"]),
        ("handlers", None),
        ("clock", 5),
        ("clock", lambda: "now"),
        ("no_such_option", 1),
        ("schedule", None),
    ],
)
def test_a_wrong_thing_is_found_in_the_constructor(name, value):
    with pytest.raises((TypeError, ValueError), match=name):
        monitor(**{name: value})


def test_times_may_be_texts_as_for_keep_last():
    assert parse_seconds("hang_after", "5m") == 300 and parse_seconds("hang_after", 2.5) == 2.5
    mon = monitor(hang_after="5m", metrics_every="10s", pause="500ms")
    assert (mon._hang_after, mon._metrics_every, mon._pause) == (300.0, 10.0, 0.5)


def test_windows_and_sizes_are_texts_or_numbers():
    assert parse_window(7) == {"keep_last_steps": 7}
    assert parse_window("60s") == {"keep_last_seconds": 60.0}
    assert parse_window("1.5 min") == {"keep_last_seconds": 90.0}
    assert (
        parse_size("256MB") == 256 << 20 and parse_size("1.5g") == 3 << 29 and parse_size(4096) == 4096 and parse_size(" 2 TiB ") == 2 << 40
    )
    for wrong in ("60", "s", 0, "0s", True, "-1s"):
        with pytest.raises(ValueError, match="keep_last"):
            parse_window(wrong)
    with pytest.raises(ValueError, match="max_memory must be"):
        parse_size("many")


def test_signals_and_folders_are_what_the_system_takes(tmp_path, monkeypatch):
    assert parse_signals(iter([int(signal.SIGUSR1)])) == (signal.SIGUSR1,)
    monkeypatch.chdir(tmp_path)
    assert parse_folder("a") == str(tmp_path / "a") and parse_folder(b"/\xff") == "/\udcff"
