"""For how long a thread has waited for a processor."""

from __future__ import annotations

import threading


def run_delay_ns(thread: int | None = None) -> int | None:
    """For how long a thread of this process was ready to run without a processor so far; None where the kernel does not tell.

    `thread` is the number that the system gives it; the calling thread without one.
    """
    try:
        with open(f"/proc/self/task/{thread or threading.get_native_id()}/schedstat", "rb", buffering=0) as file:
            return int(file.read(64).split()[1])
    except (OSError, ValueError, IndexError):
        return None
