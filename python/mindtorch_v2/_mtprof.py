"""The command `mtprof` of an installed package: runs the program inside the package."""

import os
import sys
from pathlib import Path


def main() -> int:
    program = Path(__file__).parent / "bin" / "mtprof"
    if not program.exists():
        print(f"mtprof: {program} is missing: this package was built without its tools (MINDTORCH_BUILD_TOOLS)", file=sys.stderr)
        return 1
    os.execv(program, ["mtprof", *sys.argv[1:]])
