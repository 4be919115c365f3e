"""Lets programs import torchvision beside a PyTorch without CUDA. Python runs this file when a program of these tests starts.

The torchvision that pip installs is compiled for CUDA. Its library does not load beside a PyTorch for the CPU, and then its import fails,
because it describes two operators that only the library defines. The import succeeds if the operators exist. None of the programs calls
them.
"""

import sys


class BeforeTorchvision:
    """A finder that finds nothing: it defines the operators when the import of torchvision begins."""

    _operators = None  # torch forgets operators when the library that defined them is gone

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name == "torchvision" and cls._operators is None:
            import torch

            cls._operators = torch.library.Library("torchvision", "FRAGMENT")
            if torch.version.cuda is None:
                for operator in ("nms", "qnms"):
                    cls._operators.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


sys.meta_path.insert(0, BeforeTorchvision)
