"""The page that stands for a notebook."""

import os
import subprocess
import sys
from html.parser import HTMLParser

import pytest


class Table(HTMLParser):
    """Headers and rows of the one table of a page; fails where tags do not match."""

    def __init__(self, page):
        super().__init__()
        self.rows, self._open = [], []
        self.feed(page)
        assert not self._open

    def handle_starttag(self, tag, attributes):
        if tag in ("style", "table", "caption", "thead", "tbody", "tr", "th", "td"):
            self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        if tag in ("style", "table", "caption", "thead", "tbody", "tr", "th", "td"):
            assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open and self._open[-1] in ("th", "td"):
            self.rows[-1][-1] += data


@pytest.mark.parametrize("npu", ["", "reference"])
def test_the_page_shows_a_table_whose_shares_add_up(project_root, tmp_path, npu):
    page = tmp_path / "page.html"
    command = [sys.executable, str(project_root / "examples" / "notebook_table.py"), str(page)]
    done = subprocess.run(command, env={**os.environ, "MINDTORCH_NPU": npu}, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    headers, *rows = Table(page.read_text()).rows
    assert headers[0] == "Name" and ("Self NPU %" in headers) == (npu != "")
    assert all(len(row) == len(headers) for row in rows) and "forward" in [row[0] for row in rows]
    shares = [float(row[1][:-1]) for row in rows]
    assert sum(shares) == pytest.approx(100, abs=1) and shares == sorted(shares, reverse=True)
