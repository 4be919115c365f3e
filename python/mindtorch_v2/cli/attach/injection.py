"""Lets another process run a line of Python, without anything in it that was prepared for that.

Two ways lead there. A thread that computes gets a pending call, which CPython makes on the main thread between two instructions of its byte
code. If the main thread waits in the kernel, it may not be there for hours; the wait shows that it holds no lock of the C library, so it
can start another thread that takes the GIL and runs the line.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

from mindtorch_v2.cli.attach.symbols import addresses
from mindtorch_v2.cli.attach.tracing import StoppedThread

_FUNCTIONS = (
    "Py_AddPendingCall",
    "PyRun_SimpleString",
    "PyGILState_Ensure",
    "PyGILState_Release",
    "mmap",
    "munmap",
    "pthread_create",
    "pthread_detach",
)
_READ_AND_RUN, _PRIVATE_MEMORY = 5, 0x22  # PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS
_FAILED = (1 << 64) - 1
_CODE_AT, _LINE_AT, _SIZE = 0, 256, 1 << 13

_FUTEX = 202
# Of futex's operations, the C library waits for its own locks with FUTEX_WAIT, and for semaphores and conditions, which are Python's
# locks, with this one.
_WAIT_FOR_CONDITION, _OPERATION = 9, 0x7F
# Calls that a program waits in while it holds no lock of the C library: read, poll, select, pause, nanosleep, accept, recvfrom, recvmsg,
# wait4, rt_sigtimedwait, restart_syscall, clock_nanosleep, epoll_wait, waitid, pselect6, ppoll, epoll_pwait, accept4, epoll_pwait2.
_WAITS = frozenset({0, 7, 23, 34, 35, 43, 45, 47, 61, 128, 219, 230, 232, 247, 270, 271, 281, 288, 441})


class NotPythonError(Exception):
    """The process is no Python process, or its interpreter was built without the symbols that are needed."""


class Injection:
    """One line of Python in one process. It may be run more than once, so it has to know whether it ran before."""

    def __init__(self, process: int, line: str):
        self._process = process
        self._line = line.encode() + b"\0"
        if len(self._line) > _SIZE - _LINE_AT:
            raise ValueError("the line is too long")
        self._functions = addresses(process, _FUNCTIONS)
        if missing := [name for name in _FUNCTIONS if name not in self._functions]:
            raise NotPythonError(f"it has no {missing[0]}")
        self._memory = 0
        self._is_pending = False

    def ask_main_thread(self) -> bool:
        """Asks for the line by the way that fits what the main thread does. False if it is at a place where it cannot be asked."""
        return self._ask(self._process, may_compute=True)

    def ask_another_thread(self) -> bool:
        """Asks for the line in a new thread, through any thread that waits in the kernel."""
        threads = sorted(int(path.name) for path in Path(f"/proc/{self._process}/task").iterdir())
        return any(self._ask(thread, may_compute=False) for thread in threads)

    def _ask(self, thread: int, *, may_compute: bool) -> bool:
        with StoppedThread(self._process, thread) as stopped:
            call = stopped.system_call
            if call is not None and _holds_no_lock(*call):
                return self._start_thread(stopped)
            if may_compute and call is None:
                self._map(stopped)
                run, line = self._functions["PyRun_SimpleString"], self._memory + _LINE_AT
                self._is_pending = stopped.call(self._functions["Py_AddPendingCall"], run, line) & 0xFFFFFFFF == 0
                return self._is_pending
            return False

    def _start_thread(self, stopped: StoppedThread) -> bool:
        self._map(stopped)
        stopped.write(self._memory + _CODE_AT, self._code_of_thread())
        identity = stopped.scratch
        status = stopped.call(self._functions["pthread_create"], identity, 0, self._memory + _CODE_AT, 0)
        if status & 0xFFFFFFFF != 0:
            return False  # the process has too many threads
        stopped.call(self._functions["pthread_detach"], stopped.read_word(identity))
        return True

    def _map(self, stopped: StoppedThread) -> None:
        """Puts the line into memory of the process, with room for the code that runs it."""
        if self._memory:
            return
        memory = stopped.call(self._functions["mmap"], 0, _SIZE, _READ_AND_RUN, _PRIVATE_MEMORY, -1, 0)
        if memory == _FAILED:
            raise MemoryError("the process can map no more memory")
        self._memory = memory
        stopped.write(memory + _LINE_AT, self._line)

    def _code_of_thread(self) -> bytes:
        """The function of the new thread: state = PyGILState_Ensure(); PyRun_SimpleString(line); PyGILState_Release(state); return NULL."""

        def load(register: bytes, value: int) -> bytes:
            return register + struct.pack("<Q", value)

        rax, rdi, call_rax = b"\x48\xb8", b"\x48\xbf", b"\xff\xd0"
        return b"".join(
            (
                b"\x53",  # push rbx: it keeps the state, and the stack is aligned from here on
                load(rax, self._functions["PyGILState_Ensure"]) + call_rax,
                b"\x89\xc3",  # mov ebx, eax
                load(rdi, self._memory + _LINE_AT),
                load(rax, self._functions["PyRun_SimpleString"]) + call_rax,
                b"\x89\xdf",  # mov edi, ebx
                load(rax, self._functions["PyGILState_Release"]) + call_rax,
                b"\x31\xc0\x5b\xc3",  # xor eax, eax; pop rbx; ret
            )
        )

    def clean_up(self, *, has_run: bool) -> None:
        """Gives the memory back, if nothing can need it any more. To be called when the thread that ran the line has ended."""
        if not self._memory or (self._is_pending and not has_run):
            return
        with StoppedThread(self._process, self._process) as stopped:
            stopped.call(self._functions["munmap"], self._memory, _SIZE)
        self._memory = 0


def _holds_no_lock(number: int, arguments: tuple[int, ...]) -> bool:
    if number == _FUTEX:
        return arguments[1] & _OPERATION == _WAIT_FOR_CONDITION
    return number in _WAITS


def once(text_file: str) -> str:
    """The line that runs a file of Python the first time it is asked to, and leaves no name in the program."""
    if sys.platform != "linux":
        raise NotPythonError("only Linux is supported")
    program = (
        f"try: exec(compile(open({text_file!r}).read(), {text_file!r}, 'exec'), dict(__name__='mtprof_attach'))\nexcept Exception: pass"
    )
    return f"exec({program!r}, {{}})"
