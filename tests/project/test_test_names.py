"""The names of C++ tests: a suite is named after its subject, a fixture ends in Test or Contract, a test is a sentence in CamelCase."""

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
TEST = re.compile(r"^(TEST(?:_F|_P)?)\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)


def cpp_tests():
    for path in sorted([*TESTS.rglob("*.cpp"), *TESTS.rglob("*.h")]):
        for macro, suite, name in TEST.findall(path.read_text()):
            yield path.relative_to(TESTS).as_posix(), macro, suite, name


def test_cpp_tests_are_sentences_in_camel_case():
    assert [found for found in cpp_tests() if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", found[3])] == []


def test_suites_are_named_after_their_subject_and_fixtures_end_in_test():
    def is_well_named(macro, suite):
        if macro == "TEST":
            return suite.endswith("DeathTest") or not suite.endswith("Test")
        return suite.endswith(("Test", "Contract"))

    assert [found for found in cpp_tests() if not is_well_named(found[1], found[2])] == []


def test_there_are_cpp_tests_to_look_at():
    assert len(list(cpp_tests())) > 500
