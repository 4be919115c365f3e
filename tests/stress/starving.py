"""Cases in which the profiler gets less than it asks for: memory, descriptors, threads, a sane environment, calls that succeed.

The program must notice nothing but errors of the calls by which it asks for a recording, and the next profile must work.
"""

import checks
import running
from case import Skipped, require
from recording import MEGABYTE, draw_budget, draw_options

SUFFIXES = [".json", ".json.gz", ".mtrec", ".pftrace", ".svg", ".events.csv"]


def exports_of(case, count=2):
    return [str(case.folder / f"trace{suffix}") for suffix in case.random.sample(SUFFIXES, k=count)]


def faulty(case):
    """The environment of a program whose profiler can be made to fail."""
    library = case.setup.build / "lib" / "libstress_faults.so"
    if not library.exists():
        raise Skipped(f"{library} has not been built")
    return {"LD_PRELOAD": str(library)}


def calls_of_the_profiler_fail(case):
    """Memory, threads and files are refused to the profiler at random: scopes and ops go on, and what was asked for fails with an error."""
    rng = case.random
    answer = case.run_python(
        "with_faults",
        env=faulty(case),
        options=draw_options(rng),
        rounds=rng.choice([5, 15]),
        threads=rng.choice([1, 4]),
        scopes=rng.choice([10, 3000]),
        per_million=rng.choice([300, 5_000, 50_000, 400_000]),
        draws=rng.getrandbits(32),
        exports=exports_of(case),
        **draw_budget(case),
    )
    require(answer["unexpected"] == [], f"the program got errors: {answer}")


def calls_of_a_monitor_fail(case):
    """The same in a program with a monitor, which gets no error at all."""
    rng = case.random
    answer = case.run_python(
        "monitor_with_faults",
        env=faulty(case) | {"XDG_RUNTIME_DIR": str(case.folder)},
        options=draw_options(rng),
        rounds=rng.choice([2, 5]),
        steps=rng.choice([20, 200]),
        per_million=rng.choice([300, 5_000, 50_000, 400_000]),
        draws=rng.getrandbits(32),
        folder=str(case.folder),
    )
    require(answer["unexpected"] == [], f"the program got errors: {answer}")
    for path in sorted(case.folder.glob("*.mtrec"))[:5]:
        checks.info_of(case, path)


def threads_of_the_monitor_die(case):
    """Exceptions are raised in the Python threads of a monitor at any moment: the program runs and ends as it would without one."""
    rng = case.random
    answer = case.run_python(
        "monitor_threads_die",
        env={"XDG_RUNTIME_DIR": str(case.folder)},
        options=draw_options(rng),
        steps=rng.choice([50, 500]),
        kills=rng.choice([1, 3, 30]),
        draws=rng.getrandbits(32),
        folder=str(case.folder),
    )
    require(answer["unexpected"] == [], f"the program got errors: {answer}")


def runs_whose_calls_fail(case):
    """A program under `mtprof run` whose recorder fails at random has its own exit status, and mtprof ends with it."""
    rng = case.random
    way = rng.choice(running.WAYS)
    program = running.start(
        case,
        "x.mtrec",
        "simple",
        env=faulty(case),
        name="run",
        scopes=rng.choice([10, 5000]),
        way=way,
        faults=[rng.getrandbits(32), rng.choice([300, 5_000, 50_000, 400_000])],
    )
    (case.folder / "go").touch()
    case.finish(program, expected=(running.STATUS[way],))
    require(running.did(case.folder / "run.did") > 0, "the program did not do its work")


def short_of_descriptors(case):
    """The program uses up its descriptors again and again. What cannot be written is an error of that call and of nothing else."""
    rng = case.random
    answer = case.run_python(
        "short_of_descriptors",
        options=draw_options(rng),
        rounds=rng.choice([3, 10]),
        turns=rng.choice([10, 300]),
        draws=rng.getrandbits(32),
        exports=exports_of(case),
        **draw_budget(case),
    )
    require(answer["unexpected"] == [], f"the program got errors: {answer}")


def short_of_memory(case):
    """The address space is nearly used up: the process ends by itself, and a profile works as soon as there is memory again."""
    rng = case.random
    answer = case.run_python(
        "short_of_memory",
        options=draw_options(rng),
        rounds=rng.choice([2, 6]),
        turns=rng.choice([100, 3000]),
        threads=rng.choice([0, 2]),
        draws=rng.getrandbits(32),
        exports=exports_of(case, 1),
        **draw_budget(case),
    )
    require(answer["rounds"] > 0, f"nothing was tried: {answer}")


def descriptors_reused_while_spilling(case):
    """The program closes all descriptors and uses their numbers again while its profile spills, or while `mtprof run` records it."""
    rng = case.random
    parameters = {"rounds": rng.choice([1, 5, 20]), "turns": rng.choice([5, 2000]), "draws": rng.getrandbits(32)}
    if rng.random() < 0.5:
        spill = case.folder / "spill.mtrec"
        answer = case.run_python(
            "descriptors_taken_while_spilling",
            options=draw_options(rng),
            folder=str(case.folder),
            spill_path=str(spill),
            budget_bytes=rng.choice([1, 64]) * MEGABYTE,
            **parameters,
        )
        checks.info_of(case, spill)
        require(answer["recorded"] + answer["lost"] == answer["issued"] and not answer["lost"], f"events are missing: {answer}")
        return
    program = running.start(case, "x.mtrec", "descriptors_taken", name="run", **parameters)
    case.finish(program)
    found, expected = running.recorded(case), running.did(case.folder / "run.did")
    require(found == [expected], f"{expected} scopes were to be recorded, there are {found}")


# What batch systems, containers and developers set; an empty text is set, too, and None is not set at all.
ENVIRONMENTS = [
    {"HOME": None},
    {"HOME": "/nonexistent", "XDG_CACHE_HOME": "/nonexistent/cache"},
    {"TMPDIR": "/nonexistent"},
    {"TMPDIR": "relative/" + "x" * 300},
    {"XDG_RUNTIME_DIR": "/run/user/no-such-user"},
    {"RANK": "", "LOCAL_RANK": "", "WORLD_SIZE": ""},
    {"RANK": "abc", "WORLD_SIZE": "many"},
    {"RANK": "-1"},
    {"RANK": "9" * 30, "LOCAL_RANK": "²"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"LANG": "tlh_QX.EBCDIC", "LC_ALL": None},
    {"PYTHONIOENCODING": "ascii:strict"},
    {"PYTHONWARNINGS": "error"},
    {"PYTHONOPTIMIZE": "2"},
    {"PYTHONDEVMODE": "1"},
    {"PYTHONMALLOC": "debug"},
    {"PYTHONSAFEPATH": "1", "PYTHONNOUSERSITE": "1", "PYTHONDONTWRITEBYTECODE": "1"},
    {"PYTHONSTARTUP": "/nonexistent.py", "PYTHONINSPECT": None, "PYTHONUNBUFFERED": "1"},
    {"PYTHONHASHSEED": "1", "PYTHONTRACEMALLOC": "5"},
    {"MALLOC_PERTURB_": "165", "MALLOC_ARENA_MAX": "1"},
    {"TERM": "", "COLUMNS": "0", "LINES": "-1"},
    {"PATH": "/nonexistent"},
]
# What a shell does before it starts the program.
SHELLS = [
    "",
    "exec <&-",
    "exec >&-",
    "exec 2>&-",
    "exec <&- >&- 2>&-",
    "umask 777",
    "umask 000",
    "ulimit -n 40",
    "ulimit -c 0; ulimit -s 1024",
]


def hostile_environments(case):
    """Whatever the environment, a program under `mtprof run` prints and returns what it does alone, and is recorded."""
    rng = case.random
    way = rng.choice(running.WAYS)
    env = {}
    for settings in rng.sample(ENVIRONMENTS, k=rng.choice([1, 3, 6])):
        env |= settings
    shell = case.parameters["shell"] = rng.choice(SHELLS)
    case.parameters["env"] = env
    (case.folder / "go").touch()
    parameters = {"scopes": 100, "way": way, "says": "done"}
    ended = []
    for name in ("alone", "run"):
        (case.folder / name).mkdir()
        program = running.start(
            case,
            None if name == "alone" else f"{name}/x.mtrec",
            "simple",
            before=shell,
            env=env,
            is_run=name == "run",
            name=name,
            **parameters,
        )
        ended.append(case.finish(program, expected=(running.STATUS[way],)))
    alone, run = ended
    require(alone.output == run.output, f"the program printed {run.output!r} instead of {alone.output!r}")
    found = [checks.info_of(case, path, expected=(0, 1))["kinds"].get("scope", 0) for path in (case.folder / "run").glob("*.mtrec")]
    require(found == [100], f"100 scopes were to be recorded, there are {found}\n{run}")


def thousands_of_threads(case):
    """Threads that come and go by the thousand, and thousands at once: memory stays within the budget, and every event is accounted for."""
    rng = case.random
    budget = draw_budget(case)
    at_once = rng.choice([1, 20, 1000])
    answer = case.run_python(
        "crowd",
        options=draw_options(rng),
        threads=rng.choice([2000, 6000]),
        at_once=at_once,
        scopes=rng.choice([1, 3, 50]),
        **budget,
    )
    require(answer["recorded"] + answer["lost"] == answer["issued"], f"events do not add up: {answer}")
    if budget["policy"] == "spill":
        require(answer["lost"] == 0, f"events were lost without need: {answer}")
    require(answer["loss_rows"] < 100, f"losses are not joined: {answer}")
    # Each thread that runs has a block that it fills, and one of side data.
    most = budget["budget_bytes"] + at_once * (128 << 10) + 48 * MEGABYTE
    require(answer["grown"] <= most, f"{answer['grown'] / MEGABYTE:.1f} MiB of memory are more than {most / MEGABYTE:.1f}: {answer}")


CASES = [
    calls_of_the_profiler_fail,
    calls_of_a_monitor_fail,
    threads_of_the_monitor_die,
    runs_whose_calls_fail,
    short_of_descriptors,
    short_of_memory,
    descriptors_reused_while_spilling,
    hostile_environments,
    thousands_of_threads,
]
