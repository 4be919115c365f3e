"""How the tests of this folder record."""

from contextlib import contextmanager

import pytest


class Recorded:
    """What a block recorded; empty until the block has ended."""

    def __init__(self):
        self.events = []

    def named(self, name):
        return [event for event in self.events if event["name"] == name]

    def names(self):
        return [event["name"] for event in self.events]


@pytest.fixture
def record():
    """`with record(with_stack=True) as recorded:` records the block; afterwards `recorded.events` are its events."""
    from mindtorch_v2.profiler import profile

    @contextmanager
    def recording(**options):
        recorded = Recorded()
        prof = profile(**options)
        with prof:
            yield recorded
        recorded.events = list(prof.events())

    return recording
