"""The names of the package, and what it may not refer to."""

import inspect

import mindtorch_v2 as torch

# Rule: names.torch


def test_the_profiler_is_reached_as_torch_reaches_it():
    for name in ("profile", "record_function", "schedule", "ProfilerActivity", "ProfilerAction"):
        assert hasattr(torch.profiler, name)


# Rule: names.modules


def test_the_profiler_is_a_python_source_module_that_knows_no_mindspore():
    import mindtorch_v2.profiler.profiler as module

    assert "mindspore" not in inspect.getsource(module)


def test_nothing_refers_to_mindspore(project_root):
    for folder in ("python", "mindtorch"):
        for path in (project_root / folder).rglob("*"):
            if path.suffix in (".py", ".cpp", ".h"):
                assert "mindspore" not in path.read_text().lower(), path
