"""What the documentation refers to exists: pages, files, layers, design pages, and the rules."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "runtime").rglob("*.md"))]
BEHAVIOUR = ROOT / "docs" / "behaviour.md"

BLOCK = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`([^`\n]*)`")
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)")
FILE = re.compile(r"[\w.{},/-]+\.(?:h|cpp|py|pyi|md|txt|sh|cmake)")
TOPS = {"benchmarks", "cmake", "docs", "examples", "mindtorch", "mtprof", "python", "runtime", "tests", "tools"}
# Names that pages speak of without meaning a file of this project.
NOT_OURS = {"stacks.txt"}


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def without_code(page):
    return CODE.sub("", BLOCK.sub("", page.read_text()))


def anchors_of(page):
    """The anchors that headings of a page have, as they are made by those who show the page."""
    headings = re.findall(r"^#+ (.*)$", BLOCK.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_to_pages_and_headings(page):
    missing = []
    for target, anchor in LINK.findall(without_code(page)):
        path = (page.parent / target) if target else page
        if not path.exists() or (anchor and anchor not in anchors_of(path)):
            missing.append(f"{target}#{anchor}")
    assert missing == []


@pytest.fixture(scope="module")
def files():
    """The names of all files of the project: paths from its root, from mindtorch/, and names alone."""
    tops = [path for path in ROOT.iterdir() if path.is_dir() and path.name in TOPS] + [ROOT / ".ci"]
    found = {path.relative_to(ROOT).as_posix() for top in tops for path in top.rglob("*") if path.is_file()}
    found |= {path.name for path in ROOT.iterdir() if path.is_file()}
    return found | {path.removeprefix("mindtorch/") for path in found} | {path.rsplit("/", 1)[-1] for path in found}


def spelled_out(name):
    """`a.{h,cpp}` is two files."""
    match = re.fullmatch(r"(.*)\{(.*)\}(.*)", name)
    return [match[1] + part + match[3] for part in match[2].split(",")] if match else [name]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_files_that_a_page_names_exist(page, files):
    if page.name == "CHANGELOG.md":
        return  # it may speak of files that are gone
    named = [name for code in CODE.findall(BLOCK.sub("", page.read_text())) if FILE.fullmatch(code) for name in spelled_out(code)]
    assert [name for name in named if name not in files | NOT_OURS] == []


@pytest.mark.parametrize("page", [ROOT / "docs" / "architecture.md", ROOT / "docs" / "design" / "layers.md"], ids=name_of)
def test_folders_that_a_page_names_exist(page):
    folders = [code.rstrip("/") for code in CODE.findall(BLOCK.sub("", page.read_text())) if re.fullmatch(r"(\w+/)+(\w+)?", code)]
    assert [folder for folder in folders if not (ROOT / folder).is_dir()] == []


def layer_table():
    spec = importlib.util.spec_from_file_location("check_layers", ROOT / "tools" / "check_layers.py")
    check_layers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(check_layers)
    rows = [f"| `{part}` | {' '.join(f'`{name}`' for name in names) or 'no other part'} |" for part, names in check_layers.LAYERS.items()]
    return "\n".join(["| part | may include |", "| --- | --- |", *rows]) + "\n"


def test_the_table_of_layers_is_the_one_that_lint_enforces():
    page = (ROOT / "docs" / "architecture.md").read_text()
    written = re.search(r"^\| part \| may include \|\n(?:\|.*\n)+", page, re.MULTILINE)
    assert written and written.group() == layer_table(), f"docs/architecture.md should have:\n{layer_table()}"


def test_every_part_is_on_the_map():
    page = (ROOT / "docs" / "architecture.md").read_text()
    parts = re.findall(r"^\| `([\w/]+)` \|", page.partition("## Who may include whom")[0], re.MULTILINE)
    found = {path.parent.relative_to(ROOT).as_posix() for path in (ROOT / "mindtorch").glob("*/CMakeLists.txt")}
    assert found <= set(parts)


def test_the_index_of_design_pages_is_complete():
    folder = ROOT / "docs" / "design"
    listed = set(re.findall(r"\]\(([\w.-]+\.md)\)", (folder / "README.md").read_text()))
    assert listed == {path.name for path in folder.glob("*.md")} - {"README.md"}


def test_the_readme_leads_to_every_guide():
    readme = (ROOT / "README.md").read_text()
    assert [page.name for page in (ROOT / "docs").glob("*.md") if f"(docs/{page.name}" not in readme] == []


def test_the_readme_leads_to_where_a_new_feature_goes():
    assert "(docs/architecture.md#where-a-new-feature-goes)" in (ROOT / "README.md").read_text()
    features = (ROOT / "docs" / "architecture.md").read_text().partition("\n## Where a new feature goes\n")[2]
    headings = re.findall(r"^### A new (.*)$", features, re.MULTILINE)
    assert {"exporter", "device or source", "column", "analysis", "command of `mtprof`"} <= set(headings)


RULE = re.compile(r"[a-z_]+\.[a-z_]+")


def rules_in_tests():
    """{rule: the files that name it}."""
    used = {}
    for path in sorted((ROOT / "tests").rglob("*")):
        if path.suffix in (".py", ".cpp", ".h"):
            for line in re.findall(r"^\s*(?:#|//) Rules?: (.*)$", path.read_text(), re.MULTILINE):
                for rule in RULE.findall(line):
                    used.setdefault(rule, set()).add(path.name)
    return used


def test_rules_that_tests_name_are_listed_and_those_listed_have_tests():
    listed = re.findall(r"^- \*\*([a-z_.]+)\*\* ", BEHAVIOUR.read_text(), re.MULTILINE)
    assert len(listed) == len(set(listed)) and set(rules_in_tests()) == set(listed)


def test_the_calls_refer_to_rules_that_are_listed():
    page = BEHAVIOUR.read_text()
    listed = set(re.findall(r"^- \*\*([a-z_.]+)\*\* ", page, re.MULTILINE))
    rows = re.findall(r"^\| `.*\|$", page, re.MULTILINE)
    assert rows and {name for row in rows for name in RULE.findall(row.rsplit("|", 2)[1])} <= listed
