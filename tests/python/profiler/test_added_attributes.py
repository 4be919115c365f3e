"""Events and rows as dictionaries of their attributes, and attributes that a program adds to them."""

import copy
import gc
import pickle
import weakref

import pytest
from profiles import record_ops


@pytest.fixture(params=["event", "event of an iteration", "event of a list", "child", "row"])
def item(request, prof):
    """An event or a row, each made in another way."""
    events = prof.events()
    return {
        "event": lambda: events[0],
        "event of an iteration": lambda: next(iter(events)),
        "event of a list": lambda: events.data[0],
        "child": lambda: events[0].cpu_children[0],
        "row": lambda: prof.key_averages()[0],
    }[request.param]()


def test_the_dictionary_has_the_values_of_the_attributes(item):
    values = vars(item)
    assert {"cpu_parent", "flops", "input_shapes"} < set(values)
    assert {name: str(value) for name, value in values.items()} == {name: str(getattr(item, name)) for name in values}
    assert values == item.__dict__


def test_the_dictionary_of_a_row_follows_what_is_set(prof):
    row = prof.key_averages()[0]
    assert vars(row)["count"] == 1
    row.count = 7
    assert vars(row)["count"] == 7


def test_dictionaries_make_a_data_frame(prof):
    pandas = pytest.importorskip("pandas")
    rows = prof.key_averages()
    frame = pandas.DataFrame([row.__dict__ for row in rows])
    assert list(frame["key"]) == [row.key for row in rows] and list(frame["count"]) == [1, 2, 1]
    assert list(frame["cpu_time_total"]) == [row.cpu_time_total for row in rows]


def test_an_attribute_can_be_added_changed_and_removed(item):
    assert not hasattr(item, "my_field")
    item.my_field = 1
    item.my_field += 1
    vars(item)["other_field"] = 3
    assert (item.my_field, item.other_field) == (2, 3) and vars(item)["my_field"] == 2
    del item.my_field
    assert not hasattr(item, "my_field") and "my_field" not in vars(item)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda item: pickle.loads(pickle.dumps(item))])
def test_copies_have_the_added_attributes(item, copied):
    item.my_field = [1]
    vars(item)
    twin = copied(item)
    assert twin.my_field == [1]
    assert (twin.my_field is item.my_field) == (copied is copy.copy)
    assert set(vars(item)) <= set(vars(twin))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda item: pickle.loads(pickle.dumps(item))])
def test_an_added_attribute_may_refer_to_its_own_object(item, copied):
    item.me, item.places = item, {"mine": [item]}
    twin = copied(item)
    assert twin is not item and twin.me is twin.places["mine"][0] is twin


def test_attributes_of_an_event_cannot_be_set(prof):
    event = prof.events()[0]
    with pytest.raises(AttributeError):
        event.name = "renamed"
    assert event.name == "outer"


@pytest.mark.parametrize("make", [lambda prof: prof.events()[0], lambda prof: prof.key_averages()[0]])
def test_an_object_that_refers_to_itself_is_freed_with_its_profile(op, make):
    class Probe:
        pass

    prof = record_ops(op)
    item = make(prof)
    item.me, item.probe = item, Probe()
    probe = weakref.ref(item.probe)
    del item, prof
    gc.collect()
    assert probe() is None


def test_the_collector_does_not_walk_events_without_added_attributes(prof):
    events = prof.events().data
    assert not any(map(gc.is_tracked, events))
    events[0].my_field = 1
    vars(events[1])
    assert list(map(gc.is_tracked, events)) == [True, True, False, False]
