"""Instruction counts of the record path: the cost of one scope while nothing records, and while a session records.

Runs bench_record under callgrind, twice for each case with different loop counts; the difference is the loop alone.
"""

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

FEW, MANY = 10_000, 60_000


def instructions(program: Path, case: str, count: int) -> int:
    function = "*counted_empty*" if case == "empty" else "*counted_scopes*"
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", f"--toggle-collect={function}", f"--callgrind-out-file={folder}/out"]
        command += [str(program), "--counted", case, str(count)]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    return int(re.search(r"Collected : (\d+)", text).group(1))


def per_scope(program: Path, case: str) -> float:
    return (instructions(program, case, MANY) - instructions(program, case, FEW)) / (MANY - FEW)


def main() -> None:
    program = Path(os.environ["MINDTORCH_BUILD_DIR"]) / "bin" / "bench_record"
    loop = per_scope(program, "empty")
    for name, case, note in [
        ("record/disabled_hook_instructions", "idle", "open and close of a scope while nothing records"),
        ("record/scope_pair_instructions", "recording", "open and close of a recorded scope"),
    ]:
        count = per_scope(program, case) - loop
        line = {"name": name, "ours": round(count, 2), "peer": None, "peer_value": None, "ratio": None}
        print(json.dumps(line | {"unit": "instructions", "note": note + " (callgrind)"}), flush=True)


if __name__ == "__main__":
    main()
