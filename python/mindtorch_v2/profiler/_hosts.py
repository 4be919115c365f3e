"""The hosts that are recorded: they are activated if they are present, and status() reports them."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from mindtorch_v2 import _C, torch_bridge
from mindtorch_v2.base.warnings import warn
from mindtorch_v2.capture import nvtx

__all__ = ["ProfilerStatus", "activate_hosts", "status"]


_told = set()  # warnings that have been given: once is enough


def activate_hosts() -> None:
    """Activates the recording of PyTorch's ops if the program uses PyTorch. Builds the bridge if there is none, and warns if it cannot."""
    if "torch" not in sys.modules:
        return
    state = torch_bridge.activate()
    if state.startswith("inactive: ") and state not in _told:
        _told.add(state)
        warn(f"PyTorch is imported, but its ops are not recorded: {state.removeprefix('inactive: ')}")


@dataclass(frozen=True)
class ProfilerStatus:
    """The hosts and the sources that can be recorded in this process; str() gives a report."""

    recording: bool  # a profile records now
    clock: str
    hosts: list[str]  # runtimes whose ops are recorded
    bridges: dict[str, str]  # to PyTorch and to NVTX: "active: ...", or why not and what to do about it
    sources: list[_C.SourceStatus]  # who watches which device, or why not

    def __str__(self):
        lines = [f"recording: {'yes' if self.recording else 'no'}", f"clock: {self.clock}", f"hosts: {', '.join(self.hosts) or 'none'}"]
        lines += [f"{name}: {state}" for name, state in self.bridges.items()]
        for source in self.sources:
            state = "available" if source.available else f"not available: {source.reason}"
            lines.append(f"{source.activity.name} ({source.name}): {state}" + (f"; {source.advice}" if source.advice else ""))
        return "\n".join(lines)


def status() -> ProfilerStatus:
    """The hosts and the sources of device activities that can be recorded in this process, and why others are not available."""
    bridges = {"torch": torch_bridge.activate_if_possible(), "nvtx": nvtx.state()}
    recording, clock, hosts, sources = _C.profiler_status()
    return ProfilerStatus(recording, clock, hosts, bridges, sources)
