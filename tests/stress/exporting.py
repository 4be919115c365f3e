"""Cases that export into hostile places. An export writes a whole file or says why not, and harms nothing."""

import os
import stat
import threading

import checks
from case import require

ALL = {"record_shapes": True, "profile_memory": True, "with_stack": True}
OLD = b"as it was"


def export(case, paths, prefix=(), **parameters):
    """Exports to each of the paths; returns how each ended."""
    answer = case.run_python(
        "export_into", prefix=prefix, options=ALL, turns=parameters.pop("turns", 200), exports=[str(path) for path in paths], **parameters
    )
    return answer["ended"]


def require_refused(path, ended, with_path=True):
    require(ended["error"] is not None and ended["oserror"], f"an export to {path} should have raised OSError: {ended}")
    require(not with_path or str(path) in ended["text"], f"the error of an export to {path} does not name it: {ended}")


def suffixes_of(case, count):
    return case.random.sample(checks.SUFFIXES, k=count)


def into_ordinary_places(case):
    """Every format: a new file, an old file whose mode stays, a name of 255 bytes, a link whose target is written."""
    folder = case.folder / "out"
    folder.mkdir()
    (case.folder / "linked").mkdir()
    paths, links = [], []
    for suffix in suffixes_of(case, 6):
        plain, old = folder / f"new{suffix}", folder / f"old{suffix}"
        old.write_bytes(OLD)
        old.chmod(0o640)
        long = folder / ("n" * (255 - len(suffix)) + suffix)
        link = folder / f"link{suffix}"
        link.symlink_to(case.folder / "linked" / f"target{suffix}")
        if case.random.random() < 0.5:
            (case.folder / "linked" / f"target{suffix}").write_bytes(OLD)
        paths += [plain, old, long, link]
        links.append(link)
    for path, ended in zip(paths, export(case, paths), strict=True):
        require(ended["error"] is None, f"an export to {path} failed: {ended}")
        checks.check_file(case, path)
        if path.name.startswith("old"):
            require(stat.S_IMODE(path.stat().st_mode) == 0o640, f"the mode of {path} has changed")
    require(all(link.is_symlink() for link in links), "an export has replaced a symbolic link")
    checks.check_only(folder, [path.name for path in paths])
    checks.check_only(case.folder / "linked", [os.path.basename(os.readlink(link)) for link in links])


def into_places_that_are_not(case):
    """A missing folder, a folder as target, a file as folder, a loop of links, too long a name: an OSError that names the path."""
    rng = case.random
    (case.folder / "file").write_bytes(OLD)
    loop = case.folder / "loop"
    loop.symlink_to(loop)
    paths = []
    for suffix in suffixes_of(case, 4):
        target = case.folder / f"folder{suffix}"
        target.mkdir()
        places = [
            case.folder / "missing" / f"x{suffix}",
            target,
            case.folder / "file" / f"x{suffix}",
            loop / f"x{suffix}",
            case.folder / ("n" * (256 - len(suffix)) + suffix),
        ]
        paths += rng.sample(places, k=3)
    before = sorted(path.name for path in case.folder.iterdir())
    for path, ended in zip(paths, export(case, paths), strict=True):
        require_refused(path, ended)
    require(sorted(path.name for path in case.folder.iterdir()) == before, "a refused export leaves a file")
    require((case.folder / "file").read_bytes() == OLD, "a refused export has changed a file")


def into_paths_with_nul(case):
    """A NUL byte in a path is an error, and nothing is written under the shorter name."""
    suffix = suffixes_of(case, 1)[0]
    path = f"{case.folder}/short\0er{suffix}"
    (ended,) = export(case, [path])
    require(ended["error"] is not None, f"an export to {path!r} did not fail")
    checks.check_only(case.folder, [])


def into_a_read_only_folder(case):
    """An OSError that names the path; old files stay as they were."""
    folder = case.folder / "out"
    folder.mkdir()
    paths = [folder / f"new{suffix}" for suffix in suffixes_of(case, 3)]
    folder.chmod(0o555)
    for path, ended in zip(paths, export(case, paths, prefix=without_privileges()), strict=True):
        require_refused(path, ended)
    checks.check_only(folder, [])


def without_privileges():
    """Root may write anywhere unless it gives up the right to."""
    return ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.geteuid() == 0 else []


def onto_a_full_disk(case):
    """An OSError that names the path, the old file intact, no temporary file; afterwards an export works."""
    rng = case.random
    suffixes, turns = suffixes_of(case, 3), 2000
    if rng.random() < 0.5:
        folder, limit = case.mount_small_disk(kilobytes=16), None
    else:
        folder, limit = case.folder / "out", rng.choice([64, 500])
        folder.mkdir()
    paths = [folder / f"old{suffix}" for suffix in suffixes]
    for path in paths:
        path.write_bytes(OLD)
    afterwards = case.folder / "afterwards.json"
    ends = export(case, paths, turns=turns, file_bytes=limit, afterwards=str(afterwards))
    for path, ended in zip(paths, ends, strict=True):
        if ended["error"] is None:  # a short file may fit
            checks.check_file(case, path)
        else:
            require_refused(path, ended)
            require(path.read_bytes() == OLD, f"a failed export has changed {path}")
    checks.check_only(folder, [path.name for path in paths])
    checks.check_file(case, afterwards)


def into_device_nodes(case):
    """A node of a device stays what it is: an export writes into it or refuses."""
    suffixes = suffixes_of(case, 3)
    null = [case.make_node(f"null{suffix}", 3) for suffix in suffixes]
    full = [case.make_node(f"full{suffix}", 7) for suffix in suffixes]
    ends = export(case, null + full)
    for path, ended in zip(null + full, ends, strict=True):
        kind = path.stat()
        minor = 3 if path in null else 7
        require(stat.S_ISCHR(kind.st_mode) and kind.st_rdev == os.makedev(1, minor), f"{path} is not a device node any more")
        if path in full or ended["error"] is not None:
            require_refused(path, ended)
    checks.check_only(case.folder, [path.name for path in null + full])


def into_fifos(case):
    """A FIFO stays a FIFO: whoever reads it gets a whole file, or the export refuses."""
    suffix = suffixes_of(case, 1)[0]
    path, received = case.folder / f"fifo{suffix}", bytearray()
    os.mkfifo(path)
    over = threading.Event()
    reader = threading.Thread(target=drain, args=(path, received, over), daemon=True)
    reader.start()
    (ended,) = export(case, [path])
    over.set()
    reader.join()
    require(stat.S_ISFIFO(path.stat().st_mode), "an export has replaced a FIFO")
    if ended["error"] is None:
        checks.check_file(case, path, bytes(received))
    else:
        require_refused(path, ended)
    checks.check_only(case.folder, [path.name])


def drain(path, received, over):
    """Reads a FIFO until the program that may have written to it has ended."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    while True:
        ended = over.is_set()
        try:
            piece = os.read(descriptor, 1 << 16)
        except BlockingIOError:
            piece = b""
        received += piece
        if not piece:
            if ended:
                break
            over.wait(0.01)
    os.close(descriptor)


def into_a_vanished_folder(case):
    """A relative path in a working folder that is gone: an OSError, and the profile is as good as before."""
    gone = case.folder / "gone"
    gone.mkdir()
    paths = [f"x{suffix}" for suffix in suffixes_of(case, 3)]
    ends = export(case, paths, vanished_folder=str(gone), afterwards=str(case.folder / "afterwards.json"))
    for path, ended in zip(paths, ends, strict=True):
        require_refused(path, ended)
    checks.check_file(case, case.folder / "afterwards.json")
    checks.check_only(case.folder, ["afterwards.json"])


def spills_into_hostile_places(case):
    """A spill writes a regular file, through a link too; everything else is refused by start(), and stays what it is."""
    fifo, folder, node = case.folder / "fifo.mtrec", case.folder / "folder.mtrec", case.make_node("null.mtrec", 3)
    os.mkfifo(fifo)
    folder.mkdir()
    link, target = case.folder / "link.mtrec", case.folder / "target.mtrec"
    link.symlink_to(target)
    refused = [fifo, folder, node, case.folder / "missing" / "x.mtrec", case.folder / ("n" * 250 + ".mtrec")]
    answer = case.run_python("spill_into", options=ALL, turns=50, budget_bytes=1 << 20, paths=[str(path) for path in [*refused, link]])
    *ends, linked = answer["ended"]
    for path, ended in zip(refused, ends, strict=True):
        require_refused(path, ended)
    require(linked["error"] is None, f"a spill through a link failed: {linked}")
    require(link.is_symlink() and stat.S_ISFIFO(fifo.stat().st_mode) and stat.S_ISCHR(node.stat().st_mode), "a spill has replaced a file")
    checks.check_file(case, target)
    checks.check_only(case.folder, ["fifo.mtrec", "folder.mtrec", "null.mtrec", "link.mtrec", "target.mtrec"])


def deep_nesting_stays_in_proportion(case):
    """Scopes nested thousands deep: no file grows with the square of the depth."""
    depth = case.random.choice([100, 3000, 10_000])
    paths = [case.folder / f"deep{suffix}" for suffix in (".svg", ".collapsed", case.random.choice(checks.SUFFIXES))]
    answer = case.run_python("nest", options=ALL, depth=depth, exports=[str(path) for path in paths])
    require(answer["recorded"] == depth, f"{answer['recorded']} of {depth} scopes were recorded")
    for path in paths:
        size = path.stat().st_size / (1 << 20)
        require(size < 32, f"{path.name} of {depth} nested scopes has {size:.0f} MiB")
        checks.check_file(case, path)


def any_name_is_kept(case):
    """Names of any characters: every format stays valid, and a trace has the names as they were given."""
    names = [draw_name(case.random) for _ in range(30)]
    paths = [case.folder / f"named{suffix}" for suffix in [".chrome.json", *suffixes_of(case, 6)]]
    case.run_python("name", options=ALL, names=names, exports=[str(path) for path in paths])
    for path in paths:
        checks.check_file(case, path)
    written = [event["name"] for event in checks.complete_events(checks.check_file(case, paths[0]))]
    whole = [name for name in names if not any("\ud800" <= letter <= "\udfff" for letter in name)]
    require(sorted(whole) == sorted(name for name in written if name in set(whole)), f"names were changed: {written}")
    require(len(written) == len(names), f"{len(written)} of {len(names)} scopes were written")


def draw_name(rng):
    alphabets = ["ab ;,\"'<>&\\", "\0\1\x1b\x7f\r\n\t", "\u00e9\u4e2d\U0001f600", "\ufffe\uffff\u2028", "\ud800\udfff", "=+-@|"]
    length = rng.choice([0, 1, 5, 30, 3000])
    return "".join(rng.choice(rng.choice(alphabets)) for _ in range(length))


CASES = [
    spills_into_hostile_places,
    deep_nesting_stays_in_proportion,
    any_name_is_kept,
    into_ordinary_places,
    into_places_that_are_not,
    into_paths_with_nul,
    into_a_read_only_folder,
    onto_a_full_disk,
    into_device_nodes,
    into_fifos,
    into_a_vanished_folder,
]
