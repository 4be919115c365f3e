"""The table of a notebook in a browser."""

from mindtorch_v2.autograd.profiler_util import EventList, FunctionEvent

# Notebooks show cells without a document type, which is quirks mode, and JupyterLab makes the columns of tables equally wide.
NOTEBOOK = "<meta charset=utf-8><title>Notebook</title><style>table {{ table-layout: fixed; }}</style><div style='width: {}px'>{}</div>"

MEASURE = """
  const [box, table] = ["div", "table"].map((name) => document.querySelector(".mindtorch-profile " + name));
  const place = table.querySelector("tbody td:last-child");
  const isWhole = (cell) => cell.scrollWidth <= cell.clientWidth;
  const font = (element) => getComputedStyle(element).font;
  return {
    mode: document.compatMode,
    missing: box.scrollWidth - box.clientWidth,
    fonts: [font(table), font(box)],
    numbers: [...table.querySelectorAll("td:not(.text)")].every(isWhole),
    place: [place.textContent, isWhole(place)],
  };
"""


def test_a_table_with_every_column_fits_a_notebook_with_a_scroll_bar_in_the_font_of_the_notebook(browser, tmp_path):
    events = [
        FunctionEvent(
            *(number, "autograd::engine::evaluate_function: ConvolutionBackward0", 1, 0, 123_456),
            input_shapes=[[64, 256, 56, 56], [256, 256, 3, 3]],
            stack=["/home/somebody/projects/of/this/year/prog.py(20): step"],
            cpu_memory_usage=-1000 * 2**20,
            flops=123_456_789_012,
        )
        for number in range(10)
    ]
    table = EventList(events, profile_memory=True, with_flops=True)._repr_html_()
    (tmp_path / "notebook.html").write_text(NOTEBOOK.format(900 - 15, table))
    # The fixture `page` would report what Firefox says about quirks mode.
    browser.selenium.get((tmp_path / "notebook.html").as_uri())
    found = browser.run(MEASURE)
    assert found["mode"] == "BackCompat" and found["missing"] == 0 and len(set(found["fonts"])) == 1
    assert found["numbers"] and found["place"] == ["prog.py(20): step", True]
