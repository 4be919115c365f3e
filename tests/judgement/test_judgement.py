"""What reports say first: the cause and the line of planted faults, and nothing of programs without any (docs/judgement.md).

Programs are recorded as a newcomer would, without options. `./dev test --judgement` runs these tests.
"""

import re

import pytest
from judge import cases, judge, mistake_with_fault, mistake_without_fault, record

pytestmark = [pytest.mark.judgement, pytest.mark.torch]
FAULTS, GOOD = cases()["fault"], cases()["good"]


def named(case):
    return case.name


@pytest.fixture(autouse=True)
def bridge(bridged_torch):
    """Made once; `mtprof run` would do so too."""


def skip_without_packages(case):
    if missing := case.missing_packages():
        pytest.skip(f"{', '.join(missing)} is not installed (./dev test --programs installs it)")


@pytest.mark.parametrize("case", FAULTS, ids=named)
def test_the_first_line_names_the_fault_and_its_line(case, tmp_path, program):
    skip_without_packages(case)
    verdict = judge(record(case, "fault", tmp_path))
    mistake = mistake_with_fault(case, verdict)
    if case.known and mistake:
        pytest.xfail(case.known)
    assert not mistake, verdict.first_line
    assert not case.known, "this fault is named now: take `known` out of cases.json"


@pytest.mark.parametrize("case", [case for case in FAULTS if case.told_by], ids=named)
def test_the_options_that_a_first_line_asks_for_name_the_line(case, tmp_path, program):
    skip_without_packages(case)
    verdict = judge(record(case, "fault", tmp_path, tuple(case.told_by)))
    told = [line for finding in verdict.findings if re.search(case.says, finding["title"], re.IGNORECASE) for line in finding["lines"]]
    assert any(place in line for place in case.places() for line in told), told


@pytest.mark.parametrize("case", FAULTS, ids=named)
def test_nothing_is_named_in_a_mended_program(case, tmp_path, program):
    skip_without_packages(case)
    verdict = judge(record(case, "mended", tmp_path))
    assert not mistake_without_fault(verdict), verdict.first_line


@pytest.mark.parametrize("case", GOOD, ids=named)
def test_nothing_is_named_in_a_good_program(case, tmp_path, program):
    skip_without_packages(case)
    verdict = judge(record(case, "good", tmp_path))
    assert not mistake_without_fault(verdict), verdict.first_line
