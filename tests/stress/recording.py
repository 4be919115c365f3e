"""Cases that record: every policy and option under budgets from tiny to ample, with threads, forks and signals. All must add up."""

import checks
from case import require
from facts import EVENTS_OF_A_TURN, MISSING_EVENTS

MEGABYTE = 1 << 20
CHILDREN = ["exit", "record", "leave", "profile", "exec"]


def draw_options(rng):
    """Each option on or off."""
    names = ["record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules"]
    return {name: True for name in names if rng.random() < 0.5}


def draw_budget(case):
    """A policy with a budget, as parameters of a program."""
    rng = case.random
    megabytes = rng.choice([1, 1, 2, 3, 8, 64, 1024])
    policy = rng.choice(["grow", "keep_last", "spill"])
    budget = {"policy": policy, "budget_bytes": megabytes * MEGABYTE + rng.choice([0, 0, 1, 4096, 65536])}
    if policy == "keep_last":
        budget["keep_last_steps"] = rng.choice([0, 1, 2, 5])
    if policy == "spill":
        budget["spill_path"] = str(case.folder / "spill.mtrec")
    return budget


def everything_adds_up(case):
    """What was issued is recorded or counted as lost; what is recorded has its own side data; files say the same."""
    rng = case.random
    case.parameters["budget"] = budget = draw_budget(case)
    exports = [str(case.folder / "trace.json"), str(case.folder / "trace.mtrec")]
    parameters = budget | {
        "options": draw_options(rng),
        "threads": rng.choice([1, 2, 5]),
        "waves": rng.choice([1, 3]),
        "steps": rng.choice([1, 4, 10]),
        "turns": rng.choice([10, 300, 1500]),
        "trainings": rng.choice([0, 0, 2]),
        "left_open": rng.choice([0, 0, 3]),
        "forks": rng.choices(CHILDREN, k=rng.choice([0, 0, 3])),
        "signal_seconds": rng.choice([0, 0, 0.002]),
        "exports": exports,
        "folder": str(case.folder),
    }
    answer = case.run_python("record", **parameters)
    # events() leaves some events out, as torch's does; the file has them all.
    answer |= {"recorded": recorded_in(checks.info_of(case, case.folder / "trace.mtrec"))}
    check_sums(parameters, answer)
    check_files(case, parameters, answer)


def recorded_in(info):
    """The events of a file but for those of the profiler itself."""
    return info["events"] - info["kinds"].get("overhead", 0)


def check_sums(parameters, answer):
    require(answer["wrong"] == [], f"side data of another event: {answer['wrong']}")
    require(answer["recorded"] + answer["lost"] == answer["issued"], f"events do not add up: {answer}")
    if parameters["policy"] == "spill" or parameters["budget_bytes"] >= 512 * MEGABYTE:
        unless = parameters["policy"] == "keep_last" and parameters["keep_last_steps"] > 0
        require(answer["lost"] == 0 or unless, f"events were lost without need: {answer}")
    missing = answer["without_shapes"] + answer["without_stack"]
    refused = sum(count for reason, count, _, _ in answer["losses"] if reason == "side_data")
    require(missing <= refused, f"side data is missing and not counted: {answer}")
    # Where only turns have side data, and memory reports are not among it, the count must be exact.
    only_turns = not parameters["trainings"] and not parameters["signal_seconds"] and not parameters["left_open"]
    if only_turns and "profile_memory" not in parameters["options"]:
        require(missing == refused, f"side data is counted as lost and is there: {answer}")


def check_files(case, parameters, answer):
    trace = checks.check_file(case, case.folder / "trace.json")
    written = len(checks.complete_events(trace))
    modules = len(checks.recorded_python_events(trace))
    require(written + modules == answer["recorded"], f"trace.json has {written} + {modules} events of {answer['recorded']}")
    check_recording_file(case, case.folder / "trace.mtrec", answer)
    if parameters["policy"] == "spill":
        check_recording_file(case, case.folder / "spill.mtrec", answer)
    names = {path.name for path in case.folder.iterdir() if not path.name.startswith("child-")}
    expected = {"trace.json", "trace.mtrec"} | ({"spill.mtrec"} if parameters["policy"] == "spill" else set())
    require(names == expected, f"files that should not be there: {sorted(names - expected)}")
    for child in case.folder.glob("child-*"):
        checks.check_file(case, child)


def check_recording_file(case, path, answer):
    info = checks.info_of(case, path)
    require(info["damage"] is None, f"{path.name} is damaged: {info['damage']}")
    require(recorded_in(info) == answer["recorded"], f"{path.name} has {recorded_in(info)} events: {answer}")
    lost = sum(loss["count"] for loss in info["losses"] if loss["reason"] in MISSING_EVENTS)
    require(lost == answer["lost"], f"{path.name} tells of {lost} lost events: {answer}")
    case.mtprof("validate", path, expected=(0,) if not answer["lost"] else None)


def spills_onto_a_full_disk(case):
    """What the disk does not take is counted, and the file opens and holds the rest."""
    rng = case.random
    disk = case.mount_small_disk(kilobytes=rng.choice([4, 64, 500]))
    spill = disk / "spill.mtrec"
    answer = case.run_python(
        "record",
        options=draw_options(rng),
        budget_bytes=rng.choice([1, 8]) * MEGABYTE,
        spill_path=str(spill),
        threads=rng.choice([1, 4]),
        waves=2,
        steps=2,
        turns=rng.choice([100, 3000]),
        trainings=0,
        left_open=0,
        forks=[],
        signal_seconds=0,
        exports=[str(case.folder / "trace.mtrec")],
        folder=str(case.folder),
    )
    require(answer["wrong"] == [], f"side data of another event: {answer['wrong']}")
    answer |= {"recorded": recorded_in(checks.info_of(case, case.folder / "trace.mtrec", expected=(0, 1)))}
    checks.check_sum_with_waits(answer)
    checks.info_of(case, spill, expected=(0, 1))


def schedules_write_each_cycle(case):
    """Every cycle of a schedule is one file, which holds the active steps and nothing else."""
    rng = case.random
    cycle = {"wait": rng.randrange(3), "warmup": rng.randrange(2), "active": rng.randrange(1, 4), "repeat": rng.randrange(1, 4)}
    cycle["skip_first"] = rng.randrange(3)
    length = cycle["wait"] + cycle["warmup"] + cycle["active"]
    gzipped, threads, turns = rng.random() < 0.5, rng.choice([1, 3]), rng.choice([5, 100])
    case.run_python(
        "scheduled",
        options=draw_options(rng),
        schedule=cycle,
        steps=cycle["skip_first"] + length * cycle["repeat"] + 2,
        threads=threads,
        turns=turns,
        gzip=gzipped,
        traces=str(case.folder / "traces"),
        budget_bytes=rng.choice([None, 64 * MEGABYTE]),
    )
    files = sorted((case.folder / "traces").iterdir())
    require(len(files) == cycle["repeat"], f"{len(files)} files of {cycle['repeat']} cycles")
    for path in files:
        require(path.name.endswith(".pt.trace.json" + (".gz" if gzipped else "")), f"a file is left: {path.name}")
        events = checks.complete_events(checks.check_file(case, path))
        steps = [event for event in events if event["name"].startswith("ProfilerStep#")]
        require(len(steps) == cycle["active"], f"{path.name} has {len(steps)} of {cycle['active']} steps")
        expected = cycle["active"] * (1 + EVENTS_OF_A_TURN * threads * turns)
        require(len(events) == expected, f"{path.name} has {len(events)} of {expected} events")


def memory_stays_flat(case):
    """Many profiles one after the other need no more memory than a few."""
    rng = case.random
    exports = [str(case.folder / f"trace{suffix}") for suffix in rng.sample([".json", ".json.gz", ".mtrec", ".pftrace", ".svg"], k=2)]
    spill = str(case.folder / "spill.mtrec") if rng.random() < 0.3 else None
    profiles = 150
    answer = case.run_python(
        "many_profiles",
        options=draw_options(rng),
        profiles=profiles,
        turns=rng.choice([10, 100]),
        exports=exports,
        budget_bytes=rng.choice([None, 4 * MEGABYTE]),
        spill_path=spill,
    )
    growth = (answer["late"] - answer["early"]) / MEGABYTE
    require(growth < 40, f"{profiles} profiles took {growth:.1f} MiB of memory more and more")


CASES = [everything_adds_up, spills_onto_a_full_disk, schedules_write_each_cycle, memory_stays_flat]
