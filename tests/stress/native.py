"""The case that runs the C++ program; with a sanitizer it is the only one."""

import checks


def recorder_in_cpp(case):
    """Rounds of sessions over threads that start and die, with exports, spills and forks; see recorder_stress.cpp."""
    rng = case.random
    seed, rounds = rng.getrandbits(48), 20 if case.setup.sanitizer is None else 10
    case.parameters |= {"seed": seed, "rounds": rounds}
    out = case.folder / "out"
    out.mkdir()
    case.run([*launcher(case), case.setup.build / "bin" / "recorder_stress", seed, rounds, out])
    for path in out.glob("out.*"):
        if path.suffix != ".mtrec":
            checks.check_file(case, path)


def launcher(case):
    """Programs with a sanitizer need their memory where they expect it."""
    if case.setup.sanitizer is None:
        return []
    return ["setarch", "--addr-no-randomize"]


CASES = [recorder_in_cpp]
