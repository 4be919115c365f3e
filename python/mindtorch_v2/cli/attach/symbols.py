"""Addresses of functions in another process, from the ELF files that it has loaded."""

from __future__ import annotations

import os
import re
import struct
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SYMBOL_TABLES = (2, 11)  # SHT_SYMTAB, SHT_DYNSYM
_LOADED = 1  # PT_LOAD
_FIXED_ADDRESS = 2  # ET_EXEC: addresses in the file are those in memory
_PAGE = 4096
# The interpreter may be the program itself or a library; the C library of glibc before 2.34 keeps pthread_create apart.
_LIBRARIES = re.compile(r"libpython3|libc[.-]|libpthread[.-]|ld-musl-")


def addresses(pid: int, names: Iterable[str]) -> dict[str, int]:
    """Where the process has these functions. One that is not found is missing."""
    wanted = set(names)
    found: dict[str, int] = {}
    program = os.readlink(f"/proc/{pid}/exe")
    for path, start in _loaded_files(pid):
        if path == program or _LIBRARIES.match(os.path.basename(path)):
            for name, address in _addresses_in(Path(f"/proc/{pid}/root{path}"), start, wanted):
                found.setdefault(name, address)
    return found


def _loaded_files(pid: int) -> Iterator[tuple[str, int]]:
    """The mapped files, each with the address where it begins."""
    seen = set()
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        fields = line.split(None, 5)
        if len(fields) == 6 and fields[5].startswith("/") and fields[5] not in seen:
            seen.add(fields[5])
            yield fields[5], int(fields[0].partition("-")[0], 16)


def _addresses_in(file: Path, start: int, wanted: set[str]) -> Iterator[tuple[str, int]]:
    """The defined symbols of a 64-bit file that is mapped from `start` on."""
    try:
        data = file.read_bytes()
    except OSError:
        return  # it was replaced or removed since the process loaded it
    if data[:5] != b"\x7fELF\x02":
        return
    kind = struct.unpack_from("<H", data, 16)[0]
    bias = 0 if kind == _FIXED_ADDRESS else start - _first_address(data)
    for name, address in _symbols(data):
        if name in wanted:
            yield name, bias + address


def _first_address(data: bytes) -> int:
    at = struct.unpack_from("<Q", data, 32)[0]
    size, count = struct.unpack_from("<HH", data, 54)
    headers = [struct.unpack_from("<IIQQ", data, at + size * i) for i in range(count)]
    return min(address for kind, _, _, address in headers if kind == _LOADED) // _PAGE * _PAGE


def _symbols(data: bytes) -> Iterator[tuple[str, int]]:
    at = struct.unpack_from("<Q", data, 40)[0]
    size, count = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQII", data, at + size * i) for i in range(count)]
    for _, kind, _, _, offset, length, link, _ in sections:
        if kind not in _SYMBOL_TABLES:
            continue
        names = sections[link][4]
        for name, _, _, section, value, _ in struct.iter_unpack("<IBBHQQ", data[offset : offset + length]):
            if section != 0:  # 0: the file uses it and another one defines it
                begin = names + name
                yield data[begin : data.index(b"\0", begin)].decode(errors="replace"), value
