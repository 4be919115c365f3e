"""What commands write: never over what they read, never two outputs into one file, and nothing of it where it would run."""

import json
import os
import re
import shutil
import subprocess

import pytest


@pytest.fixture(scope="session")
def samples(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    subprocess.run([program("make_traces"), folder], check=True)
    return folder


@pytest.fixture
def folder(samples, tmp_path):
    """Two inputs, T and B, whatever suffix a command wants."""
    for name in ("T", "B"):
        shutil.copy(samples / "cpu.mtrec", tmp_path / f"{name}.mtrec")
    return tmp_path


@pytest.fixture
def mtprof(program, folder, monkeypatch):
    def run(*arguments, status=0, cwd=folder, **options):
        done = subprocess.run([program("mtprof"), *map(str, arguments)], capture_output=True, text=True, check=False, cwd=cwd, **options)
        assert done.returncode == status, done.stdout + done.stderr
        return done

    return run


# A command that reads T (and B), up to the value of an option that names an output, and a suffix that the output may have.
WRITERS = [
    (("report", "T.mtrec", "-o"), ".html"),
    (("report", "T.mtrec", "-o"), ".json"),
    (("report", "T.mtrec", "--baseline", "B.mtrec", "-o"), ".html"),
    (("diff", "T.mtrec", "B.mtrec", "-o"), ".json"),
    (("diff", "T.mtrec", "B.mtrec", "-o"), ".html"),
    (("check", "T.mtrec", "--baseline", "B.mtrec", "--max", "step_time=+1000%", "--junit"), ".xml"),
    (("export", "T.mtrec", "-o"), ".json"),
    (("export", "T.mtrec", "-o"), ".parquet"),
    (("export", "T.mtrec", "--memory-timeline"), ".html"),
    (("ranks", "T.mtrec", "-o"), ".html"),
    (("ranks", ".", "--merge"), ".mtrec"),
    (("ranks", "T.mtrec", "--summaries"), ".mtrec"),
]
NAMES = [" ".join(arguments) + suffix for arguments, suffix in WRITERS]


def needs(suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")


@pytest.mark.parametrize("arguments, suffix", WRITERS, ids=NAMES)
@pytest.mark.parametrize("way", ["the same name", "another path", "a symbolic link", "a hard link"])
def test_no_output_replaces_an_input(mtprof, folder, arguments, suffix, way):
    needs(suffix)
    path = f"same{suffix}"
    arguments = [path if argument == "T.mtrec" else argument for argument in arguments]
    os.rename(folder / "T.mtrec", folder / path)
    before = (folder / path).read_bytes()
    output = {"the same name": path, "another path": f"./../{folder.name}/{path}", "a symbolic link": f"link{suffix}"}.get(
        way, f"hard{suffix}"
    )
    if way == "a symbolic link":
        (folder / output).symlink_to(path)
    if way == "a hard link":
        os.link(folder / path, folder / output)
    if arguments[:2] == ["ranks", "."] and way == "the same name":
        assert path.endswith(".mtrec")  # a file in the folder is an input too
    message = mtprof(*arguments, output, status=2).stderr
    assert f"{arguments[-1]} {output} would replace" in message and "--force" in message
    assert (folder / path).read_bytes() == before


@pytest.mark.parametrize("arguments, suffix", WRITERS, ids=NAMES)
def test_force_allows_it(mtprof, folder, arguments, suffix):
    needs(suffix)
    shutil.copy(folder / "T.mtrec", folder / f"same{suffix}")
    arguments = [f"same{suffix}" if argument == "T.mtrec" else argument for argument in arguments]
    undecided = 3  # two steps prove nothing
    mtprof(*arguments, f"same{suffix}", "--force", status=undecided if arguments[0] == "check" else 0)


@pytest.mark.parametrize(
    "arguments",
    [
        ("export", "T.mtrec", "-o", "x.json", "-o", "./x.json"),
        ("export", "T.mtrec", "-o", "x.json", "--memory-timeline", "link.json"),
        ("export", "T.mtrec", "-o", "x.parquet", "-o", "./x.parquet"),
        ("ranks", "T.mtrec", "-o", "x.html", "--merge", "x.html"),
        ("ranks", "T.mtrec", "--merge", "x.json", "--summaries", "link.json"),
    ],
    ids=" ".join,
)
def test_two_outputs_are_never_one_file(mtprof, folder, arguments):
    (folder / "link.json").symlink_to("x.json")
    before = sorted(os.listdir(folder))
    assert "would replace" in mtprof(*arguments, status=2).stderr
    assert sorted(os.listdir(folder)) == before


def test_devices_may_be_written_twice(mtprof, folder):
    for name in ("one.json", "two.json"):
        (folder / name).symlink_to("/dev/null")
    mtprof("export", "T.mtrec", "-o", "one.json", "-o", "two.json")


@pytest.mark.parametrize("arguments, suffix", WRITERS, ids=NAMES)
def test_a_folder_that_is_not_there_is_told_before_anything_is_read(mtprof, folder, arguments, suffix):
    needs(suffix)
    for name in ("T", "B"):
        (folder / f"{name}.mtrec").write_text("no recording")
    told = mtprof(*arguments, f"missing/x{suffix}", status=2).stderr
    assert f"{arguments[-1]} missing/x{suffix}: there is no folder 'missing'" in told


NONSENSE = [
    (("diff", "T.mtrec", "B.mtrec"), "--confidence", ["nan", "inf", "2", "0.1", "-1", "0.9x", ""]),
    (("diff", "T.mtrec", "B.mtrec"), "--limit", ["99999999999999999999", "-2", "1.5", "many", "0x10"]),
    (("table", "T.mtrec"), "--limit", ["99999999999999999999", "-2", "nan"]),
    (("table", "T.mtrec"), "--by-stack", ["-1", "99999999999999999999"]),
    (("table", "T.mtrec"), "--time-unit", ["h"]),
    (("efficiency", "T.mtrec"), "--limit", ["99999999999999999999", "-2", "nan"]),
    (("efficiency", "T.mtrec"), "--by", ["threads"]),
    (("efficiency", "T.mtrec"), "--peak", ["bfloat16", "bf16=1", "memory=-1", "memory=nan"]),
    (("ranks", "T.mtrec"), "--limit", ["-2", "99999999999999999999"]),
    (("ranks", "T.mtrec"), "--threads", ["-1", "100000", "99999999999999999999"]),
    (
        ("ranks", "T.mtrec", "--merge", "x.json"),
        "--merge-steps",
        ["-1:2", "5:3", "3:3", "99999999999999999999:1", "1:99999999999999999999", "3", "a:b"],
    ),
    (("ranks", "T.mtrec", "--merge", "x.json"), "--merge-ranks", ["-1", "x"]),
    (("export", "T.mtrec"), "--memory-timeline", ["m.xyz", "m"]),
    *(
        ((command, "T.mtrec"), "--max-memory", ["-1", "nan", "4XB", "99999999999999999999", "99999999E", "GB"])
        for command in ("info", "table", "report")
    ),
]


@pytest.mark.parametrize(
    "arguments, option, value",
    [(arguments, option, value) for arguments, option, values in NONSENSE for value in values],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else value,
)
def test_a_value_that_makes_no_sense_is_refused_by_name(mtprof, arguments, option, value):
    message = mtprof(*arguments, f"{option}={value}", status=2).stderr
    assert option in message and value in message


@pytest.mark.parametrize("size", ["64MB", "64mb", "64 MiB", "67108864", "65536k", "1GB"])
def test_sizes_of_memory_have_units(mtprof, size):
    mtprof("info", "T.mtrec", "--max-memory", size)


def test_an_unknown_command_is_answered_with_the_list(mtprof):
    message = mtprof("frobnicate", "T.mtrec", status=2).stderr
    assert "there is no command 'frobnicate'; the commands are run, attach, collect, doctor, query" in message


CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@pytest.mark.parametrize(
    "arguments",
    [
        ("diff", "H", "H", "--all", "--limit", "-1"),
        ("efficiency", "H", "--limit", "-1"),
        ("diff", "\x1b[31mH", "H"),
        ("report", "H"),
        ("report", "H", "--baseline", "H"),
        ("table", "H", "--limit", "-1"),
        ("info", "H"),
        ("what-if", "H", "--remove", "\x1b[31mselector"),
        ("what-if", "H", "--remove", "op:*"),
        ("validate", "H"),
        ("ranks", "H"),
        ("ranks", "H", "-o", "\x1b[31m.html"),
        ("check", "H", "--baseline", "H", "--max", "calls:\x1b]0;title\x07 \x1b[31m=0%"),
        ("\x1b[31mcommand",),
        ("table", "H", "\x1b[31mmore"),
        ("table", "H", "--limit", "\x1b[31m"),
    ],
    ids=lambda arguments: ascii(" ".join(arguments)),
)
def test_no_escape_sequence_of_a_file_or_an_argument_reaches_the_terminal(program, samples, tmp_path, arguments):
    for name in ("H", "\x1b[31mH"):
        shutil.copy(samples / "hostile.mtrec", tmp_path / name)
    done = subprocess.run([program("mtprof"), *arguments], capture_output=True, cwd=tmp_path, check=False)
    assert done.stdout + done.stderr
    assert not CONTROLS.search((done.stdout + done.stderr).decode())


@pytest.mark.parametrize("suffix", [".html", ".report.html"])
@pytest.mark.parametrize("arguments", [("export", "T.mtrec", "--memory-timeline"), ("report", "T.mtrec", "-o"), ("ranks", "T.mtrec", "-o")])
def test_every_page_forbids_what_it_does_not_need(mtprof, folder, arguments, suffix):
    mtprof(*arguments, f"page{suffix}")
    head = (folder / f"page{suffix}").read_text().partition("<body")[0]
    assert re.search(r'<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; ', head)


def test_the_help_lists_parquet(mtprof):
    assert ".parquet" in mtprof("export", "--help").stdout


# --- Code comes from where it should ---

PYTHON_COMMANDS = [
    ("query", "../T.mtrec", "select 1"),
    ("doctor", "--help"),
    ("trigger", "--help"),
    ("live", "--help"),
    ("run", "--help"),
    ("export", "../T.mtrec", "-o", "out.parquet"),
    ("ranks", "..", "--scheduler", "--help"),
]


@pytest.mark.parametrize("python_path", [None, "", ":", ":/nowhere", "/nowhere:"])
@pytest.mark.parametrize("arguments", PYTHON_COMMANDS, ids=lambda arguments: arguments[0])
def test_no_module_of_the_current_folder_is_run(program, folder, monkeypatch, arguments, python_path):
    if python_path is None or (arguments[0] == "run" and python_path):  # a program gets the path that the user has chosen for it
        monkeypatch.delenv("PYTHONPATH", raising=False)
    else:
        monkeypatch.setenv("PYTHONPATH", python_path)
    trap = folder / "trap"
    (trap / "mindtorch_v2").mkdir(parents=True)
    for name in ("mindtorch_v2/__init__", "argparse", "json", "sitecustomize", "usercustomize", "duckdb", "pyarrow"):
        (trap / f"{name}.py").write_text(f"open({str(folder / 'sprung')!r}, 'w')\n")
    subprocess.run([program("mtprof"), *arguments], capture_output=True, cwd=trap, check=False, timeout=60)
    assert not (folder / "sprung").exists()


def test_no_library_of_the_build_is_looked_for_in_the_current_folder(build_folder):
    files = [*build_folder.glob("bin/*"), *build_folder.glob("lib/*.so"), *build_folder.glob("python/mindtorch_v2/*.so")]
    assert build_folder / "bin" / "mtprof" in files
    for file in files:
        dynamic = subprocess.run(["readelf", "-d", file], capture_output=True, text=True, check=False).stdout
        for path in re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", dynamic):
            assert all(entry.startswith(("/", "$ORIGIN")) for entry in path.split(":")), (file, path)


# --- The ranks of a job ---


def test_an_answer_that_is_printed_into_the_folder_of_the_job_is_no_rank(program, folder):
    for name in ("first.json", "second.json"):
        with open(folder / name, "w") as output:
            done = subprocess.run([program("mtprof"), "ranks", ".", "--json"], stdout=output, cwd=folder, check=False)
        job = json.loads((folder / name).read_text())
        assert done.returncode == 0 and len(job["ranks"]) == 2
        assert [fault["file"] for fault in job["faults"] if fault["kind"] == "no_trace"] == (
            [] if name == "first.json" else ["./first.json"]
        )


def test_json_that_is_no_trace_is_a_failure_if_it_was_named(mtprof, folder):
    (folder / "settings.json").write_text('{"a": 1}')
    assert "is not a Chrome trace" in mtprof("ranks", "T.mtrec", "settings.json", status=1).stdout


def test_one_file_is_one_rank_whatever_its_names(mtprof, folder):
    (folder / "latest.mtrec").symlink_to("T.mtrec")
    job = json.loads(mtprof("ranks", "T.mtrec", "./T.mtrec", "latest.mtrec", "--json").stdout)
    assert len(job["ranks"]) == 1
    assert [fault["kind"] for fault in job["faults"]].count("duplicate") == 2
    assert "is the same file as T.mtrec, and is read once" in mtprof("ranks", "T.mtrec", "latest.mtrec").stdout
