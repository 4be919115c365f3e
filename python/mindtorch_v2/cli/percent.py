"""Shares as people read them."""


def percent_text(percent: float) -> str:
    """Two digits, and all of them from ten on: "0.5 %", "12 %", "100 %"."""
    return f"{percent:.0f} %" if percent >= 9.95 else f"{percent:.2g} %"
