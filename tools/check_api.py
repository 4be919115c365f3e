"""Checks the public interface of an installation: it has only the public headers and exports only the symbols that they mark.

Usage: check_api.py PREFIX [ROOT]. PREFIX is where `cmake --install` put the library, ROOT the tree it was built from. Prints a line for
each difference; exit status 1 if there is any.
"""

import re
import subprocess
import sys
from pathlib import Path

from check_layers import public_headers

# The bridge to PyTorch is a library of its own, compiled on the user's machine; its one header is installed with the rest.
BRIDGE_HEADER = "mindtorch/bridges/torch/bridge.h"
# The project next door, whose headers are installed beside ours: runtime/mindtorch/runtime/tensor.h is mindtorch/runtime/tensor.h.
NEXT_DOOR = "runtime/"

MARKED_CLASS = re.compile(r"\b(?:class|struct)\s+(?:\[\[[^\]]*\]\]\s*|alignas\([^)]*\)\s*)*MINDTORCH_EXPORT\s+(\w+)")
MARKED_VARIABLE = re.compile(r"MINDTORCH_EXPORT\s+extern\s[^;(]*?(\w+)\s*(?:;|__attribute__)")
MARKED_FUNCTION = re.compile(r"MINDTORCH_EXPORT\s+(?!extern\b)[^;{}(]*?(\w+|operator\S+)\s*\(")
ABI_TAG = re.compile(r"\[abi:\w+\]")
# Prefixes that nm puts before symbols that belong to a class or a function.
OF = re.compile(
    r"^(?:non-virtual thunk to |(?:vtable|typeinfo|typeinfo name|VTT|guard variable|TLS init function|TLS wrapper function) for )"
)


def header_differences(prefix, root):
    listed = set().union(*public_headers(root).values())
    expected = {BRIDGE_HEADER, *(header.removeprefix(NEXT_DOOR) for header in listed)}
    found = {path.relative_to(prefix / "include").as_posix() for path in (prefix / "include" / "mindtorch").rglob("*.h")}
    yield from (f"{header} is public, but it is not installed" for header in sorted(expected - found))
    yield from (f"{header} is installed, but no PUBLIC_HEADERS list it" for header in sorted(found - expected))


def marked_names(root):
    """The classes, functions and variables that public headers mark with MINDTORCH_EXPORT."""
    names = set()
    for header in set().union(*public_headers(root).values()):
        text = (root / header).read_text()
        for pattern in (MARKED_CLASS, MARKED_VARIABLE, MARKED_FUNCTION):
            names.update(pattern.findall(text))
    return names


def name_parts(symbol):
    """'vtable for mindtorch::trace::Recording' -> ['mindtorch', 'trace', 'Recording']; templates and parameters are dropped."""
    depth, name = 0, ""
    for character in ABI_TAG.sub("", OF.sub("", symbol)):
        if character == "<":
            depth += 1
        elif character == ">":
            depth -= 1
        elif depth == 0:
            if character == "(" and name and not name.endswith(":"):
                break
            name = "" if character == " " else name + character
    return name.split("::")


def exported_symbols(library):
    command = ["nm", "--dynamic", "--defined-only", "--demangle", library]
    for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
        yield line.split(maxsplit=2)[2]


def symbol_differences(prefix, root):
    libraries = [path for path in sorted(prefix.glob("lib*/**/libmindtorch.so*")) if not path.is_symlink()]
    if not libraries:
        yield f"there is no libmindtorch.so in {prefix}"
        return
    marked = marked_names(root)
    for symbol in exported_symbols(libraries[0]):
        parts = name_parts(symbol)
        if parts[0] == "mindtorch" and marked.isdisjoint(parts):
            yield f"{symbol} is exported, but no public header marks it with MINDTORCH_EXPORT"


def main():
    prefix = Path(sys.argv[1])
    root = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).resolve().parent.parent
    differences = [*header_differences(prefix, root), *symbol_differences(prefix, root)]
    for difference in differences:
        print(difference)
    print(f"check_api: {len(differences)} differences", file=sys.stderr)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
