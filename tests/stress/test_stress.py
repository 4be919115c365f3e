"""The stress program itself: a seed draws the same cases again, and a failure says how to run its case alone."""

import importlib
import sys
from pathlib import Path

import pytest


@pytest.fixture
def stress(monkeypatch):
    """The modules of the stress program, as it imports them itself; forgotten afterwards, because their names are plain words."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    yield importlib.import_module("stress")
    for name in set(sys.modules) - before:
        if Path(getattr(sys.modules[name], "__file__", None) or "/").parent == Path(__file__).parent:
            del sys.modules[name]


@pytest.fixture
def setup(stress):
    return stress.Setup(root=stress.ROOT, preset="dev", host="both")


def drawn(stress, setup, seed, number):
    case, _ = stress.draw(setup, seed, number)
    return case.name, case.host, case.random.random()


def test_a_seed_draws_the_same_cases_again_in_any_order(stress, setup):
    cases = [drawn(stress, setup, "seed", number) for number in range(100)]
    assert [drawn(stress, setup, "seed", number) for number in reversed(range(100))] == cases[::-1]
    assert [drawn(stress, setup, "other", number) for number in range(100)] != cases


def test_every_kind_is_drawn_once_before_one_is_drawn_again(stress, setup):
    kinds = stress.kinds_of(setup)
    names = {drawn(stress, setup, "seed", number)[:2] for number in range(len(kinds))}
    assert names == {(name, host) for name, host, _ in kinds}


def test_every_module_with_cases_is_drawn_from(stress):
    with_cases = {path.stem for path in Path(stress.__file__).parent.glob("*.py") if "\nCASES = [" in path.read_text()}
    assert with_cases == {module.__name__ for module in stress.MODULES}


def test_with_a_sanitizer_only_the_program_in_cpp_runs(stress):
    for preset in ("asan", "tsan"):
        setup = stress.Setup(root=stress.ROOT, preset=preset, host="both")
        assert [name for name, _, _ in stress.kinds_of(setup)] == ["recorder_in_cpp"]


def test_a_failure_prints_its_seed_its_case_and_the_command_that_runs_it_alone(stress, setup, monkeypatch, tmp_path, capsys):
    def fails(case):
        case.parameters["colour"] = "blue"
        raise stress.Failure("one and one are three")

    monkeypatch.setattr(stress, "draw", lambda setup, seed, number: (stress.Case(setup, "sums", number, "torch", None), fails))
    assert stress.run_case(setup, "abc", 7, tmp_path) is False
    printed = capsys.readouterr().out
    assert "FAILED case 7: sums (torch) of seed abc" in printed
    assert "'colour': 'blue'" in printed and "one and one are three" in printed
    assert "./dev stress --preset dev --host both --seed abc --case 7" in printed


def test_a_program_that_ends_by_a_signal_or_says_less_than_it_should_is_a_failure(stress, setup, tmp_path):
    case = stress.Case(setup, "ends", 0, "embedded", None)
    case.folder = tmp_path
    with pytest.raises(stress.Failure, match="expected exit status"):
        case.run([sys.executable, "-c", "import os; os.abort()"])
    with pytest.raises(stress.Failure, match="no answer"):
        _ = case.run([sys.executable, "-c", "print('hello')"]).answer
    assert case.run([sys.executable, "-c", "print('[1]')"]).answer == [1]
