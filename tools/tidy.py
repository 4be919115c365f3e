"""Runs clang-tidy on the sources of this project that differ from the main branch, or on all of them (--all).

Reads the compile commands of build/dev. Prints what it finds, once, and exits with 1 if that is anything.
"""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "dev"
# Tests are left out: they cost as much time as all else, and their mistakes show when they run.
CHECKED_FOLDERS = ("mindtorch/", "mtprof/", "python/", "runtime/", "benchmarks/", "examples/")

# clang-tidy 14 finds fault with a template parameter that no source has: clang's own, for a constrained `auto` of the standard library.
OF_NO_SOURCE = "error: invalid case style for template parameter 'expr-type' [readability-identifier-naming,-warnings-as-errors]"


def git(*arguments):
    command = ["git", "-c", "safe.directory=*", *arguments]  # a checkout in a container may belong to another user
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


def changed_files():
    """Files that differ from the main branch, or None where that cannot be told."""
    for main in ("origin/main", "main"):
        try:
            base = git("merge-base", "HEAD", main)[0]
        except subprocess.CalledProcessError:
            continue
        return {*git("diff", "--name-only", base), *git("ls-files", "--others", "--exclude-standard")}
    return None


def sources(everything):
    compiled = {Path(entry["directory"], entry["file"]).resolve() for entry in json.loads((BUILD / "compile_commands.json").read_text())}
    names = sorted(path.relative_to(ROOT).as_posix() for path in compiled if path.is_relative_to(ROOT))
    changed = None if everything else changed_files()
    return [name for name in names if name.startswith(CHECKED_FOLDERS) and (changed is None or name in changed)]


def findings(name):
    command = ["clang-tidy", "-p", str(BUILD), "--quiet", "--warnings-as-errors=*", name]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return result.stdout if result.returncode else ""


def paragraphs(text):
    """One finding each: the line with its place, and what explains it. A finding in a header comes with every file that includes it."""
    text = text.replace(OF_NO_SOURCE, "").strip()
    return re.split(r"\n(?=\S+:\d+:\d+: (?:warning|error):)", text) if text else []


def main():
    names = sources("--all" in sys.argv[1:])
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict.fromkeys(paragraph for text in pool.map(findings, names) for paragraph in paragraphs(text))
    for paragraph in found:
        print(paragraph)
    print(f"tidy: {len(names)} files, {len(found)} findings", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
