"""Runs hostile cases, drawn from a seed, until the time is up. Started by ./dev stress.

Case N of a seed is the same case whenever it is run: its kind is the N-th of the kinds in an order drawn from the seed, and all of its
parameters are drawn from the seed and N. A failure prints the command that runs that case alone.
"""

import argparse
import os
import random
import shlex
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

import exporting
import killing
import leaving
import monitoring
import native
import reading
import recording
import running
import starving
from case import Case, Failure, Setup, Skipped

ROOT = Path(__file__).resolve().parents[2]
MODULES = [recording, killing, exporting, reading, leaving, running, monitoring, starving, native]


def kinds_of(setup):
    """The cases that this setup can run, as (name, host, function)."""
    kinds = [(function.__name__, "embedded", function) for function in native.CASES]
    if setup.sanitizer is None:
        for module in MODULES:
            if module is not native:
                kinds += [(function.__name__, host, function) for host in setup.hosts for function in module.CASES]
    return kinds


def draw(setup, seed, number):
    """Case `number` of `seed`, and the function that runs it."""
    kinds = kinds_of(setup)
    random.Random(f"{seed}").shuffle(kinds)
    name, host, function = kinds[number % len(kinds)]
    return Case(setup, name, number, host, random.Random(f"{seed}/{number}")), function


def command_of(setup, seed, number):
    """The command that runs one case alone."""
    return f"./dev stress --preset {setup.preset} --host {setup.host} --seed {shlex.quote(seed)} --case {number}"


def run_case(setup, seed, number, scratch):
    """True if the case passed, None if this machine cannot run it."""
    case, function = draw(setup, seed, number)
    case.folder = Path(tempfile.mkdtemp(prefix=f"case-{number}-", dir=scratch))
    try:
        function(case)
    except Skipped as reason:
        print(f"case {number} {case.name} ({case.host}): skipped, {reason}", flush=True)
        return None
    except Exception as error:  # a mistake in a case must not end the run without its seed
        described = str(error) if isinstance(error, Failure) else traceback.format_exc()
        print(f"\nFAILED case {number}: {case.name} ({case.host}) of seed {seed}", flush=True)
        print(f"  parameters: {str(case.parameters)[:2000]}\n  {described}")
        print(f"  files: {case.folder}\n  to run it alone: {command_of(setup, seed, number)}\n", flush=True)
        return False
    finally:
        case.clean_up()
    print(f"case {number} {case.name} ({case.host}): passed", flush=True)
    shutil.rmtree(case.folder, ignore_errors=True)
    return True


def run_until(setup, seed, minutes, scratch):
    """Runs cases until the time is up, one at least; returns the numbers of those that failed."""
    deadline = time.monotonic() + 60 * minutes
    kinds, failed, results, number = len(kinds_of(setup)), [], Counter(), 0
    while number == 0 or time.monotonic() < deadline:
        passed = run_case(setup, seed, number, scratch)
        results[passed] += 1
        if passed is False:
            failed.append(number)
        number += 1
    print(f"stress: {results[True]} cases of {min(kinds, number)} kinds passed, {results[None]} skipped, {len(failed)} failed; seed {seed}")
    return failed


def parse_arguments():
    parser = argparse.ArgumentParser(prog="./dev stress", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10, help="how long to go on (default 10)")
    parser.add_argument("--seed", default=None, help="what all cases are drawn from; a random one is printed by default")
    parser.add_argument("--host", choices=["embedded", "torch", "both"], default="both", help="whose ops are recorded (default both)")
    parser.add_argument("--preset", choices=["dev", "asan", "tsan"], default="dev", help="the build; sanitizers run the C++ program")
    parser.add_argument("--case", type=int, default=None, help="run this case of the seed alone")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    seed = arguments.seed or f"{random.SystemRandom().getrandbits(32):08x}"
    setup = Setup(root=ROOT, preset=arguments.preset, host=arguments.host)
    print(f"stress: seed {seed}, preset {setup.preset}, host {setup.host}", flush=True)
    scratch = tempfile.mkdtemp(prefix="mindtorch-stress-")
    if arguments.case is not None:
        failed = run_case(setup, seed, arguments.case, scratch) is False
    else:
        failed = run_until(setup, seed, arguments.minutes, scratch)
    if not failed:
        shutil.rmtree(scratch, ignore_errors=True)
    # Threads that a case may have left waiting must not keep a run from ending.
    sys.stdout.flush()
    os._exit(1 if failed else 0)


if __name__ == "__main__":
    main()
