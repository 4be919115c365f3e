"""Looks at files with readers that are not ours, and at recordings with mtprof."""

import csv
import gzip
import io
import json
import xml.etree.ElementTree as ElementTree

from case import Failure, require

# Every format that a profile with all options can be written in.
SUFFIXES = [
    ".json",
    ".json.gz",
    ".chrome.json",
    ".pftrace",
    ".pftrace.gz",
    ".mtrec",
    ".speedscope.json",
    ".speedscope.json.gz",
    ".et.json",
    ".et.json.gz",
    ".svg",
    ".collapsed",
    ".averages.json",
    ".averages.csv",
    ".events.json",
    ".events.csv",
    ".timeline.html",
    ".timeline.json",
    ".timeline.json.gz",
    ".timeline.raw.json.gz",
    ".stacks.txt",
]
OURS = {"cpu_op", "user_annotation"}


def check_file(case, path, content=None):
    """Fails unless the file, or `content` in its place, is whole and valid in the format that its suffix names."""
    name = str(path)
    data = content if content is not None else path.read_bytes()
    require(len(data) > 0, f"{name} is empty")
    try:
        if name.endswith(".gz"):
            data, name = gzip.decompress(data), name.removesuffix(".gz")
        if name.endswith(".json"):
            return json.loads(data)
        if name.endswith(".svg"):
            return ElementTree.fromstring(data)
        if name.endswith(".csv"):
            rows = list(csv.reader(io.StringIO(data.decode(), newline="")))
            require(len({len(row) for row in rows}) == 1, f"{name}: rows of different lengths")
        elif name.endswith(".pftrace"):
            check_packets(data)
        elif name.endswith((".collapsed", ".stacks.txt")):
            for line in data.decode().splitlines():
                int(line.rsplit(" ", 1)[1])
        elif name.endswith(".html"):
            require(data.rstrip().endswith(b"</html>"), f"{name} ends early")
        elif name.endswith(".mtrec"):
            check_recording(case, path, content)
    except (ValueError, EOFError, IndexError, OSError, ElementTree.ParseError) as error:
        raise Failure(f"{path} is not valid: {type(error).__name__}: {error}; it begins with {data[:80]!r}") from None


def check_packets(data):
    """A Perfetto trace is a sequence of packets: field 1 with its length, again and again."""
    at = 0
    while at < len(data):
        require(data[at] == 0x0A, f"byte {at} of a Perfetto trace begins no packet")
        at, length, shift = at + 1, 0, 0
        while True:
            length |= (data[at] & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 0x80:
                break
        at += length
    require(at == len(data), "the last packet of a Perfetto trace is cut")


def check_recording(case, path, content=None):
    if content is not None:
        path = case.folder / "received.mtrec"
        path.write_bytes(content)
    case.mtprof("validate", path)
    if content is not None:
        path.unlink()


def complete_events(trace):
    """The ops and scopes of a Chrome trace."""
    return [event for event in trace["traceEvents"] if event["ph"] == "X" and event.get("cat") in OURS]


def recorded_python_events(trace):
    """The module calls and Python calls of a Chrome trace, without those that the exporter derived from stacks."""
    python = (event for event in trace["traceEvents"] if event.get("cat") == "python_function")
    return [event for event in python if not event["args"].get("derived from stacks")]


def info_of(case, path, expected=(0,)):
    """What mtprof says about a file, as a dictionary."""
    ended = case.mtprof("info", "--json", path, expected=expected)
    return json.loads(ended.output)


def check_sum_with_waits(answer):
    """As many events as were issued are there or lost. Waits for the disk may be among the lost ones: at most one in a segment of 2,048."""
    most = answer["issued"] + answer["issued"] // 2048 + 20
    require(answer["issued"] <= answer["recorded"] + answer["lost"] <= most, f"events do not add up: {answer}")


def check_only(folder, expected):
    """Fails if anything but these names lies in a folder: a temporary file was left."""
    found = {path.name for path in folder.iterdir()}
    require(found == set(expected), f"{folder} holds {sorted(found)}, expected {sorted(expected)}")
