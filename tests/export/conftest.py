"""The sample recordings in every format, written once by the program make_traces."""

import subprocess

import pytest


@pytest.fixture(scope="session")
def traces(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("traces")
    subprocess.run([program("make_traces"), folder], check=True)
    return folder
