"""post_processing_timeout_s: events take no time, so that only a timeout of 0 has an effect."""

import json
import logging

import pytest
from mindtorch_v2.autograd.profiler import profile as autograd_profile
from mindtorch_v2.profiler import profile, record_function


def scopes(make=profile, **options):
    with make(**options) as prof:
        for _ in range(3):
            with record_function("scope"):
                pass
    return prof


@pytest.mark.parametrize("timeout", [None, 1e-9, 60.0])
def test_any_time_is_enough_for_all_events(timeout, caplog):
    prof = scopes(post_processing_timeout_s=timeout)
    assert len(prof.events()) == 3 and prof.key_averages()[0].count == 3
    assert caplog.records == []


def test_no_time_gives_no_events_and_a_warning_in_torchs_words(caplog, tmp_path):
    prof = scopes(post_processing_timeout_s=0.0)
    with caplog.at_level(logging.WARNING, logger="torch.autograd.profiler"):
        assert len(prof.events()) == 0 and len(prof.key_averages()) == 0
    (message, _) = (record.getMessage() for record in caplog.records)
    assert "timed out after 0.000 seconds" in message and "partial results" in message
    prof.export_chrome_trace(tmp_path / "trace.json")
    assert sum(event["name"] == "scope" for event in json.loads((tmp_path / "trace.json").read_text())["traceEvents"]) == 3


def test_the_private_parser_of_torchs_results_takes_a_timeout_too():
    prof = scopes(autograd_profile)
    assert len(prof._parse_kineto_results(prof.kineto_results)) == 3
    assert len(prof._parse_kineto_results(prof.kineto_results, timeout_s=60.0)) == 3
    assert len(prof._parse_kineto_results(prof.kineto_results, timeout_s=0.0)) == 0
    with pytest.raises(ValueError, match="^timeout_s must be non-negative$"):
        prof._parse_kineto_results(prof.kineto_results, timeout_s=-1)


@pytest.mark.torch
def test_torch_loses_events_when_its_time_is_over_and_ours_has_them():
    torch = pytest.importorskip("torch")
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], post_processing_timeout_s=1e-9) as theirs:
        for _ in range(3):
            with torch.profiler.record_function("scope"):
                pass
    assert len(theirs.events()) == 0
    assert len(scopes(post_processing_timeout_s=1e-9).events()) == 3
