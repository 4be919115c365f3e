"""Recorded events can be pickled and copied."""

import copy
import pickle

import mindtorch_v2 as torch
import pytest
from mindtorch_v2.profiler import profile, record_function

VALUES = "id name thread input_shapes stack scope sequence_nr device_type count cpu_memory_usage".split()
TIMES = "cpu_time_total", "self_cpu_time_total"


def pickled(value):
    return pickle.loads(pickle.dumps(value))


@pytest.fixture
def events():
    with profile(record_shapes=True, with_stack=True, profile_memory=True) as prof, record_function("scope"):
        torch.ones((2, 2)).sum()
    return prof.events()


@pytest.mark.parametrize("copied", [pickled, copy.copy, copy.deepcopy])
def test_a_copy_has_the_values_of_the_event(events, copied):
    for event in events:
        twin = copied(event)
        assert [getattr(twin, name) for name in VALUES] == [getattr(event, name) for name in VALUES]
        assert [getattr(twin, name) for name in TIMES] == pytest.approx([getattr(event, name) for name in TIMES])
        assert [child.name for child in twin.cpu_children] == [child.name for child in event.cpu_children]
        assert all(child.cpu_parent is twin for child in twin.cpu_children)


def test_a_pickled_list_has_the_same_table(events):
    twin = pickled(events)
    assert len(twin) == len(events)
    assert [row.key for row in pickled(events.key_averages())] == [row.key for row in events.key_averages()]
    assert [event.name for event in twin] == [event.name for event in events]


def test_a_copy_outlives_its_profile(events):
    twins = [copy.copy(event) for event in events]
    names = [event.name for event in events]
    del events
    assert [twin.name for twin in twins] == names
