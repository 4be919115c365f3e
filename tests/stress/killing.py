"""Cases that kill a process with SIGKILL while it records or exports, and look at what it leaves behind."""

import json

import checks
from case import require
from facts import SIZES
from recording import MEGABYTE, draw_options


def killed_while_spilling(case):
    """The file of a killed session opens, is said to be cut, and holds the events of each thread without a gap."""
    rng = case.random
    spill, threads, size = (
        case.folder / "spill.mtrec",
        rng.choice([1, 3]),
        rng.choice([rng.randrange(64, 20_000), rng.randrange(64, 400_000)]),
    )
    program = case.python(
        "spill_for_ever",
        options=draw_options(rng),
        threads=threads,
        spill_path=str(spill),
        budget_bytes=rng.choice([1, 2, 8]) * MEGABYTE,
        folder=str(case.folder),
    )
    case.kill_when(program, lambda: spill.exists() and spill.stat().st_size >= size)
    info = checks.info_of(case, spill, expected=(0, 1))
    require(info["damage"] is not None, f"a killed session reads as whole: {info['events']} events, losses {info['losses']}")
    check_threads(case, spill)


def check_threads(case, spill):
    listed = case.folder / "spill.events.json"
    case.mtprof("export", spill, "-o", listed, expected=(0, 1))
    begun = [int.from_bytes(path.read_bytes(), "little") for path in case.folder.glob("*.count")]
    scopes = {}
    for event in checks.check_file(case, listed)["events"]:
        if event["name"].startswith("scope "):
            scopes.setdefault(event["thread"], []).append(int(event["name"].split()[1]))
    for numbers in scopes.values():
        expected = [number % SIZES for number in range(len(numbers))]
        require(numbers == expected, f"a thread's events have a gap: {numbers[:60]}")
    for recorded, most in zip(
        sorted((len(numbers) for numbers in scopes.values()), reverse=True), sorted(begun, reverse=True), strict=False
    ):
        require(recorded <= most, f"{recorded} scopes were recorded of {most}")


def killed_while_exporting(case):
    """A killed export leaves the old file or the new one, and the next export works."""
    rng = case.random
    suffixes = rng.sample(checks.SUFFIXES, k=3)
    paths = [case.folder / f"out{suffix}" for suffix in suffixes]
    options = {"record_shapes": True, "profile_memory": True, "with_stack": True}
    parameters = {"options": options, "turns": rng.choice([100, 3000]), "exports": [str(path) for path in paths]}
    rounds, counter = rng.randrange(1, 4), case.folder / "exports.count"
    for path in paths:
        path.write_text("as it was")
    program = case.python("export_for_ever", folder=str(case.folder), **parameters)

    def far_enough():
        return counter.exists() and int.from_bytes(counter.read_bytes(), "little") >= rounds and rng.random() < 0.02

    require(case.kill_when(program, far_enough), "the program ended by itself")
    for path in paths:
        checks.check_file(case, path)
    before = {path.name for path in case.folder.iterdir()}
    answer = case.run_python("export_into", **parameters)
    require(all(ended["error"] is None for ended in answer["ended"]), f"an export after a killed one failed: {json.dumps(answer)}")
    for path in paths:
        checks.check_file(case, path)
    require({path.name for path in case.folder.iterdir()} <= before, "an export after a killed one leaves a file")


CASES = [killed_while_spilling, killed_while_exporting]
