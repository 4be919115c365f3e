"""Comments, messages and pages are free of a few phrases that are hard to read."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ["docs", "mindtorch", "mtprof", "python", "benchmarks", "examples", "tools", "cmake"]
SUFFIXES = {".md", ".h", ".cpp", ".py", ".pyi", ".sh", ".cmake", ".txt"}
FILES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "CMakeLists.txt", "dev", ".ci/run"]

# Phrases that must not occur -> what to write instead. `}` ends a number that a program fills in: "{:.2f} bytes an event".
PHRASES = {
    r"[\d}]\s+(?:bytes|ns|us|ms|nanoseconds|microseconds|instructions|words)\s+an?\s+(?:call|event|op|process|slot|step|thread)\b": "per",
    r"\bfor\s+ever\b": "forever, or until when",
    r"\bnobody\b": "no thread, no caller, ...: name what is meant",
}
LINE_OF_A_COMMENT = re.compile(r"\n\s*(?://|#)\s*")


def texts():
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")) if path.suffix in SUFFIXES]
    return [path for path in [*paths, *(ROOT / name for name in FILES)] if "__pycache__" not in path.parts]


def found_in(text):
    """The phrases that `text` contains, also where a comment continues on the next line."""
    joined = LINE_OF_A_COMMENT.sub(" ", text)
    return [
        (match.group(), f"write: {instead}") for phrase, instead in PHRASES.items() for match in re.finditer(phrase, joined, re.IGNORECASE)
    ]


def test_no_page_and_no_source_contains_the_phrases():
    found = {path.relative_to(ROOT).as_posix(): found_in(path.read_text()) for path in texts()}
    assert {name: phrases for name, phrases in found.items() if phrases} == {}


def test_pages_headers_and_scripts_are_read():
    names = {path.relative_to(ROOT).as_posix() for path in texts()}
    assert {
        "README.md",
        "docs/architecture.md",
        "mindtorch/record/hooks.h",
        "mindtorch/record/session.cpp",
        "tools/check_api.py",
        "dev",
    } <= names


@pytest.mark.parametrize(
    "text",
    [
        "An event takes 32 bytes an event.",
        "// It costs 5 ns\n// an event.",
        'fmt::format("{:.2f} bytes an event", size)',
        "# Nobody reads it.",
        "// It lives for\n  // ever.",
    ],
)
def test_a_phrase_is_found_in_a_line_and_across_lines_of_a_comment(text):
    assert found_in(text)


@pytest.mark.parametrize(
    "text", ["An event takes 32 bytes.", "32 bytes per event", "// It waits 5 ms\n// for every event.", "It waits forever."]
)
def test_plain_sentences_pass(text):
    assert found_in(text) == []
