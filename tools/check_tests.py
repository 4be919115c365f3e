"""Checks that each source of the library has a test.

Usage: check_tests.py [ROOT]. Prints a line for each source without a test; exit status 1 if there is any.

A source mindtorch/a/b.cpp has a test if one of these holds:
- It has a test of its own name, tests/a/b_test.cpp.
- A test names it: a C++ test includes mindtorch/a/b.h, or any test says "mindtorch/a/b" in a comment.
- Only its own folder uses it. What is tested then is the folder, through the sources that others use.
"""

import re
import sys
from pathlib import Path

TESTS = ("tests", "runtime/tests")
USERS = ("mindtorch", "mtprof", "python/src", "runtime", "examples", "benchmarks")
SUFFIXES = (".h", ".cpp", ".py")
NAME = re.compile(r"mindtorch/\w+(?:/\w+)+")
INCLUDE = re.compile(r'^#include "(mindtorch/[\w/]+)\.h"', re.MULTILINE)


def files_in(root, tops, suffixes):
    return [path for top in tops for path in sorted((root / top).rglob("*")) if path.suffix in suffixes and path.is_file()]


def named_by_tests(root):
    """The paths, without suffixes, of headers and sources that tests include or mention."""
    return {name for path in files_in(root, TESTS, SUFFIXES) for name in NAME.findall(path.read_text(errors="replace"))}


def used_by_others(root):
    """The headers, without suffixes, that are included by files of another folder than their own."""
    used = set()
    tests = [root / top for top in TESTS]
    for path in files_in(root, USERS, (".h", ".cpp")):
        if not any(path.is_relative_to(top) for top in tests):
            folder = path.parent.relative_to(root).as_posix()
            used |= {
                name for name in INCLUDE.findall(path.read_text(errors="replace")) if not f"{folder}/".startswith(f"{Path(name).parent}/")
            }
    return used


def check_tree(root):
    named, used = named_by_tests(root), used_by_others(root)
    for path in files_in(root, ["mindtorch"], [".cpp"]):
        name = path.relative_to(root).with_suffix("").as_posix()
        test = "tests" + name.removeprefix("mindtorch") + "_test.cpp"
        if name in used and name not in named and not (root / test).exists():
            yield f"{name}.cpp has no test: write {test}, or name {name} in the test that exercises it"


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    problems = list(check_tree(root))
    for problem in problems:
        print(problem)
    print(f"check_tests: {len(problems)} problems", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
