"""Cases that damage files and have mtprof read them: every reader ends by itself, in bounded memory, and never takes damage for truth."""

import gzip
import json
import resource

import checks
from case import require
from recording import MEGABYTE, draw_options

READABLE = [".mtrec", ".json", ".json.gz"]
# Of address space, for files of some hundred kilobytes.
MOST_BYTES = 2048 * MEGABYTE


def bounded_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))


def damaged(rng, data):
    """A copy of `data` with one kind of damage: cut, bits flipped, a piece overwritten, left out, repeated, put in or moved."""
    kind = rng.choice(["cut", "flip", "zeros", "noise", "removed", "repeated", "inserted", "swapped"])
    at, size = rng.randrange(len(data)), rng.choice([1, 8, 100, 5000])
    if kind == "cut":
        return kind, data[:at]
    if kind == "flip":
        copy = bytearray(data)
        for _ in range(rng.choice([1, 1, 5, 50])):
            copy[rng.randrange(len(copy))] ^= 1 << rng.randrange(8)
        return kind, bytes(copy)
    if kind in ("zeros", "noise"):
        piece = bytes(size) if kind == "zeros" else rng.randbytes(size)
        return kind, (data[:at] + piece + data[at + size :])[: len(data)]
    if kind == "removed":
        return kind, data[:at] + data[at + size :]
    if kind == "repeated":
        return kind, data[: at + size] + data[at:]
    if kind == "inserted":
        return kind, data[:at] + rng.randbytes(size) + data[at:]
    other = rng.randrange(len(data))
    first, second = min(at, other), max(at, other)
    return kind, data[:first] + data[second : second + size] + data[first:second] + data[second + size :]


def make_file(case):
    """A valid file that mtprof can read, made by a profile, or by a spill."""
    rng = case.random
    suffix = rng.choice(READABLE)
    path = case.folder / f"whole{suffix}"
    spills = suffix == ".mtrec" and rng.random() < 0.5
    case.run_python(
        "export_into",
        options=draw_options(rng),
        turns=rng.choice([20, 500]),
        exports=[] if spills else [str(path)],
        spill_path=str(path) if spills else None,
        budget_bytes=MEGABYTE if spills else None,
    )
    return path


def damaged_files_are_read(case):
    """mtprof ends with 0 or 1 whatever is in the file, and says what is wrong when it says 1."""
    rng = case.random
    path = make_file(case)
    data, whole = path.read_bytes(), facts_of(case, path)
    copy = case.folder / f"damaged{''.join(path.suffixes)}"
    rounds = 25
    for _ in range(rounds):
        if path.name.endswith(".gz") and rng.random() < 0.5:
            kind, content = damaged(rng, gzip.decompress(data))
            content = gzip.compress(content, 1)
        else:
            kind, content = damaged(rng, data)
        copy.write_bytes(content)
        case.parameters["damage"] = kind
        command = rng.choice([["info", "--json"], ["info"], ["validate"], ["table"], ["export", "-o", str(case.folder / "again.json")]])
        read_damaged(case, command, copy)
        if path.suffix == ".mtrec" and content != data:
            facts = facts_of(case, copy)
            require(facts is None or facts == whole, f"{copy} ({kind}) reads as whole, but as {facts} instead of {whole}")


def read_damaged(case, command, path):
    ended = case.mtprof(*command, path, expected=(0, 1), preexec_fn=None if case.setup.sanitizer else bounded_memory)
    require(ended.status == 0 or ended.errors.strip() or ended.output.strip(), f"mtprof {command} {path} failed without a word")
    require("bad_alloc" not in ended.errors, f"mtprof {command} {path}: {ended.errors}")


def facts_of(case, path):
    """What mtprof says is in a file; None if it says that the file is damaged."""
    ended = case.mtprof("info", "--json", path, expected=(0, 1))
    if ended.status != 0:
        return None
    info = json.loads(ended.output)
    require(info["damage"] is None, f"mtprof info ends with 0 on {path}: {info['damage']}")
    return {key: info[key] for key in ("events", "kinds", "memory_reports", "losses", "trace_id", "metadata")}


def spill_files_are_cut_after_stop(case):
    """A profile whose spill file was cut after stop() says so when its events are asked for; one that is whole has them all."""
    rng = case.random
    cut = rng.random() < 0.8
    answer = case.run_python(
        "cut_spill_file",
        options=draw_options(rng),
        turns=rng.choice([50, 2000, 20000]),
        spill_path=str(case.folder / "spill.mtrec"),
        budget_bytes=MEGABYTE,
        keep_share=rng.random() if cut else None,
    )
    if answer["error"] is not None:
        require(cut, f"a whole file was refused: {answer}")
        return
    told = any(reason == "damaged_file" for reason, _, _ in answer["losses"])
    require(told or not cut, f"a spill file was cut, and nothing is said about it: {answer}")
    checks.check_sum_with_waits(answer)


def two_profiles_spill_to_one_path(case):
    """Of two profiles with one spill_path each answers with its own events, or says that they are gone."""
    answer = case.run_python(
        "share_spill_path",
        options=draw_options(case.random),
        turns=[case.random.choice([10, 3000]), case.random.choice([20, 5000])],
        spill_path=str(case.folder / "spill.mtrec"),
        budget_bytes=MEGABYTE,
        read_between=case.random.random() < 0.3,
    )
    for profile in answer["profiles"]:
        own = profile["error"] is not None or profile["recorded"] + profile["lost"] == profile["issued"]
        require(own, f"a profile has another one's events: {answer}")


CASES = [damaged_files_are_read, spill_files_are_cut_after_stop, two_profiles_spill_to_one_path]
