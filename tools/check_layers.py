"""Checks which files include which headers: the layers of the library, its public headers, and where headers of other projects may appear.

Usage: check_layers.py [ROOT]. Prints file:line and the rule for each violation; exit status 1 if there is any.
The tables below are the rule; everything after them is machinery.
"""

import re
import sys
from pathlib import Path

# Part of the tree -> the parts it may include besides itself. A folder that is not listed belongs to the nearest listed folder above it.
LAYERS = {
    "mindtorch/base": [],
    "mindtorch/trace": ["mindtorch/base"],
    "mindtorch/reference_device": ["mindtorch/base"],
    "mindtorch/record": ["mindtorch/trace", "mindtorch/base"],
    "mindtorch/sources": ["mindtorch/record", "mindtorch/trace", "mindtorch/reference_device", "mindtorch/base"],
    "mindtorch/analyze": ["mindtorch/trace", "mindtorch/base"],
    "mindtorch/ingest": ["mindtorch/trace", "mindtorch/base"],
    "mindtorch/export": ["mindtorch/analyze", "mindtorch/trace", "mindtorch/base"],
    "mindtorch/profiler": [
        "mindtorch/record",
        "mindtorch/sources",
        "mindtorch/analyze",
        "mindtorch/ingest",
        "mindtorch/export",
        "mindtorch/trace",
        "mindtorch/base",
    ],
    "mindtorch/bridges/nvtx": ["mindtorch/record", "mindtorch/trace", "mindtorch/base"],
    "mindtorch/bridges/torch": ["mindtorch/record", "mindtorch/trace", "mindtorch/base"],
    "mtprof": ["mindtorch/export", "mindtorch/ingest", "mindtorch/analyze", "mindtorch/trace", "mindtorch/base"],
    "python/src": ["mindtorch", "mtprof"],
    "runtime": ["mindtorch/record", "mindtorch/reference_device", "mindtorch/base"],
    "runtime/python": ["runtime", "python/src", "mindtorch/record", "mindtorch/base"],
    "runtime/tests": ["runtime", "mindtorch", "tests"],
    "examples": ["mindtorch", "runtime"],
    "benchmarks": ["mindtorch", "runtime", "examples"],
    "tests": ["mindtorch", "mtprof", "benchmarks", "runtime"],
}

# Parts whose folders are independent of each other: one source never includes another.
STRANGERS = ["mindtorch/sources", "mindtorch/export"]

# The headers of the recorder that a host needs.
HOST_HEADERS = [
    "call_details.h",
    "clock.h",
    "constant_name.h",
    "device_batch.h",
    "foreign_host.h",
    "foreign_lock.h",
    "hooks.h",
    "host.h",
    "input_writer.h",
    "launch_queue.h",
    "names.h",
    "slot.h",
    "source.h",
    "stack_provider.h",
    "state.h",
    "thread_log.h",
    "thread_sampler.h",
]
# Part -> the only headers of another part that it may include.
ONLY_HEADERS = {
    ("mindtorch/bridges/nvtx", "mindtorch/record"): HOST_HEADERS,
    ("mindtorch/bridges/torch", "mindtorch/record"): HOST_HEADERS,
    ("python/src", "mindtorch/record"): HOST_HEADERS,
    ("runtime", "mindtorch/record"): HOST_HEADERS,
    ("runtime/python", "mindtorch/record"): HOST_HEADERS,
}

# Programs and libraries that are linked with libmindtorch.so: they may include only its public headers, which are those that the
# CMakeLists.txt of a part lists as PUBLIC_HEADERS. A public header may include no other headers of ours either.
USERS = ["mindtorch/bridges/torch", "mtprof", "python/src", "runtime", "runtime/python", "examples", "benchmarks"]

# Headers of other projects -> the folders that may include them. Headers of the standard library, POSIX and fmt may be included anywhere.
# The reference device takes the place of a vendor's library, so the same rule applies to it.
VENDOR_HEADERS = {
    r"zstd\.h|zstd_errors\.h": ["mindtorch/trace", "mindtorch/export"],
    r"xxhash\.h": ["mindtorch/trace", "mindtorch/analyze", "mindtorch/ingest", "mindtorch/export"],
    r"libdeflate\.h|zlib\.h": ["mindtorch/ingest", "mindtorch/export"],
    r"simdjson(\.h|/)": ["mindtorch/ingest"],
    r"protozero/": ["mindtorch/export/perfetto"],
    r"sqlite3\.h": ["mindtorch/export/sqlite"],
    r"(openblas/)?(cblas|lapacke|openblas_config)\.h": ["runtime"],
    r"CLI/|CLI11\.hpp": ["mtprof"],
    r"(ATen|c10|torch)/": ["mindtorch/bridges/torch"],
    r"cupti|nvtx3?/": ["mindtorch/sources/cupti"],
    r"mspti": ["mindtorch/sources/mspti"],
    r"cuda": ["mindtorch/sources/cupti"],
    r"acl/": ["mindtorch/sources/mspti"],
    r"mindtorch/reference_device/": ["mindtorch/reference_device", "mindtorch/sources/reference", "runtime/mindtorch/runtime/kernels/npu"],
    r"nanobind/|Python\.h|pybind11/": ["python/src", "runtime/python"],
    r"gtest/|gmock/": ["tests"],
    r"benchmark/": ["benchmarks"],
}
# Tests, benchmarks and examples may include any header.
FREE_FOLDERS = ["tests", "runtime/tests", "benchmarks", "examples"]

SOURCE_SUFFIXES = {".h", ".hpp", ".cpp", ".cc", ".cu", ".cuh", ".inc"}
FORBIDDEN_LINE = re.compile(r"^\s*#\s*(if|ifdef|ifndef|elif)\b.*\bHAVE_\w+")
FORBIDDEN_RULE = "no #ifdef HAVE_X: let CMake choose between two source files"
PUBLIC_HEADERS = re.compile(r"(?:PUBLIC_HEADERS|set\(public_headers)\s+((?:[\w/]+\.h\s*)+)")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def is_below(path, folder):
    return path == folder or path.startswith(folder + "/")


def part_of(path):
    """The part that a file of the tree belongs to: the longest listed folder above it."""
    return max((part for part in LAYERS if is_below(path, part)), key=len, default=None)


def inner_folder(path, part):
    """The folder of `path` directly below `part`, or None for a file that lies in `part` itself."""
    rest = path[len(part) + 1 :].split("/")
    return rest[0] if len(rest) > 1 else None


def public_headers(root):
    """Part -> its public headers, for the parts that have a list."""
    paths = [path for top in ("mindtorch", "runtime") for path in sorted((root / top).rglob("CMakeLists.txt"))]
    lists = {path.parent: PUBLIC_HEADERS.search(path.read_text()) for path in paths}
    found = {}
    for folder, names in lists.items():
        if names:
            inside = folder.relative_to(root).as_posix()
            found[part_of(f"{inside}/CMakeLists.txt")] = {f"{inside}/{name}" for name in names.group(1).split()}
    return found


def check_public(source, target, public):
    """The broken rule when `source`, a user of the library or a public header, includes a header that is not public."""
    here, there = part_of(source), part_of(target)
    is_public = source in public.get(here, ())
    if not is_public and not (here in USERS and here != there):
        return None
    if there in public and target not in public[there]:
        what = "a public header" if is_public else here
        return f"{what} may include public headers only: '{target}' is not in PUBLIC_HEADERS of {there}/CMakeLists.txt"
    return None


def check_own_include(source, target, public):
    """The broken rule when `source` includes our header `target`; None if all is well."""
    here, there = part_of(source), part_of(target)
    if there is None:
        return f"'{target}' belongs to no part that tools/check_layers.py knows"
    if here == there:
        mine, other = inner_folder(source, here), inner_folder(target, here)
        if here in STRANGERS and mine and other and mine != other:
            return f"{here}/{mine} must not know {here}/{other}"
        return check_public(source, target, public)
    allowed = LAYERS[here]
    if not any(is_below(target, folder) for folder in allowed):
        return f"{here} may include {' '.join(allowed) or 'no other part'}, not {there}"
    headers = ONLY_HEADERS.get((here, there))
    if headers is not None and target[len(there) + 1 :] not in headers:
        return f"of {there}, {here} may include only: {' '.join(headers)}"
    return check_public(source, target, public)


def check_vendor_include(source, header):
    """The broken rule when `source` includes `header` of a vendor; None if all is well."""
    if any(is_below(source, folder) for folder in FREE_FOLDERS):
        return None
    for pattern, folders in VENDOR_HEADERS.items():
        if re.match(pattern, header) and not any(is_below(source, folder) for folder in folders):
            return f"<{header}> may be included only in {' '.join(folders)}"
    return None


def check_line(source, line, public):
    if FORBIDDEN_LINE.match(line):
        return FORBIDDEN_RULE
    include = INCLUDE.match(line)
    if not include:
        return None
    header = include.group(1)
    if header.startswith("mindtorch/runtime/"):  # which the include path of the runtime leads to
        header = f"runtime/{header}"
    ours = header.split("/")[0] in {part.split("/")[0] for part in LAYERS}
    rule = check_own_include(source, header, public) if ours else None
    return rule or check_vendor_include(source, header)


def check_file(root, source, public):
    for number, line in enumerate((root / source).read_text(errors="replace").splitlines(), start=1):
        rule = check_line(source, line, public)
        if rule:
            yield f"{source}:{number}: {rule}"


def sources_of(root):
    tops = sorted({part.split("/")[0] for part in LAYERS})
    files = (path for top in tops for path in sorted((root / top).rglob("*")))
    return [path.relative_to(root).as_posix() for path in files if path.suffix in SOURCE_SUFFIXES and path.is_file()]


def check_tree(root):
    public = public_headers(root)
    for source in sources_of(root):
        if part_of(source) is None:
            yield f"{source}:1: belongs to no part that tools/check_layers.py knows"
        else:
            yield from check_file(root, source, public)


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    violations = list(check_tree(root))
    for violation in violations:
        print(violation)
    print(f"check_layers: {len(sources_of(root))} files, {len(violations)} violations", file=sys.stderr)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
