"""Shares in texts of mtprof run and mtprof live."""

import pytest
from mindtorch_v2.cli.percent import percent_text


@pytest.mark.parametrize(
    "percent, text",
    [(0, "0 %"), (0.123, "0.12 %"), (1.5, "1.5 %"), (9.94, "9.9 %"), (9.96, "10 %"), (12.4, "12 %"), (99.7, "100 %"), (345.6, "346 %")],
)
def test_a_share_is_written_without_an_exponent(percent, text):
    assert percent_text(percent) == text
