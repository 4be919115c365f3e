"""Records programs as a newcomer would (`mtprof run program.py`, without options) and compares the first line of the report with the truth.

    python tests/judgement/judge.py [NAME ...] [--good] [--keep FOLDER]

prints a table: program, with its fault or mended, whether the first line of `mtprof report --text` is right, and that line. Programs with
a fault are in programs/, and cases.json says of each what the first line must name. Programs without any fault are in good/.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
# What is true of every program while others have the processors.
OF_BUSY_MACHINES = ("uneven_steps", "not_running")
BUILD = Path(os.environ.get("MINDTORCH_BUILD_DIR", HERE.parent.parent / "build" / "dev"))


@dataclass(frozen=True)
class Case:
    """A program and what its report must say: `says` is a pattern for the cause; the line is in a function or has one of `lines`."""

    program: Path
    says: str = ""
    functions: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    torchrun: int = 0  # how many ranks
    recording: str = ""  # which of several recordings is judged: "rank0"
    needs: list[str] = field(default_factory=list)  # packages
    told_by: list[str] = field(default_factory=list)  # options that the first line must ask for, with which it then names the line
    known: str = ""  # why the product does not name this fault yet

    @property
    def name(self) -> str:
        return self.program.stem

    def places(self) -> set[str]:
        """The places that the first line may name: "train.py:12"."""
        text = self.program.read_text()
        wanted = {number for number, line in enumerate(text.splitlines(), 1) if any(part in line for part in self.lines)}
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in self.functions:
                wanted.update(range(node.lineno, node.end_lineno + 1))
        return {f"{self.program.name}:{number}" for number in wanted}

    def missing_packages(self) -> list[str]:
        return [package for package in self.needs if importlib.util.find_spec(package) is None]


@dataclass(frozen=True)
class Verdict:
    first_line: str
    findings: list[dict]
    recording: Path


@cache
def cases() -> dict[str, list[Case]]:
    """{"fault": programs with a fault, "good": programs without any}"""
    rows = json.loads((HERE / "cases.json").read_text())
    folders = {"fault": HERE / "programs", "good": HERE / "good"}
    return {kind: [Case(folder / f"{name}.py", **row) for name, row in rows[kind].items()] for kind, folder in folders.items()}


def record(case: Case, argument: str, folder: Path, options: tuple[str, ...] = ()) -> Path:
    """The recording of the program with this argument; the program must end well."""
    launcher = ["--", sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(case.torchrun)] if case.torchrun else []
    output = folder / f"{case.name}.{argument}.mtrec"
    command = [BUILD / "bin" / "mtprof", "run", *options, "-o", output, *launcher, case.program, argument]
    # One thread for ops: where other programs run too, the threads of an op wait for each other, and that would be the truth.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"  # programs run in this interpreter
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PATH": path}
    environment |= {
        "MINDTORCH_NPU": "reference",
        "CUDA_VISIBLE_DEVICES": "",
        "HF_HUB_OFFLINE": "1",
        "TORCHINDUCTOR_CACHE_DIR": str(Path(tempfile.gettempdir()) / "judgement_inductor"),
    }
    done = subprocess.run([str(part) for part in command], cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{case.name} {argument}: status {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-3000:]}")
    return recorded(case, argument, folder)


def recorded(case: Case, argument: str, folder: Path) -> Path:
    """The recording of the program that lies in the folder."""
    recordings = sorted(folder.glob(f"{case.name}.{argument}*.mtrec"))
    chosen = [path for path in recordings if case.recording in path.name]
    if len(chosen) != 1:
        raise RuntimeError(f"{case.name} {argument}: recordings {recordings}")
    return chosen[0]


def judge(recording: Path) -> Verdict:
    findings = recording.with_suffix(".findings.json")
    command = [BUILD / "bin" / "mtprof", "report", recording, "--text", "-o", findings, "--force"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120, check=True)
    recording.with_suffix(".txt").write_text(done.stdout)
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    return Verdict(lines[0], json.loads(findings.read_text())["findings"], recording)


def mistake_with_fault(case: Case, verdict: Verdict) -> str:
    """What is wrong with a verdict about the program with its fault; empty if it is right."""
    cause = verdict.first_line.rpartition(", ")[0] or verdict.first_line  # names of programs and functions say it too
    if not re.search(case.says, cause, re.IGNORECASE):
        return f"does not name the cause ({case.says})"
    if case.told_by and "mtprof run " + " ".join(case.told_by) in verdict.first_line:
        return ""
    if not any(re.search(rf"\b{re.escape(place)}\b", verdict.first_line) for place in case.places()):
        return "does not name the line"
    return ""


def mistake_without_fault(verdict: Verdict) -> str:
    """What is wrong with a verdict about a program without a fault; empty if it is right."""
    named = [finding["id"] for finding in verdict.findings]
    if os.getloadavg()[0] > os.cpu_count():
        named = [identity for identity in named if identity not in OF_BUSY_MACHINES]
    return f"names {named[0]}" if named else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs; default: all")
    parser.add_argument("--keep", type=Path, help="a folder for recordings and reports")
    parser.add_argument("--recorded", action="store_true", help="judge the recordings in the folder of --keep again, and record nothing")
    parser.add_argument("--only", choices=["fault", "mended", "good"], help="only programs of this kind")
    options = parser.parse_args()
    wanted = [(argument, case) for case in cases()["fault"] for argument in ("fault", "mended")]
    wanted += [("good", case) for case in cases()["good"]]
    wanted = [(kind, case) for kind, case in wanted if (not options.names or case.name in options.names) and options.only in (None, kind)]
    right = {"fault": [], "mended": [], "good": []}
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.keep or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        for kind, case in wanted:
            if missing := case.missing_packages():
                print(f"{case.name:26} {kind:7} skipped: needs {', '.join(missing)}", flush=True)
                continue
            try:
                verdict = judge(recorded(case, kind, folder) if options.recorded else record(case, kind, folder))
                mistake = mistake_with_fault(case, verdict) if kind == "fault" else mistake_without_fault(verdict)
                line = verdict.first_line
            except (RuntimeError, subprocess.SubprocessError) as error:
                mistake, line = "failed", str(error)
            right[kind].append(not mistake)
            print(f"{case.name:26} {kind:7} {'ok' if not mistake else 'NOT: ' + mistake}\n    {line}", flush=True)
    for kind, results in right.items():
        if results:
            print(f"{kind}: {sum(results)} of {len(results)} right")
    return 0 if all(all(results) for results in right.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
