"""What notebooks show: tables in HTML, read back by an independent parser."""

import re
from html.parser import HTMLParser

import mindtorch_v2 as torch
import pytest
from mindtorch_v2.autograd.profiler_util import EventList, FunctionEvent
from mindtorch_v2.profiler import _ExperimentalConfig, profile, record_function


class Page(HTMLParser):
    """The header and the rows of a table, the line below it, and what each cell says when pointed at."""

    def __init__(self, text):
        super().__init__()
        self.header, self.rows, self.titles, self.caption, self.open_tags = [], [], [], "", []
        self.feed(text)
        assert self.open_tags == []

    def handle_starttag(self, tag, attributes):
        self.open_tags.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag == "td":
            self.rows[-1].append("")
            self.titles.append(dict(attributes).get("title"))
        elif tag == "th":
            self.header.append("")

    def handle_endtag(self, tag):
        assert self.open_tags.pop() == tag

    def handle_data(self, data):
        inside = self.open_tags[-1] if self.open_tags else ""
        if inside == "td":
            self.rows[-1][-1] += data
        elif inside == "th":
            self.header[-1] += data
        elif inside == "p":
            self.caption += data


def show(thing):
    page = Page(thing._repr_html_())
    page.rows = [row for row in page.rows if row]
    assert all(len(row) == len(page.header) for row in page.rows)
    return page


def test_a_profile_is_shown_as_its_averages_largest_first():
    with profile() as prof:
        for _ in range(3):
            torch.ones((64, 64)) * 2
    page = show(prof)
    assert page.rows == show(prof.key_averages()).rows
    rows = sorted(prof.key_averages(), key=lambda row: row.self_cpu_time_total, reverse=True)
    assert [row[0] for row in page.rows] == [row.key for row in rows]
    assert [row[page.header.index("# of Calls")] for row in page.rows] == [str(row.count) for row in rows]
    assert "Self CPU time total:" in page.caption and f"Total keys: {len(rows)}" in page.caption


def test_a_profile_that_has_nothing_to_show_yet_is_shown_as_text():
    prof = profile()
    assert prof._repr_html_() is None
    with prof:
        assert prof._repr_html_() is None
    with profile(experimental_config=_ExperimentalConfig(trace_only=True)) as kept_for_export:
        pass
    assert kept_for_export._repr_html_() is None


def test_a_table_without_rows_says_so():
    with profile() as prof:
        pass
    assert show(prof).rows == [] and show(prof).caption == "No events were recorded."


@pytest.mark.parametrize("name", ["<b>bold</b>", 'a "quoted" name', "& so on", "x" * 500])
def test_any_name_is_shown_as_it_is(name):
    with profile() as prof, record_function(name):
        pass
    page = show(prof)
    assert page.rows[0][0] == name and page.titles[0] == name


def test_a_source_location_is_shown_without_its_folders_and_the_whole_stack_when_pointed_at():
    with profile(with_stack=True) as prof:
        torch.ones(2)
    page = show(prof.key_averages(group_by_stack_n=5))
    (row,) = [row for row in prof.key_averages(group_by_stack_n=5) if row.key == "aten::ones"]
    place = page.rows[[shown[0] for shown in page.rows].index("aten::ones")][page.header.index("Source Location")]
    assert re.fullmatch(r"test_notebook\.py\(\d+\): test_a_source_location_\w+", place)
    assert "\n".join(row.stack) in page.titles


@pytest.mark.parametrize(
    ("frame", "shown"),
    [
        ("/home/me/project/prog.py(20): step", "prog.py(20): step"),
        ("/home/me/project/prog.py:20:step", "prog.py(20): step"),
        (r"C:\project\prog.py(20): step", "prog.py(20): step"),
        ("prog.py(20): step", "prog.py(20): step"),
        ("/home/me/number.cpp:7:operator/", "number.cpp(7): operator/"),
        ("<built-in function len>", "<built-in function len>"),
    ],
)
def test_every_form_of_a_frame_is_shown_by_its_file_first(frame, shown):
    page = show(EventList([FunctionEvent(0, "op", 1, 0, 5, stack=[frame, "outer"])]))
    assert page.rows[0][page.header.index("Source Location")] == shown
    assert f"{frame}\nouter" in page.titles


@pytest.mark.parametrize(
    ("flops", "shown", "whole"),
    [
        (None, "--", "0"),
        (0, "--", "0"),
        (999, "999", "999"),
        (999_949, "999.9 K", "999,949"),
        (999_999, "1 M", "999,999"),
        (123_456_789, "123.5 M", "123,456,789"),
    ],
)
def test_a_number_of_flops_is_shown_with_a_unit_and_whole_when_pointed_at(flops, shown, whole):
    page = show(EventList([FunctionEvent(0, "op", 1, 0, 5, flops=flops)], with_flops=True))
    column = page.header.index("FLOPs")
    assert (page.rows[0][column], page.titles[column]) == (shown, whole)


def test_a_long_list_is_cut_and_says_how_much_is_missing():
    with profile() as prof:
        for _ in range(150):
            torch.ones(2) * 2
    page = show(prof.events())
    assert len(page.rows) == 100 and page.caption.startswith(f"{len(prof.events()) - 100} more rows are not shown. ")
