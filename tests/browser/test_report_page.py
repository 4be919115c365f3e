"""The report in a browser: views, sorting, filtering, details, links, keys, hostile names; and the pictures of the documentation."""

import csv
import io
import json
import random
import subprocess
import time

import pytest
from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

HOSTILE = "</script><script>window.attacked = 1</script><img src=x onerror='window.attacked = 2'>"


class Trace:
    """Writes a Chrome trace of a training loop on one GPU."""

    def __init__(self, seed=1, gelu_us=25):
        self.events, self.now, self.correlation, self.random = [], 1000.0, 0, random.Random(seed)
        self.gelu_us = gelu_us

    def host(self, name, duration, category="cpu_op", at=None, **arguments):
        start = self.now if at is None else at
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": start, "dur": duration, "args": arguments})

    def op(self, name, duration, kernel=None, kernel_us=0.0, shapes=()):
        duration *= self.random.gauss(1, 0.04)
        self.host(name, duration, **({"Input Dims": shapes} if shapes else {}))
        if kernel:
            self.correlation += 1
            self.host("cudaLaunchKernel", 4.0, "cuda_runtime", at=self.now + 2, correlation=self.correlation)
            arguments = {"correlation": self.correlation, "device": 0, "stream": 7}
            event = {
                "ph": "X",
                "cat": "kernel",
                "name": kernel,
                "pid": 0,
                "tid": 7,
                "ts": self.now + 8,
                "dur": kernel_us,
                "args": arguments,
            }
            self.events.append(event)
        self.now += duration + 3

    def step(self, number, loader_us, layers=6):
        begin = self.now
        self.host("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", loader_us, "user_annotation")
        self.now += loader_us + 5
        for layer in range(layers):
            width = 512 if layer % 2 else 256
            self.op("aten::addmm", 60, "ampere_sgemm_128x64_tn", 55.0, [[64, width], [width, width]])
            self.op("aten::gelu", self.gelu_us, "void at::native::vectorized_elementwise_kernel<4, GeluKernel>", 12.0)
        self.op("aten::cross_entropy_loss", 40, "softmax_warp_forward", 9.0)
        for _ in range(layers):
            self.op("autograd::engine::evaluate_function: AddmmBackward0", 85, "ampere_sgemm_64x64_nt", 80.0)
        self.op("aten::_local_scalar_dense", 200)
        optimizer = self.now
        for _ in range(60):
            self.op("aten::add_", 6, "void at::native::multi_tensor_apply_kernel", 3.0)
        self.host("Optimizer.step#AdamW.step", self.now - optimizer, "user_annotation", at=optimizer - 1)
        self.host(f"ProfilerStep#{number}", self.now - begin + 2, "user_annotation", at=begin)
        self.now += 4

    def save(self, path):
        path.write_text(json.dumps({"traceEvents": self.events}))
        return path


@pytest.fixture(scope="session")
def report(program):
    def make(trace, *options):
        page = trace.with_suffix(".report.html")
        subprocess.run([program("mtprof"), "report", trace, "-o", page, *options], check=True, capture_output=True)
        return page

    return make


@pytest.fixture(scope="session")
def sample(tmp_path_factory, report):
    """A loop with four problems: it waits for data, reads the loss in each step, has an unfused optimizer, and computes in float32."""
    trace = Trace()
    for number in range(40):
        trace.step(number, loader_us=trace.random.choice([180, 200, 220]) if number != 23 else 9000)
    return report(trace.save(tmp_path_factory.mktemp("report") / "train.json"))


@pytest.fixture(scope="session")
def two_runs(tmp_path_factory):
    """Two runs of a loop; in the second one, aten::gelu takes longer."""
    folder, paths = tmp_path_factory.mktemp("runs"), []
    for name, seed, gelu_us in (("before", 1, 25), ("after", 2, 35)):
        trace = Trace(seed, gelu_us)
        for number in range(30):
            trace.step(number, loader_us=200)
        paths.append(trace.save(folder / f"{name}.json"))
    return paths


def test_the_overview_shows_where_a_step_goes_and_what_to_do(page, sample):
    opened = page(sample)
    assert "40 steps" in opened.one("#subtitle").text
    found = [element.get_attribute("data-finding") for element in opened.all(".finding")]
    problems = ["float32_matmuls", "synchronising_calls", "unfused_optimizer", "waiting_for_data"]
    assert sorted(found) == problems
    assert opened.texts("#tabs a")[0] == "Overview"
    first = opened.one("main > *:first-child")
    assert first.get_attribute("class").startswith("verdict") and opened.run("return DATA.verdict.text") in first.text


def test_the_causes_of_a_step_add_up_to_it(page, sample):
    opened = page(sample)
    for lane in opened.run(
        "return DATA.causes.map((lane) => [lane.ns_per_step, lane.causes.reduce((sum, row) => sum + row.ns_per_step, 0)])"
    ):
        assert lane[0] == pytest.approx(lane[1], rel=0.001)
    assert opened.all(".lane .bar span") and opened.all(".causerow .time")


def test_a_view_without_data_names_the_option_that_fills_it(page, sample):
    opened = page(sample)
    (memory,) = [tab for tab in opened.all("#tabs a.empty") if tab.text == "Memory"]
    assert "mtprof run --memory" in memory.get_attribute("title")
    opened.go("#memory")
    assert "profile(profile_memory=True)" in opened.one("main").text and not opened.all("canvas")


def test_mangled_names_of_kernels_are_read(page, report, tmp_path):
    trace = Trace()
    trace.op("aten::mm", 50, "_ZN7ck_tile6kentryILi1EEEvv.kd", 30.0)
    opened = page(report(trace.save(tmp_path / "mangled.json")))
    opened.go("#kernels")
    assert opened.one("td.name").get_attribute("title") == "void ck_tile::kentry<1>()"


def test_long_names_of_kernels_do_not_make_the_page_wider(page, report, tmp_path):
    trace = Trace()
    for number in range(12):
        begin = trace.now
        for _ in range(60):
            trace.op("aten::mm", 20, "void " + "very_long_name_of_a_kernel<float, 4>::" * 30 + "run()", 2.0)
        trace.host(f"ProfilerStep#{number}", trace.now - begin, "user_annotation", at=begin)
        trace.now += 5
    opened = page(report(trace.save(tmp_path / "long.json")))
    for width in (800, 1100, 1600):
        opened.resize(width, 900)
        for address in ("#overview", "#ops", "#kernels", "#kernels?row=0", "#flame", "#timeline", "#memory"):
            opened.go(address)
            assert opened.run("return document.documentElement.scrollWidth <= window.innerWidth"), (width, address)
    opened.resize()


def test_the_cost_of_recording_can_be_taken_out_of_the_times(page, report, tmp_path):
    trace = Trace()
    for number in range(8):
        trace.step(number, loader_us=200)
    path = trace.save(tmp_path / "cost.json")
    document = json.loads(path.read_text())
    document["mtprof_run"] = {"command": ["train.py"], "start_ns": 1, "stop_ns": 1, "cost_share": 0.25, "cost_source": "prices"}
    path.write_text(json.dumps(document))
    opened = page(report(path))
    assert "25.0" in opened.one(".numbers").text
    step = "return Number(document.querySelector('.laneline > span').textContent.split(' ')[0])"
    recorded = opened.run(step)
    opened.go("#overview?without=1")
    assert opened.run(step) == pytest.approx(recorded / 1.25, rel=0.02)


def test_tables_are_sorted_by_any_column_both_ways(page, sample):
    opened = page(sample)
    opened.go("#ops")
    by_self = opened.texts("tbody tr td:first-child")
    opened.one("th:last-child button").click()
    calls = [int(text.replace(",", "")) for text in opened.texts("tbody tr td:last-child")]
    assert calls == sorted(calls, reverse=True) and "sort=calls" in opened.address
    opened.one("th:last-child button").click()
    calls = [int(text.replace(",", "")) for text in opened.texts("tbody tr td:last-child")]
    assert calls == sorted(calls)
    opened.one("th:first-child button").click()
    assert opened.texts("tbody tr td:first-child") == sorted(by_self)


def test_a_filter_keeps_matching_rows_and_stays_in_the_address(page, sample):
    opened = page(sample)
    opened.go("#ops")
    opened.one("input[type=search]").send_keys("gelu")
    assert opened.texts("td.name") == ["aten::gelu"] and "q=gelu" in opened.address
    opened.browser.refresh()
    assert opened.texts("td.name") == ["aten::gelu"]
    opened.go("#ops?q=/^aten::.*_$/")
    assert opened.texts("td.name") == ["aten::add_"]
    opened.go("#ops?q=/(/")  # not a regular expression
    assert opened.texts("td.name") == []


def test_a_row_opens_its_details_and_leads_to_others(page, sample):
    opened = page(sample)
    opened.go("#ops?q=aten::addmm")
    opened.one("tbody td").click()
    detail = opened.one("#detail")
    assert detail.is_displayed() and "aten::addmm" in detail.text and "Launches" in detail.text
    detail.find_element("link text", "ampere_sgemm_128x64_tn").click()
    assert opened.address.startswith("#kernels?row=") and "Launched by" in opened.one("#detail").text
    ActionChains(opened.browser).send_keys(Keys.ESCAPE).perform()
    assert not opened.one("#detail").is_displayed()


def test_everything_can_be_reached_with_the_keyboard(page, sample):
    opened = page(sample)
    keys = lambda text: ActionChains(opened.browser).send_keys(text).perform()  # noqa: E731
    keys("2")
    assert opened.address == "#ops"
    keys("/")
    keys("mm")
    assert "q=mm" in opened.address
    opened.one("input[type=search]").send_keys(Keys.ESCAPE)
    keys("1")
    assert opened.address == "#overview"
    theme = opened.run("return document.documentElement.dataset.theme")
    keys("t")
    assert opened.run("return document.documentElement.dataset.theme") != theme
    keys("t")


def test_a_table_is_copied_as_csv(page, sample):
    opened = page(sample)
    opened.go("#ops?q=gelu")
    text = opened.run("return csvOf('ops', columnsOf('ops'), shownRows('ops', {q: 'gelu', sort: 'self', dir: 'down'}))")
    head, row = text.splitlines()
    assert head.startswith('"Name","Self time (ns)"') and row.startswith('"aten::gelu",')
    assert opened.run("return csvOf('ops', ['name'], [])") == '"Name"\n'


def test_the_flame_graph_zooms_in_and_out(page, sample):
    opened = page(sample)
    opened.go("#flame")
    canvas = opened.one("canvas")
    ActionChains(opened.browser).move_to_element_with_offset(
        canvas, -canvas.size["width"] // 2 + 20, -canvas.size["height"] // 2 + 30
    ).click().perform()
    assert "node=" in opened.address
    opened.one(".tools button").click()
    assert "node=" not in opened.address


def test_the_timeline_zooms_selects_and_draws_arrows(page, sample):
    opened = page(sample)
    opened.go("#timeline")
    canvas = opened.one("canvas")
    canvas.send_keys("www")
    WebDriverWait(opened.browser, 30).until(lambda _: "from=" in opened.address)  # the address follows when zooming has paused
    opened.run("const view = DATA.timelines[0]; const k = view.links.findIndex((host) => host >= 0); go('timeline', {slice: k}); render();")
    assert "launched by cudaLaunchKernel" in opened.one(".status").text
    assert len(opened.all("option")) == 3


def test_the_timeline_finds_slices_and_shows_counters(page, sample):
    opened = page(sample)
    opened.go("#timeline")
    assert opened.run("return DATA.timelines[0].counters.map((counter) => counter[0] + ' ' + counter[2])") == ["queued CUDA:0"]
    opened.one("input[type=search]").send_keys("aten::gelu" + Keys.ENTER)
    assert "aten::gelu" in opened.one(".status").text and opened.texts(".tools .count") == ["6 slices"]
    opened.go("#timeline?q=gelu")
    assert opened.one("input[type=search]").get_attribute("value") == "gelu"


def test_ops_are_told_apart_by_their_shapes(page, sample):
    opened = page(sample)
    opened.go("#ops?q=addmm")
    opened.one("main select").find_elements("tag name", "option")[1].click()
    assert opened.address.startswith("#opsByShape") and opened.texts("#tabs a[aria-current]")[0].startswith("Ops")
    assert sorted(opened.texts("td.name:nth-child(2)")) == ["[[64, 256], [256, 256]]", "[[64, 512], [512, 512]]"]
    assert sum(int(text.replace(",", "")) for text in opened.texts("td:last-child")) == 40 * 6
    opened.one("tbody td").click()
    opened.one("#detail").find_element("link text", "All calls").click()
    assert opened.address.startswith("#ops?row=") and "Called" not in opened.one("#detail").text


def test_a_comparison_tells_what_changed_from_noise(page, report, two_runs):
    opened = page(report(two_runs[1], "--baseline", two_runs[0]))
    assert any("Compared with before.json" in text for text in opened.texts("main h2"))
    opened.go("#compared")
    parts, work = opened.all("tbody")
    assert [each.text for each in parts.find_elements("css selector", "td.name")][:1] == ["aten::gelu (forward)"]
    assert [each.text for each in work.find_elements("css selector", "td.name")] == ["aten::gelu"]
    compared = opened.run("return DATA.compared")
    parts = sum(row[4] - row[3] for row in compared["parts"])
    assert parts + compared["unusual"] == pytest.approx(compared["meanAfter"] - compared["meanBefore"], abs=1)
    text = opened.run("return csvOf('compared', csvColumnsOf('compared'), shownRows('compared', {sort: 'change'}))")
    (row,) = csv.DictReader(io.StringIO(text))
    low, high = float(row["Difference, lower bound (ns)"]), float(row["Difference, upper bound (ns)"])
    assert 0 < low <= 6 * 10_000 <= high, "six calls per step take 10 us longer"
    opened.one("tbody td").click()
    assert opened.address.startswith("#comparedParts?") and "row=0" in opened.address and "Mean per step" in opened.one("#detail").text
    opened.go("#compared?all=1")
    assert len(opened.all("tbody tr")) > 5 and "same" in opened.texts(".badge")
    opened.go("#compared?all=1&q=addmm")
    names = [each.text for each in opened.all("tbody")[1].find_elements("css selector", "td.name")]
    assert names and all("ddmm" in text for text in names)


def test_the_page_of_a_diff_opens_with_the_comparison(page, program, two_runs, tmp_path):
    path = tmp_path / "diff.html"
    done = subprocess.run([program("mtprof"), "diff", *two_runs, "-o", path], check=True, capture_output=True, text=True)
    assert "aten::gelu" in done.stdout and "diff.html" in done.stdout
    opened = page(path)
    assert opened.texts("#tabs a[aria-current]")[0].startswith("Compared")
    opened.go("#overview")
    assert opened.texts("#tabs a[aria-current]")[0] == "Overview"


def test_equal_runs_show_no_change(page, report, two_runs, tmp_path):
    other = Trace(3, 25)
    for number in range(30):
        other.step(number, loader_us=200)
    opened = page(report(other.save(tmp_path / "same.json"), "--baseline", two_runs[0]))
    opened.go("#compared")
    assert opened.texts(".badge") == [] and "no change beyond noise" in opened.one("main").text


def test_every_table_is_copied_as_csv(page, sample):
    opened = page(sample)
    for address in ("#overview", "#ops", "#opsByShape", "#kernels"):
        opened.go(address)
        assert "Copy as CSV" in opened.texts("main button")
    lines = opened.run("return stepsCsv(DATA.steps)").splitlines()
    assert len(lines) == 41 and lines[0].startswith('"Step","Start (ns)","Duration (ns)","forward (ns)"')


def test_a_recording_without_steps_is_shown_in_slices_of_time(page, report, tmp_path):
    trace = Trace()
    for _ in range(300):
        trace.op("aten::mm", 50)
    opened = page(report(trace.save(tmp_path / "plain.json")))
    assert "Over time" in opened.texts("main h2")
    assert 30 <= opened.run("return DATA.slices.count") <= 75


def test_hostile_names_are_text(page, report, tmp_path):
    trace = Trace()
    for name in (HOSTILE, "=cmd|' /C calc'!A0", "\u202eevil", "a" * 5000, "\x1b[31mred"):
        trace.op(name, 50, HOSTILE, 20.0)
    opened = page(report(trace.save(tmp_path / "hostile.json")))
    for address in ("#overview", "#ops?row=0", "#kernels?row=0", "#flame", "#timeline?slice=0", "#ops?q=%3Cscript%3E"):
        opened.go(address)
    assert opened.run("return window.attacked === undefined && document.images.length === 0")
    opened.go("#ops")
    assert any("window.attacked" in text for text in opened.texts("td.name"))
    assert "\"'=cmd" in opened.run("return csvOf('ops', ['name'], [...DATA.ops.rows.keys()])")


def test_an_unknown_address_shows_the_overview(page, sample):
    opened = page(sample)
    for address in ("#nonsense?x=1", "#ops?row=99999&sort=nonsense", "#timeline?view=77&slice=99999999", "#flame?node=123456&metric=none"):
        opened.go(address)
        assert opened.all("main .card")


def test_the_page_fits_a_small_window_and_paper(page, sample):
    opened = page(sample)
    for address in ("#overview", "#ops", "#timeline"):
        opened.go(address)
        assert opened.run("return document.documentElement.scrollWidth <= window.innerWidth")
    assert len(opened.browser.print_page()) > 1000


def test_a_frame_of_a_hundred_thousand_slices_draws_no_more_than_its_pixels(page, report, tmp_path):
    trace = Trace()
    begin = trace.now
    for _ in range(40_000):
        trace.op("aten::mm", 2, "gemm", 1.5)
    trace.host("ProfilerStep#0", trace.now - begin, "user_annotation", at=begin)
    opened = page(report(trace.save(tmp_path / "many.json")))
    opened.go("#timeline")
    assert opened.run("return DATA.timelines[0].starts.length") == 100_000
    canvas = opened.one("canvas.timeline")
    rows, width = opened.run("""
      const rows = timelineLayout(DATA.timelines[0]).tracks.reduce((sum, track) => sum + track.rows, 0);
      return [rows, document.querySelector("canvas.timeline").clientWidth];
    """)
    frame = """
      const canvas = document.querySelector("canvas.timeline"), began = performance.now();
      canvas.redraw();
      return [Number(canvas.dataset.drawn), performance.now() - began];
    """
    frames = [opened.run(frame)]
    for keys in ("w", "w", "d", "d", "www", "a", "w" * 20, "d", "ssss", "0"):
        canvas.send_keys(keys)
        frames.append(opened.run(frame))
    opened.one("input[type=search]").send_keys("mm")  # matches are drawn over the others
    frames.append(opened.run(frame))
    assert all(0 < drawn <= 2 * (2 * width + 1) * rows for drawn, _ in frames)
    assert min(drawn for drawn, _ in frames) < 1000, "zoomed in, few slices are in sight"
    print(f"slices drawn: at most {max(drawn for drawn, _ in frames)}; a frame takes {max(ms for _, ms in frames):.1f} ms at most")


@pytest.mark.slow
def test_a_million_events_open_in_two_seconds(page, report, tmp_path):
    trace = Trace()
    while len(trace.events) < 1_000_000:
        trace.step(len(trace.events), 200)
    path = report(trace.save(tmp_path / "large.json"))
    assert path.stat().st_size < 5_000_000
    started = time.perf_counter()
    opened = page(path)
    assert opened.all("main .card")
    print(f"opened in {time.perf_counter() - started:.2f} s, {path.stat().st_size / 1e6:.1f} MB")


def test_the_pictures_of_the_documentation_are_made(page, sample, report, two_runs, project_root, tmp_path):
    """Writes a picture into docs/images if it is not there: pictures are made anew by deleting them."""
    compared = report(two_runs[1], "--baseline", two_runs[0])
    pictures = (
        ("report", sample, "#overview", 980, "light"),
        ("report-timeline", sample, "#timeline", 620, "dark"),
        ("report-compared", compared, "#compared?all=1", 700, "light"),
    )
    for name, path, address, height, theme in pictures:
        opened = page(path)
        opened.go(address)
        opened.run("setTheme(arguments[0])", theme)
        opened.resize(height=height)
        opened.run("redrawAll()")
        picture = tmp_path / f"{name}.png"
        assert opened.browser.save_screenshot(str(picture)) and picture.stat().st_size > 10_000
        kept = project_root / "docs" / "images" / picture.name
        if not kept.exists():
            kept.parent.mkdir(exist_ok=True)
            kept.write_bytes(picture.read_bytes())
    opened.run("setTheme('light')")
    opened.resize()
