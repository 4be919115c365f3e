"""Cases that leave while recording: interpreters that exit at bad moments, and KeyboardInterrupt during start and stop."""

import checks
from case import require
from recording import MEGABYTE, draw_options

WAYS_TO_LEAVE = ["return", "sys.exit", "exception", "exit in thread", "atexit stop", "os._exit", "quick thread"]


def interpreter_exits(case):
    """An interpreter that exits while daemon threads record ends without a signal and without a hang."""
    rng = case.random
    spills = rng.random() < 0.7
    way = rng.choice(WAYS_TO_LEAVE)
    program = case.python(
        "leave_while_recording",
        options=draw_options(rng),
        way=way,
        threads=rng.choice([1, 4]),
        turns=rng.choice([0, 100, 3000]),
        stopped=rng.random() < 0.3,
        spill_path=str(case.folder / "spill.mtrec") if spills else None,
        budget_bytes=MEGABYTE if rng.random() < 0.7 else None,
    )
    case.finish(program, expected=(1,) if way == "exception" else (7,) if way == "sys.exit" else (0,))
    if spills:
        checks.info_of(case, case.folder / "spill.mtrec", expected=(0, 1))  # 1: the file was not finished


def interrupts_arrive(case):
    """A KeyboardInterrupt that arrives during start, stop, step or an export comes out, and the next profile works."""
    rng = case.random
    spills = rng.random() < 0.5
    answer = case.run_python(
        "interrupt",
        options=draw_options(rng),
        rounds=60,
        turns=rng.choice([1, 30]),
        most_seconds=rng.choice([0.002, 0.02]),
        draws=rng.getrandbits(32),
        exports=[str(case.folder / "trace.json.gz"), str(case.folder / "trace.mtrec")],
        spill_path=str(case.folder / "spill.mtrec") if spills else None,
        budget_bytes=4 * MEGABYTE,
    )
    require(answer["raised"] == answer["caught"], f"an interrupt was swallowed: {answer}")
    found = {path.name for path in case.folder.iterdir()}
    require(found <= {"trace.json.gz", "trace.mtrec", "spill.mtrec"}, f"an interrupted export leaves files: {sorted(found)}")


CASES = [interpreter_exits, interrupts_arrive]
