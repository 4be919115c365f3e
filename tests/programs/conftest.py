"""Shared by the tests of programs."""

import importlib.util
import os
from pathlib import Path

import pytest


@pytest.fixture(scope="package", autouse=True)
def site():
    """The Python of every program runs site/sitecustomize.py when it starts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent / "site"), os.environ["PYTHONPATH"]]))
        yield


@pytest.fixture(scope="session")
def skip_without():
    """A function that skips the test where a library is not installed. The process of the tests does not import it."""

    def skip(library):
        if importlib.util.find_spec(library) is None:
            pytest.skip(f"{library} is not installed (./dev test --programs installs it)")

    return skip
