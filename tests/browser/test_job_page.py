"""The page about a job in a browser: stragglers, the map of steps, tables, details, hostile names."""

import subprocess

import pytest
from job_traces import Job
from selenium.webdriver import ActionChains

HOSTILE = "</script><script>window.attacked = 1</script><img src=x onerror='window.attacked = 2'>"


@pytest.fixture(scope="session")
def job_page(program, tmp_path_factory):
    def make(job):
        folder = tmp_path_factory.mktemp("job")
        job.write(folder)
        page = folder / "job.html"
        subprocess.run([program("mtprof"), "ranks", folder, "-o", page], check=True, capture_output=True)
        return page

    return make


@pytest.fixture(scope="session")
def sample(job_page):
    return job_page(Job(ranks=8, steps=30, slow=5, slow_us=700.0, gpu=True, offsets_us={3: 250e3}))


def test_the_overview_names_the_slow_rank_its_op_and_the_clocks(page, sample):
    opened = page(sample)
    assert "8 ranks" in opened.one("#subtitle").text
    (straggler,) = opened.all(".finding")
    assert straggler.get_attribute("data-rank") == "5" and "aten::slow" in straggler.text
    assert "clocks apart, known within" in opened.one(".numbers").text
    assert len(opened.all("canvas")) == 2  # the map and its colours


def test_the_map_tells_the_time_of_each_step_of_each_rank(page, sample):
    opened = page(sample)
    canvas = opened.one("canvas")
    opened.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    ActionChains(opened.browser).move_to_element(canvas).perform()
    assert opened.one("#tip").text.startswith("Rank ") and "step" in opened.one("#tip").text


def test_every_view_has_its_table(page, sample):
    opened = page(sample)
    for address, name in (("#ranks", "Ranks"), ("#steps", "Steps"), ("#communication", "Communication"), ("#imbalance", "Imbalance")):
        opened.go(address)
        assert opened.one("h2").text == name and opened.all("tbody tr")
    opened.go("#path")
    assert opened.texts("h2") == ["The critical path by rank", "Critical path"]
    opened.go("#communication")
    assert "all_reduce" in opened.texts("td.name")


def test_a_table_is_sorted_filtered_and_copied(page, sample):
    opened = page(sample)
    opened.go("#ranks?sort=rank&dir=up")
    assert opened.texts("tbody td:first-child") == [str(rank) for rank in range(8)]
    opened.go("#communication?q=all_reduce")
    assert set(opened.texts("tbody td:first-child")) == {"all_reduce"}
    text = opened.run("return csvOf('ranks', csvColumnsOf('ranks'), [0])")
    assert text.startswith('"Rank","Machine","Step (ns)"') and len(text.splitlines()) == 2


def test_a_row_opens_its_details(page, sample):
    opened = page(sample)
    opened.go("#ranks?sort=rank&dir=up")
    opened.one("tbody td").click()
    assert opened.one("#detail").is_displayed() and "trace-0.json" in opened.one("#detail").text
    opened.one("#detail button").click()
    assert not opened.one("#detail").is_displayed()


def test_names_from_programs_stay_text(page, job_page):
    opened = page(job_page(Job(ranks=3, steps=6, slow=1, slow_op=HOSTILE)))
    for address in ("#overview", "#ranks?row=0", "#imbalance?row=0", "#path?row=0", "#nonsense", "#imbalance?q=%3Cscript%3E"):
        opened.go(address)
        assert opened.all("main .card")
    assert opened.run("return window.attacked === undefined && document.images.length === 0")
    opened.go("#overview")
    assert "window.attacked" in opened.one(".finding").text


def test_both_themes_can_be_chosen(page, sample):
    opened = page(sample)
    themes = []
    for _ in range(2):
        opened.one("#theme").click()
        themes.append(opened.run("return document.documentElement.dataset.theme + getComputedStyle(document.body).backgroundColor"))
    assert themes[0] != themes[1]
