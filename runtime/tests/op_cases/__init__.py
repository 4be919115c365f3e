"""Cases for every op of the runtime, as one table: op name -> cases. A new op needs a few lines in the module of its family."""

from . import creation, matmul, nn, pointwise, reduction, shape
from .spec import TABLE, Case, Dtype, T

__all__ = ["TABLE", "Case", "Dtype", "T", "creation", "matmul", "nn", "pointwise", "reduction", "shape"]
