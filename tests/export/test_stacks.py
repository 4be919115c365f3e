"""Collapsed stacks and flame graphs as their readers see them.

Tests mindtorch/export/stacks/stacks_writer.
"""

import json
import re
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

SAMPLES = ["cpu", "full", "npu", "cuda", "hostile", "empty"]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", SAMPLES)
def test_every_line_is_frames_and_a_positive_weight(traces, name):
    for line in (traces / f"{name}.collapsed").read_bytes().decode("utf-8").split("\n")[:-1]:
        match = re.fullmatch(r"(.*) (\d+)", line, re.DOTALL)
        assert match and int(match[2]) > 0
        assert not re.search(r"[\x00-\x20\x7f-\x9f]", match[1])


@pytest.mark.parametrize("name", SAMPLES)
def test_a_flame_graph_is_well_formed_and_its_boxes_nest(traces, name):
    root = ElementTree.fromstring((traces / f"{name}.svg").read_bytes())
    assert root.tag == f"{SVG}svg"
    boxes = []
    for group in root.iter(f"{SVG}g"):
        x, width, depth = (float(group.get(f"data-{key}")) for key in "xwd")
        assert group.find(f"{SVG}title").text
        assert x >= 0 and x + width <= 1 + 1e-6
        boxes.append((depth, x, width))
    for depth, x, width in boxes:
        if depth > 0:
            assert any(d == depth - 1 and px - 1e-6 <= x and x + width <= px + pw + 1e-6 for d, px, pw in boxes)


def test_a_flame_graph_needs_nothing_from_elsewhere(traces):
    text = (traces / "full.svg").read_text()
    assert "href" not in text and "@import" not in text and "url(" not in text


def test_hostile_names_do_not_leave_their_boxes(traces):
    root = ElementTree.fromstring((traces / "hostile.svg").read_bytes())
    assert len(list(root.iter(f"{SVG}script"))) == 1
    titles = [title.text for title in root.iter(f"{SVG}title")]
    assert any("not in XML \ufffd\ufffd" in title for title in titles)
    assert any("</script><script>alert(1)</script>" in title for title in titles)


@pytest.fixture(scope="module")
def deep(program, tmp_path_factory):
    """A trace of 20,000 nested scopes, exported both ways."""
    folder = tmp_path_factory.mktemp("deep")
    depth = 20_000
    events = [
        {"ph": "X", "cat": "cpu_op", "name": f"scope {i}", "pid": 1, "tid": 1, "ts": i, "dur": 2 * depth - 2 * i} for i in range(depth)
    ]
    (folder / "deep.json").write_text(json.dumps({"traceEvents": events}))
    subprocess.run(
        [program("mtprof"), "export", folder / "deep.json", "-o", folder / "deep.svg", "-o", folder / "deep.collapsed"],
        check=True,
        capture_output=True,
    )
    return folder


def test_collapsed_stacks_of_deep_nesting_stay_in_proportion_and_lose_no_time(deep):
    data = (deep / "deep.collapsed").read_bytes()
    assert len(data) < 10_000_000
    lines = [line.rsplit(" ", 1) for line in data.decode("utf-8").splitlines()]
    assert max(line.count(";") for line, _ in lines) == 999
    assert [line.endswith(";[deeper_frames]") for line, _ in lines].count(True) == 1
    assert sum(int(weight) for _, weight in lines) == 40_000


def test_a_flame_graph_of_deep_nesting_says_what_it_leaves_out(deep):
    data = (deep / "deep.svg").read_bytes()
    assert len(data) < 1_000_000
    root = ElementTree.fromstring(data)
    notes = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "note"]
    assert any('19001 paths of 1000 frames or more are drawn as "[deeper frames]".' in (note or "") for note in notes)
    assert max(int(group.get("data-d")) for group in root.iter(f"{SVG}g")) == 1000
