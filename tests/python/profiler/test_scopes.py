"""Scopes of record_function among the events of a profile."""

import pytest
from mindtorch_v2.profiler import profile, record_function
from profiles import names

# Rule: scopes.nesting


def test_scopes_nest_and_are_listed_outer_before_inner():
    with profile() as prof, record_function("outer"), record_function("inner"):
        pass
    assert names(prof, "scope") == ["outer", "inner"]


def test_a_scope_is_closed_by_an_exception():
    with profile() as prof:
        with pytest.raises(ZeroDivisionError), record_function("fails"):
            raise ZeroDivisionError
        with record_function("after"):
            pass
    fails, after = [event for event in prof.events() if event["kind"] == "scope"]
    assert fails["end_ns"] <= after["start_ns"]
