"""Calls functions in a thread of another process, with ptrace. The thread stands still meanwhile, and goes on as if nothing had happened.

Only x86-64 Linux is supported: the registers of a call are known here for that alone.
"""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import struct
import time

_CONTINUE, _DETACH, _GET_REGISTERS, _SET_REGISTERS, _SEIZE, _INTERRUPT = 7, 17, 0x4204, 0x4205, 0x4206, 0x4207
_STOPPED_BY_US = 128  # PTRACE_EVENT_STOP
_ALL_THREADS = 0x40000000  # __WALL
_GENERAL, _EXTENDED = 1, 0x202  # NT_PRSTATUS, NT_X86_XSTATE: floating point and vectors
_NAMES = "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss fs_base gs_base ds es fs gs".split()
_ARGUMENTS = ("rdi", "rsi", "rdx", "rcx", "r8", "r9")
_LAYOUT = f"<{len(_NAMES)}Q"
_WORD = (1 << 64) - 1
_RED_ZONE = 128  # bytes below the stack pointer that a function may use without moving it
_LONGEST_CALL_S = 2.0
_SIGNALS = set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.restype = ctypes.c_long
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def is_supported() -> bool:
    return platform.machine() == "x86_64" and ctypes.sizeof(ctypes.c_void_p) == 8


class _Buffer(ctypes.Structure):  # struct iovec
    _fields_ = (("base", ctypes.c_void_p), ("size", ctypes.c_size_t))


def _ptrace(request: int, thread: int, address: int | None = None, data: int | None = None) -> None:
    if _libc.ptrace(request, thread, address, data) == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


class StoppedThread:
    """A thread of another process that stands still for the time of a block. All use is by one thread of this process.

    Raises PermissionError if the system forbids it, and ProcessLookupError if the thread is gone or ends meanwhile. Signals to this process
    wait until the block is over: a thread that were left with the registers of a call would crash its process.
    """

    def __init__(self, process: int, thread: int):
        self._process, self._thread = process, thread
        self._signals: list[int] = []  # arrived while the thread was ours; the process gets them when it goes on

    def __enter__(self) -> StoppedThread:
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            _ptrace(_SEIZE, self._thread)
        except BaseException:
            signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
            raise
        try:
            self._interrupt()
            self._general, self._extended = self._read(_GENERAL), self._read(_EXTENDED)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        try:
            _ptrace(_DETACH, self._thread)
            for number in self._signals:
                os.kill(self._process, number)
        except ProcessLookupError:
            pass  # it has ended
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)

    @property
    def system_call(self) -> tuple[int, tuple[int, ...]] | None:
        """The number and the arguments of the system call that the thread waits in, or None if it computes."""
        registers = self._registers()
        number = registers["orig_rax"]
        if number == _WORD:
            return None
        return number, tuple(registers[name] for name in ("rdi", "rsi", "rdx", "r10", "r8", "r9"))

    @property
    def scratch(self) -> int:
        """The address of 64 bytes on the thread's stack that a function may be given to write to."""
        return self._own_stack + 16

    @property
    def _own_stack(self) -> int:
        """Where the stack of a call begins: below everything that the thread may have on it, and aligned as a function expects it."""
        return ((self._registers()["rsp"] - 2 * _RED_ZONE) & ~15) - 8

    def call(self, function: int, *arguments: int) -> int:
        """Calls a function of at most six whole numbers and returns its result. The function must not need a lock that the thread may hold.

        Raises TimeoutError if it does not return: the thread then goes on where it was.
        """
        registers = self._registers()
        registers.update(zip(_ARGUMENTS, (argument & _WORD for argument in arguments), strict=False))
        stack = self._own_stack
        # The function returns to address 0, where the thread stops with a fault. A system call that was interrupted must not begin again
        # before the registers are its own, so the number of that call is taken away.
        self.write(stack, bytes(8))
        registers.update(rsp=stack, rip=function, rax=0, orig_rax=_WORD)
        self._write(_GENERAL, struct.pack(_LAYOUT, *(registers[name] for name in _NAMES)))
        try:
            _ptrace(_CONTINUE, self._thread)
            if not self._wait(stop=signal.SIGSEGV):
                self._interrupt()
                raise TimeoutError(f"thread {self._thread} does not return from a call")
            after = dict(zip(_NAMES, struct.unpack(_LAYOUT, self._read(_GENERAL)), strict=True))
            if after["rip"] != 0:
                raise RuntimeError(f"the call faulted at {after['rip']:#x}")
            return after["rax"]
        finally:
            self._write(_EXTENDED, self._extended)
            self._write(_GENERAL, self._general)

    def write(self, address: int, data: bytes) -> None:
        """Also to memory that the process itself may only read or run."""
        with open(f"/proc/{self._thread}/mem", "r+b", buffering=0) as memory:
            memory.seek(address)
            memory.write(data)

    def read_word(self, address: int) -> int:
        with open(f"/proc/{self._thread}/mem", "rb", buffering=0) as memory:
            memory.seek(address)
            return int.from_bytes(memory.read(8), "little")

    def _registers(self) -> dict[str, int]:
        return dict(zip(_NAMES, struct.unpack(_LAYOUT, self._general), strict=True))

    def _interrupt(self) -> None:
        _ptrace(_INTERRUPT, self._thread)
        if not self._wait(stop=_STOPPED_BY_US):
            raise TimeoutError(f"thread {self._thread} does not stop: it may wait for a disk or a device in the kernel")

    def _wait(self, stop: int) -> bool:
        """Waits for one kind of stop; whether it came in time. Signals that arrive before are kept for later."""
        deadline = time.monotonic() + _LONGEST_CALL_S
        while True:
            thread, status = os.waitpid(self._thread, _ALL_THREADS | os.WNOHANG)
            if thread == 0:
                if time.monotonic() > deadline:
                    return False
                time.sleep(0.0001)
                continue
            if not os.WIFSTOPPED(status):
                raise ProcessLookupError(f"thread {self._thread} has ended")
            number, event = os.WSTOPSIG(status), status >> 16
            if stop in (number, event):
                return True
            if event == 0:
                self._signals.append(number)
            _ptrace(_CONTINUE, self._thread)

    def _read(self, kind: int) -> bytes:
        data = ctypes.create_string_buffer(1 << 14)
        buffer = _Buffer(ctypes.addressof(data), len(data))
        _ptrace(_GET_REGISTERS, self._thread, kind, ctypes.addressof(buffer))
        return data.raw[: buffer.size]

    def _write(self, kind: int, registers: bytes) -> None:
        data = ctypes.create_string_buffer(registers, len(registers))
        buffer = _Buffer(ctypes.addressof(data), len(registers))
        _ptrace(_SET_REGISTERS, self._thread, kind, ctypes.addressof(buffer))
