"""Who is recorded: hosts that are switched on when they are there, and what status() says about them."""

import sys
from importlib.util import find_spec

from mindtorch_v2 import _C

__all__ = ["activate_hosts", "status"]


def activate_hosts() -> None:
    """Lets PyTorch's ops be recorded if the program uses PyTorch and the bridge to it is installed."""
    if "torch" in sys.modules and find_spec("mindtorch_v2.torch_bridge") is not None:
        from mindtorch_v2 import torch_bridge

        torch_bridge.activate_if_possible()


def status() -> _C.ProfilerStatus:
    """What can be recorded in this process now: hosts, sources of device activities, and why the others are not available."""
    activate_hosts()
    return _C.profiler_status()
