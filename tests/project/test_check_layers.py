"""tools/check_layers.py: our tree keeps its layers, and a planted violation of every kind is found."""

import importlib.util
import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def script(project_root):
    return project_root / "tools" / "check_layers.py"


@pytest.fixture(scope="module")
def violations(script):
    """violations(tree) is what the script finds in it, one text each."""
    spec = importlib.util.spec_from_file_location("check_layers", script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return lambda tree: list(module.check_tree(tree))


def plant(tree, path, *lines):
    file = tree / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("// A file.\n" + "".join(line + "\n" for line in lines))


def test_our_tree_keeps_its_layers(violations, project_root):
    assert violations(project_root) == []


@pytest.mark.parametrize(("line", "status"), [("#include <string>", 0), ('#include "mindtorch/trace/event.h"', 1)])
def test_the_exit_status_tells_whether_a_rule_is_broken(script, tmp_path, line, status):
    plant(tmp_path, "mindtorch/base/a.h", line)
    result = subprocess.run([sys.executable, script, tmp_path], capture_output=True, text=True, check=False)
    assert result.returncode == status
    assert ("mindtorch/base/a.h:2:" in result.stdout) == bool(status)


ALLOWED = [
    ("mindtorch/base/a.h", "#include <vector>"),
    ("mindtorch/base/a.h", "#include <fmt/format.h>"),
    ("mindtorch/record/a.cpp", '#include "mindtorch/trace/recording.h"'),
    ("runtime/mindtorch/runtime/ops/a.cpp", '#include "mindtorch/record/hooks.h"'),
    ("mindtorch/sources/cupti/a.cpp", "#include <cupti.h>"),
    ("mindtorch/sources/cupti/a.cpp", '#include "mindtorch/sources/cupti/b.h"'),
    ("mindtorch/sources/cupti/a.cpp", '#include "mindtorch/sources/common.h"'),
    ("mindtorch/sources/all.cpp", '#include "mindtorch/sources/mspti/source.h"'),
    ("mindtorch/sources/reference/a.cpp", '#include "mindtorch/reference_device/activity.h"'),
    ("runtime/mindtorch/runtime/kernels/npu/a.cpp", '#include "mindtorch/reference_device/device.h"'),
    ("mindtorch/profiler/a.cpp", '#include "mindtorch/export/chrome/writer.h"'),
    ("mindtorch/ingest/chrome/a.cpp", "#include <simdjson.h>"),
    ("mindtorch/bridges/torch/a.cpp", "#include <ATen/record_function.h>"),
    ("python/src/a.cpp", '#include "mindtorch/profiler/profile.h"'),
    ("tests/export/a_test.cpp", "#include <sqlite3.h>"),
    ("mindtorch/base/a.h", "// #include <torch/torch.h> in a comment"),
    ("mindtorch/base/a.h", "#ifdef __x86_64__"),
]


@pytest.mark.parametrize(("path", "line"), ALLOWED)
def test_what_the_table_allows_passes(violations, tmp_path, path, line):
    plant(tmp_path, path, line)
    assert violations(tmp_path) == []


FORBIDDEN = [
    ("mindtorch/base/a.h", '#include "mindtorch/trace/event.h"', "mindtorch/base may include no other part"),
    ("mindtorch/trace/a.h", '#include "mindtorch/record/hooks.h"', "not mindtorch/record"),
    ("mindtorch/analyze/a.cpp", '#include "mindtorch/record/hooks.h"', "not mindtorch/record"),
    ("mindtorch/analyze/a.cpp", "#include <mindtorch/export/chrome/writer.h>", "not mindtorch/export"),
    ("mindtorch/export/a.cpp", '#include "mindtorch/ingest/load_trace.h"', "not mindtorch/ingest"),
    ("mindtorch/ingest/a.cpp", '#include "mindtorch/export/output.h"', "not mindtorch/export"),
    ("mindtorch/export/html/a.cpp", '#include "mindtorch/export/chrome/writer.h"', "must not know mindtorch/export/chrome"),
    ("mindtorch/sources/cupti/a.cpp", '#include "mindtorch/sources/mspti/b.h"', "must not know mindtorch/sources/mspti"),
    ("mindtorch/sources/mspti/a.cpp", "#include <cupti.h>", "only in mindtorch/sources/cupti"),
    ("mindtorch/sources/mspti/a.cpp", '#include "mindtorch/reference_device/activity.h"', "only in mindtorch/reference_device"),
    ("runtime/mindtorch/runtime/ops/a.cpp", '#include "mindtorch/reference_device/device.h"', "only in mindtorch/reference_device"),
    ("mindtorch/reference_device/a.cpp", '#include "mindtorch/record/source.h"', "not mindtorch/record"),
    ("runtime/mindtorch/runtime/a.cpp", '#include "mindtorch/record/session.h"', "may include only: call_details.h"),
    ("runtime/mindtorch/runtime/a.cpp", '#include "mindtorch/profiler/profile.h"', "not mindtorch/profiler"),
    ("mindtorch/bridges/torch/a.cpp", '#include "mindtorch/record/session.h"', "may include only: call_details.h"),
    ("python/src/a.cpp", '#include "mindtorch/record/registry.h"', "may include only: call_details.h"),
    ("mtprof/a.cpp", '#include "mindtorch/record/session.h"', "not mindtorch/record"),
    ("mindtorch/record/a.cpp", "#  include  <torch/torch.h>", "only in mindtorch/bridges/torch"),
    ("mindtorch/base/a.cpp", "#include <simdjson.h>", "may be included only in"),
    ("mindtorch/profiler/a.cpp", "#include <nanobind/nanobind.h>", "only in python/src"),
    ("mindtorch/record/a.h", "#ifdef HAVE_CUPTI", "no #ifdef HAVE_X"),
    ("mindtorch/record/a.h", "#if defined(HAVE_CUPTI)", "no #ifdef HAVE_X"),
    ("mindtorch/unheard_of/a.h", "", "belongs to no part"),
    ("mindtorch/record/a.h", '#include "mindtorch/unheard_of/b.h"', "belongs to no part"),
]


FENCED = [
    ("python/src/a.cpp", '#include "mindtorch/trace/piece.h"', "python/src may include public headers only"),
    ("mtprof/a.cpp", '#include "mindtorch/trace/piece.h"', "'mindtorch/trace/piece.h' is not in PUBLIC_HEADERS of mindtorch/trace"),
    ("mindtorch/bridges/torch/a.h", '#include "mindtorch/trace/piece.h"', "may include public headers only"),
    ("mindtorch/trace/event.h", '#include "mindtorch/trace/piece.h"', "a public header may include public headers only"),
    ("mindtorch/record/a.cpp", '#include "mindtorch/trace/piece.h"', None),
    ("mindtorch/trace/a.h", '#include "mindtorch/trace/piece.h"', None),
    ("mindtorch/bridges/torch/a.cpp", '#include "mindtorch/bridges/torch/b.h"', None),
    ("tests/trace/piece_test.cpp", '#include "mindtorch/trace/piece.h"', None),
    ("mtprof/a.cpp", '#include "mindtorch/trace/event.h"', None),
]


@pytest.mark.parametrize(("path", "line", "rule"), FENCED)
def test_users_and_public_headers_include_only_what_the_lists_call_public(violations, tmp_path, path, line, rule):
    (tmp_path / "mindtorch" / "trace").mkdir(parents=True)
    (tmp_path / "mindtorch" / "trace" / "CMakeLists.txt").write_text(
        "mindtorch_part(trace\n  SOURCES a.cpp\n  PUBLIC_HEADERS\n    event.h)\n"
    )
    plant(tmp_path, path, line)
    found = violations(tmp_path)
    assert len(found) == (rule is not None)
    assert rule is None or rule in found[0]


@pytest.mark.parametrize(("path", "line", "rule"), FORBIDDEN)
def test_a_planted_violation_is_found_with_file_line_and_rule(violations, tmp_path, path, line, rule):
    plant(tmp_path, "mindtorch/base/innocent.h", "#include <string>")
    plant(tmp_path, path, line)
    (found,) = violations(tmp_path)
    assert found.startswith(f"{path}:{2 if line else 1}: ")
    assert rule in found
