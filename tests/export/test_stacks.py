"""Collapsed stacks and flame graphs as their readers see them."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

SAMPLES = ["cpu", "full", "npu", "cuda", "hostile", "empty"]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", SAMPLES)
def test_every_line_is_frames_and_a_positive_weight(traces, name):
    for line in (traces / f"{name}.collapsed").read_text(encoding="utf-8", errors="surrogateescape").split("\n")[:-1]:
        match = re.fullmatch(r"(.*) (\d+)", line, re.DOTALL)
        assert match and int(match[2]) > 0
        assert " " not in match[1]


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
    assert any("</script><script>alert(1)</script>" in title for title in titles)
