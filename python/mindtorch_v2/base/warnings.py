"""Warnings of the library, shown at the user's line of code and not at one of ours."""

import os
import sys
import warnings

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def warn(text, category=UserWarning):
    """Warns at the innermost frame that is not of this package."""
    level = 1
    frame = sys._getframe(1)
    while frame is not None and os.path.abspath(frame.f_code.co_filename).startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    warnings.warn(text, category, stacklevel=level + 1)
