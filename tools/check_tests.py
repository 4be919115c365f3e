"""Checks that each source of the library has its test: mindtorch/a/b.cpp has tests/a/b_test.cpp, or the table below lists its tests.

Usage: check_tests.py [ROOT]. Prints a line for each source without a test and for each row of the table that is wrong; exit status 1 if
there is any.
"""

import sys
from fnmatch import fnmatchcase
from pathlib import Path

# Sources that are tested through what uses them -> the tests. A pattern covers a folder whose files are tested together.
TESTED_ELSEWHERE = {
    "bridges/torch/bridge.cpp": ["bridges/torch/test_lifecycle.py"],
    "bridges/torch/cpu_memory.cpp": ["bridges/torch/test_parity.py"],
    "bridges/torch/device_memory.cpp": ["python/profiler/test_cuda.py"],
    "bridges/torch/op_callbacks.cpp": ["bridges/torch/test_parity.py", "bridges/torch/test_threads.py"],
    "bridges/torch/op_details.cpp": ["bridges/torch/test_collectives.py"],
    "bridges/torch/op_inputs.cpp": ["bridges/torch/test_parity.py"],
    "bridges/torch/operators.cpp": ["bridges/torch/test_annotations.py"],
    "bridges/torch/python_interface.cpp": ["bridges/torch/test_build.py"],
    "bridges/torch/tracing.cpp": ["bridges/torch/test_compilers.py"],
    "export/chrome/*": ["export/test_chrome_trace.py", "ingest/chrome/chrome_reader_test.cpp"],
    "export/html/memory_timeline_page.cpp": ["export/html/memory_timeline_writer_test.cpp"],
    "export/input_text.cpp": ["export/test_chrome_trace.py", "ingest/chrome/chrome_reader_test.cpp"],
    "export/perfetto/*": ["export/test_perfetto_trace.py"],
    "export/speedscope/speedscope_writer.cpp": ["export/test_speedscope.py"],
    "export/stacks/*": ["export/test_stacks.py"],
    "export/tabular/tabular_writer.cpp": ["export/test_tabular_files.py"],
    "ingest/chrome/*": ["ingest/chrome/chrome_reader_test.cpp"],
    "ingest/read_limits.cpp": ["ingest/hostile_files_test.cpp"],
    "record/assemble.cpp": ["record/session_test.cpp", "record/threads_test.cpp"],
    "record/device_batch.cpp": ["record/device_mapping_test.cpp", "sources/source_contract.cpp"],
    "record/device_scopes.cpp": ["sources/cupti_source_test.cpp"],
    "record/host.cpp": ["record/hooks_test.cpp"],
    "record/input_writer.cpp": ["record/side_entries_test.cpp", "runtime/recording_test.cpp"],
    "record/log_storage.cpp": ["record/threads_test.cpp", "record/segment_reader_test.cpp"],
    "record/open_op.cpp": ["sources/cupti_contract_test.cpp"],
    "record/registry.cpp": ["record/threads_test.cpp"],
    "record/segments.cpp": ["record/budget_test.cpp", "record/threads_test.cpp"],
    "record/session_clock.cpp": ["record/clock_bound_test.cpp"],
    "record/session_core.cpp": ["record/session_test.cpp"],
    "record/spill_file.cpp": ["record/spill_test.cpp"],
    "record/stack_provider.cpp": ["record/hooks_test.cpp"],
    "record/state.cpp": ["record/hooks_test.cpp"],
    "record/thread_attach.cpp": ["record/threads_test.cpp"],
    "record/thread_log.cpp": ["record/threads_test.cpp", "record/budget_test.cpp"],
    "reference_device/api_call.cpp": ["reference_device/activity_test.cpp"],
    "reference_device/collector.cpp": ["reference_device/activity_test.cpp"],
    "reference_device/device.cpp": ["reference_device/device_memory_test.cpp", "reference_device/power_test.cpp"],
    "reference_device/driver.cpp": ["reference_device/power_test.cpp"],
    "reference_device/events.cpp": ["reference_device/event_test.cpp"],
    "reference_device/result.cpp": ["reference_device/power_test.cpp"],
    "runtime/autograd/*": ["runtime/autograd_test.cpp", "runtime/gradients_test.cpp"],
    "runtime/caching_allocator.cpp": ["runtime/allocator_test.cpp"],
    "runtime/cpu_backend.cpp": ["runtime/allocator_test.cpp"],
    "runtime/device.cpp": ["runtime/device_seam_test.cpp"],
    "runtime/dim_vector.cpp": ["runtime/tensor_test.cpp"],
    "runtime/dispatch/*": ["runtime/dispatcher_test.cpp", "runtime/schema_test.cpp"],
    "runtime/embedded_host.cpp": ["runtime/recording_test.cpp"],
    "runtime/generator.cpp": ["runtime/random_test.cpp"],
    "runtime/geometry.cpp": ["runtime/tensor_test.cpp"],
    "runtime/initialize.cpp": ["runtime/dispatcher_test.cpp"],
    "runtime/kernels/cpu/*": ["runtime/test_against_torch.py", "runtime/pointwise_values_test.cpp"],
    "runtime/kernels/npu/*": ["runtime/npu_test.cpp", "runtime/test_device_contract.py"],
    "runtime/loop_plan.cpp": ["runtime/pointwise_values_test.cpp"],
    "runtime/memory.cpp": ["runtime/allocator_test.cpp"],
    "runtime/nn/*": ["runtime/nn_test.cpp", "runtime/module_test.cpp"],
    "runtime/ops/*": ["runtime/test_against_torch.py", "runtime/gradients_test.cpp"],
    "runtime/optim/*": ["runtime/optim_test.cpp"],
    "runtime/pointwise.cpp": ["runtime/pointwise_values_test.cpp"],
    "runtime/reduce_plan.cpp": ["runtime/reductions_test.cpp"],
    "runtime/scalar_type.cpp": ["runtime/type_promotion_test.cpp"],
    "runtime/storage.cpp": ["runtime/tensor_test.cpp"],
    "runtime/tensor_impl.cpp": ["runtime/tensor_test.cpp"],
    "sources/cupti/*": ["sources/cupti_contract_test.cpp"],
    "sources/reference/*": ["sources/reference_source_test.cpp", "sources/reference_contract_test.cpp"],
    "trace/file.cpp": ["ingest/recording_file_test.cpp"],
    "trace/summary_chunk.cpp": ["trace/recording_chunks_test.cpp"],
}


def untested(root, table):
    """The sources, relative to mindtorch/, that have no test of their own name and no row in the table."""
    for path in sorted((root / "mindtorch").rglob("*.cpp")):
        source = path.relative_to(root / "mindtorch")
        if (root / "tests" / source.with_name(source.stem + "_test.cpp")).exists():
            continue
        if not any(fnmatchcase(source.as_posix(), pattern) for pattern in table):
            yield source.as_posix()


def check_tree(root, table=None):
    table = TESTED_ELSEWHERE if table is None else table
    for source in untested(root, table):
        test = Path(source).with_name(Path(source).stem + "_test.cpp").as_posix()
        yield f"mindtorch/{source} has no test: write tests/{test}, or say in tools/check_tests.py what tests it"
    needed = list(untested(root, {}))
    for pattern, tests in table.items():
        if not any(fnmatchcase(source, pattern) for source in needed):
            yield f"tools/check_tests.py: '{pattern}' is not needed: no source without a test of its own name matches it"
        for test in tests:
            if not (root / "tests" / test).exists():
                yield f"tools/check_tests.py: '{pattern}' is said to be tested by tests/{test}, which does not exist"


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    problems = list(check_tree(root))
    for problem in problems:
        print(problem)
    print(f"check_tests: {len(problems)} problems", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
