"""Tensors as text, in torch's layout."""

import math

from mindtorch_v2 import _runtime

_cat, _stack = _runtime.ops["cat"], _runtime.ops["stack"]


class _Options:
    precision = 4
    threshold = 1000
    edgeitems = 3
    linewidth = 80
    sci_mode = None


options = _Options()


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    """How tensors are printed: digits, elements from which a summary is printed, and characters of a line."""
    profiles = {"default": (4, 1000, 3, 80), "short": (2, 1000, 2, 80), "full": (4, math.inf, 3, 80)}
    if profile is not None:
        options.precision, options.threshold, options.edgeitems, options.linewidth = profiles[profile]
    for name, value in {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}.items():
        if value is not None:
            setattr(options, name, value)
    options.sci_mode = sci_mode


class _Formatter:
    """One width and one notation for all elements of a tensor."""

    def __init__(self, values, is_floating):
        self.is_floating = is_floating
        self.is_integral, self.is_scientific, self.width = True, False, 1
        if not is_floating:
            self.width = max([1, *(len(str(v)) for v in values)])
            return
        finite = [v for v in values if math.isfinite(v) and v != 0]
        if finite:
            self._choose_notation(finite)

    def _choose_notation(self, finite):
        largest, smallest = max(map(abs, finite)), min(map(abs, finite))
        self.is_integral = all(v == math.ceil(v) for v in finite)
        ratio_limit = 1000.0
        self.is_scientific = largest / smallest > ratio_limit or largest > 1.0e8 or (not self.is_integral and smallest < 1.0e-4)
        if self.is_integral:
            self.is_scientific = largest / smallest > ratio_limit or largest > 1.0e8
        if options.sci_mode is not None:
            self.is_scientific = options.sci_mode
        self.width = max(len(self._written(v)) for v in finite)

    def _written(self, value):
        if not self.is_floating:
            return str(value)
        if self.is_scientific:
            return f"{value:.{options.precision}e}"
        if self.is_integral:
            text = f"{value:.0f}"
            return text if not math.isfinite(value) else text + "."
        return f"{value:.{options.precision}f}"

    def format(self, value):
        text = self._written(value)
        return " " * (self.width - len(text)) + text


def _vector(values, indent, summarize, formatter):
    per_line = max(1, math.floor((options.linewidth - indent) / (formatter.width + 2)))
    edge = options.edgeitems
    if summarize and len(values) > 2 * edge:
        words = [formatter.format(v) for v in values[:edge]] + [" ..."] + [formatter.format(v) for v in values[-edge:]]
    else:
        words = [formatter.format(v) for v in values]
    lines = [words[i : i + per_line] for i in range(0, len(words), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(", ".join(line) for line in lines) + "]"


def _nested(values, dims, indent, summarize, formatter):
    if dims == 0:
        return formatter.format(values)
    if dims == 1:
        return _vector(values, indent, summarize, formatter)
    edge = options.edgeitems
    if summarize and len(values) > 2 * edge:
        rows = [_nested(v, dims - 1, indent + 1, summarize, formatter) for v in values[:edge]]
        rows += ["..."] + [_nested(v, dims - 1, indent + 1, summarize, formatter) for v in values[-edge:]]
    else:
        rows = [_nested(v, dims - 1, indent + 1, summarize, formatter) for v in values]
    return "[" + ("," + "\n" * (dims - 1) + " " * (indent + 1)).join(rows) + "]"


def _corners(tensor):
    """The elements that a summary shows, and one more in each long dimension, so that it can be recognised as long."""
    edge = options.edgeitems
    for d in range(tensor.dim()):
        if tensor.size(d) > 2 * edge:
            size = tensor.size(d)
            tensor = _cat([tensor.narrow(d, 0, edge + 1), tensor.narrow(d, size - edge, edge)], d)
    return tensor


def _flat(values, dims):
    for _ in range(dims - 1):
        values = [v for row in values for v in row]
    return values


def _shown(values, dims):
    """The elements of a summary without the one in the gap."""
    edge = options.edgeitems
    if dims == 0:
        return [values]
    kept = values[:edge] + values[-edge:] if len(values) > 2 * edge else values
    return kept if dims == 1 else [v for row in kept for v in _shown(row, dims - 1)]


def _contents(tensor, indent):
    summarize = tensor.numel() > options.threshold
    with_grad = tensor.detach()
    if with_grad.device.type != "cpu":
        with_grad = with_grad.cpu()
    values = (_corners(with_grad) if summarize else with_grad).tolist()
    shown = _shown(values, tensor.dim()) if summarize else ([values] if tensor.dim() == 0 else _flat(values, tensor.dim()))
    return _nested(values, tensor.dim(), indent, summarize, _Formatter(shown, tensor.is_floating_point()))


def tensor_str(tensor):
    """tensor([1., 2.], requires_grad=True)"""
    from mindtorch_v2.nn.parameter import Parameter

    prefix = "tensor("
    indent = len(prefix)
    suffixes = []
    if tensor.device.type != "cpu":
        suffixes.append(f"device='{tensor.device}'")
    natural = tensor.dtype in (_runtime.get_default_dtype(), _runtime.dtypes["int64"], _runtime.dtypes["bool"])
    if tensor.numel() == 0:
        if tensor.dim() != 1:
            suffixes.append(f"size={tuple(tensor.shape)}")
        if tensor.dtype != _runtime.get_default_dtype():
            suffixes.append(f"dtype={tensor.dtype}")
        contents = "[]"
    else:
        if not natural:
            suffixes.append(f"dtype={tensor.dtype}")
        contents = _contents(tensor, indent)
    if tensor.grad_fn is not None:
        suffixes.append(f"grad_fn=<{tensor.grad_fn.name()}>")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    text = _with_suffixes(prefix + contents, suffixes, indent)
    return f"Parameter containing:\n{text}" if isinstance(tensor, Parameter) else text


def _with_suffixes(text, suffixes, indent):
    last = len(text) - text.rfind("\n") - 1
    for suffix in suffixes:
        if last + len(suffix) + 2 > options.linewidth:
            text += ",\n" + " " * indent + suffix
            last = indent + len(suffix)
        else:
            text += ", " + suffix
            last += len(suffix) + 2
    return text + ")"
