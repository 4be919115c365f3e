"""Checks that each source of the library has its test: mindtorch/a/b.cpp has tests/a/b_test.cpp, or the table below lists its tests.

Usage: check_tests.py [ROOT]. Prints a line for each source without a test and for each row of the table that is wrong; exit status 1 if
there is any.
"""

import sys
from pathlib import Path


def _each(folder, names, tests):
    """Rows for several sources of a folder that the same tests exercise."""
    return {f"{folder}/{name}.cpp": tests for name in names.split()}


# Sources that are tested through what uses them -> the tests. Every source is named, so that a new one needs a test or a decision.
TESTED_ELSEWHERE = {
    "analyze/report/device_rules.cpp": ["analyze/report/findings_test.cpp"],
    **_each("bridges/nvtx", "domains ranges", ["bridges/nvtx/injection_test.cpp"]),
    "bridges/torch/bridge.cpp": ["bridges/torch/test_lifecycle.py"],
    "bridges/torch/applied_functions.cpp": ["bridges/torch/test_applied_functions.py"],
    **_each("bridges/torch", "cpu_memory op_inputs", ["bridges/torch/test_parity.py"]),
    **_each("bridges/torch", "call_details call_values", ["bridges/torch/test_execution_traces.py"]),
    "bridges/torch/kept_addresses.cpp": ["bridges/torch/test_tensor_identities.py"],
    "bridges/torch/memory_reports.cpp": ["bridges/torch/test_shared_memory.py", "python/profiler/test_cuda.py"],
    "bridges/torch/op_callbacks.cpp": ["bridges/torch/test_parity.py", "bridges/torch/test_threads.py"],
    "bridges/torch/op_details.cpp": ["bridges/torch/test_collectives.py"],
    "bridges/torch/operators.cpp": ["bridges/torch/test_annotations.py"],
    "bridges/torch/python_interface.cpp": ["bridges/torch/test_build.py", "bridges/torch/test_compilers.py"],
    "export/input_text.cpp": ["export/test_chrome_trace.py", "ingest/chrome/chrome_reader_test.cpp"],
    **_each(
        "export/chrome",
        "chrome_writer counter_events events header",
        ["export/test_chrome_trace.py", "ingest/chrome/chrome_reader_test.cpp"],
    ),
    "export/html/memory_timeline_page.cpp": ["export/html/memory_timeline_writer_test.cpp"],
    **_each("export/perfetto", "event_packets perfetto_writer tracks", ["export/test_perfetto_trace.py"]),
    **_each(
        "export/report", "comparison_json page_writer report_json report_writer", ["export/test_report.py", "browser/test_report_page.py"]
    ),
    **_each("export/report", "job_json job_writer", ["mtprof/test_ranks.py", "browser/test_job_page.py"]),
    "export/speedscope/speedscope_writer.cpp": ["export/test_speedscope.py"],
    **_each("export/stacks", "flame_graph stacks_writer", ["export/test_stacks.py"]),
    "export/tabular/arrow_column.cpp": ["export/tabular/arrow_table_test.cpp"],
    "export/tabular/tabular_arrow.cpp": ["python/profiler/test_arrow.py"],
    "export/tabular/tabular_columns.cpp": ["export/tabular/tabular_test.cpp"],
    "export/tabular/tabular_writer.cpp": ["export/test_tabular_files.py"],
    "ingest/read_limits.cpp": ["ingest/hostile_files_test.cpp"],
    **_each(
        "ingest/chrome",
        "argument_reader input_reader own_header part_builder part_merger part_reader trace_assembly trace_part",
        ["ingest/chrome/chrome_reader_test.cpp"],
    ),
    "ingest/chrome/text_reading.cpp": ["ingest/chrome/chrome_reader_test.cpp", "ingest/hostile_files_test.cpp"],
    "record/assemble.cpp": ["record/session_test.cpp", "record/threads_test.cpp"],
    "record/device_batch.cpp": ["record/device_mapping_test.cpp", "sources/source_contract.cpp"],
    "record/device_scopes.cpp": ["sources/cupti_source_test.cpp"],
    **_each("record", "host stack_provider state", ["record/hooks_test.cpp"]),
    "record/input_writer.cpp": ["record/side_entries_test.cpp", "runtime/recording_test.cpp"],
    "record/log_storage.cpp": ["record/threads_test.cpp", "record/segment_reader_test.cpp"],
    "record/open_op.cpp": ["sources/cupti_contract_test.cpp"],
    **_each("record", "registry thread_attach", ["record/threads_test.cpp"]),
    "record/segments.cpp": ["record/budget_test.cpp", "record/threads_test.cpp"],
    "record/session_clock.cpp": ["record/clock_bound_test.cpp"],
    "record/session_core.cpp": ["record/session_test.cpp"],
    "record/spill_file.cpp": ["record/spill_test.cpp"],
    "record/thread_log.cpp": ["record/threads_test.cpp", "record/budget_test.cpp"],
    "reference_device/activity_api.cpp": ["sources/mspti_contract_test.cpp"],
    **_each("reference_device", "api_call collector", ["reference_device/activity_test.cpp"]),
    "reference_device/device.cpp": ["reference_device/device_memory_test.cpp", "reference_device/power_test.cpp"],
    **_each("reference_device", "driver result", ["reference_device/power_test.cpp"]),
    "reference_device/events.cpp": ["reference_device/event_test.cpp"],
    **_each("runtime", "caching_allocator cpu_backend memory", ["runtime/allocator_test.cpp"]),
    "runtime/blas/library.cpp": ["runtime/blas/blas_test.cpp"],
    "runtime/device.cpp": ["runtime/device_seam_test.cpp"],
    **_each("runtime", "dim_vector geometry storage tensor_impl", ["runtime/tensor_test.cpp"]),
    "runtime/embedded_host.cpp": ["runtime/recording_test.cpp"],
    "runtime/generator.cpp": ["runtime/random_test.cpp"],
    "runtime/initialize.cpp": ["runtime/dispatcher_test.cpp"],
    **_each("runtime", "loop_plan pointwise", ["runtime/pointwise_values_test.cpp"]),
    "runtime/reduce_plan.cpp": ["runtime/reductions_test.cpp"],
    "runtime/scalar_type.cpp": ["runtime/type_promotion_test.cpp"],
    **_each(
        "runtime/autograd",
        "accumulate_grad copy_slices engine graph_task node saved_variable variable",
        ["runtime/autograd_test.cpp", "runtime/gradients_test.cpp"],
    ),
    **_each("runtime/dispatch", "arguments boxing dispatch_key library", ["runtime/dispatcher_test.cpp"]),
    "runtime/dispatch/schema.cpp": ["runtime/schema_test.cpp"],
    "runtime/kernels/cpu/activation.cpp": ["runtime/activation_test.cpp", "runtime/test_against_torch.py"],
    **_each(
        "runtime/kernels/cpu",
        "arithmetic comparison copy power sequence unary",
        ["runtime/test_against_torch.py", "runtime/pointwise_values_test.cpp"],
    ),
    "runtime/kernels/cpu/channel_norm.cpp": ["runtime/channel_norm_test.cpp", "runtime/test_against_torch.py"],
    "runtime/kernels/cpu/convolution.cpp": ["runtime/convolution_test.cpp", "runtime/test_against_torch.py"],
    "runtime/kernels/cpu/dropout.cpp": ["runtime/dropout_test.cpp", "runtime/test_against_torch.py"],
    "runtime/kernels/cpu/embedding.cpp": ["runtime/embedding_test.cpp", "runtime/test_against_torch.py"],
    "runtime/kernels/cpu/indexing.cpp": ["runtime/indexing_test.cpp", "runtime/test_against_torch.py"],
    "runtime/kernels/cpu/layer_norm.cpp": ["runtime/layer_norm_test.cpp", "runtime/test_against_torch.py"],
    "runtime/kernels/cpu/loss.cpp": ["runtime/loss_test.cpp", "runtime/test_against_torch.py"],
    "runtime/kernels/cpu/matmul.cpp": ["runtime/matmul_test.cpp", "runtime/test_against_torch.py"],
    "runtime/kernels/cpu/pooling.cpp": ["runtime/pooling_test.cpp", "runtime/test_against_torch.py"],
    "runtime/kernels/cpu/random.cpp": ["runtime/random_test.cpp", "runtime/test_against_torch.py"],
    **_each("runtime/kernels/cpu", "reduction row_reduction", ["runtime/reductions_test.cpp"]),
    "runtime/kernels/cpu/softmax.cpp": ["runtime/softmax_test.cpp", "runtime/test_against_torch.py"],
    **_each(
        "runtime/kernels/npu",
        "npu npu_backend providers reference_provider stream",
        ["runtime/npu_test.cpp", "runtime/test_device_contract.py"],
    ),
    **_each("runtime/nn", "attention clip_grad convolution init linear normalization", ["runtime/nn_test.cpp"]),
    "runtime/nn/module.cpp": ["runtime/module_test.cpp"],
    "runtime/ops/activation.cpp": ["runtime/activation_test.cpp", "runtime/test_against_torch.py"],
    "runtime/ops/advanced_indexing.cpp": ["runtime/advanced_indexing_test.cpp", "runtime/test_against_torch.py"],
    **_each(
        "runtime/ops",
        "arithmetic comparison copy creation extremum joining nonzero power sequence unary",
        ["runtime/test_against_torch.py", "runtime/gradients_test.cpp"],
    ),
    "runtime/ops/attention.cpp": ["runtime/attention_test.cpp", "runtime/test_against_torch.py"],
    "runtime/ops/channel_norm.cpp": ["runtime/channel_norm_test.cpp", "runtime/test_against_torch.py"],
    "runtime/ops/convolution.cpp": ["runtime/convolution_test.cpp", "runtime/test_against_torch.py"],
    "runtime/ops/dropout.cpp": ["runtime/dropout_test.cpp", "runtime/test_against_torch.py"],
    "runtime/ops/embedding.cpp": ["runtime/embedding_test.cpp", "runtime/test_against_torch.py"],
    "runtime/ops/im2col.cpp": ["runtime/convolution_test.cpp"],
    "runtime/ops/indexing.cpp": ["runtime/indexing_test.cpp", "runtime/test_against_torch.py"],
    "runtime/ops/layer_norm.cpp": ["runtime/layer_norm_test.cpp", "runtime/test_against_torch.py"],
    "runtime/ops/loss.cpp": ["runtime/loss_test.cpp", "runtime/test_against_torch.py"],
    "runtime/ops/matmul.cpp": ["runtime/matmul_test.cpp", "runtime/test_against_torch.py"],
    "runtime/ops/nll_loss.cpp": ["runtime/loss_test.cpp"],
    "runtime/ops/pooling.cpp": ["runtime/pooling_test.cpp", "runtime/test_against_torch.py"],
    "runtime/ops/random.cpp": ["runtime/random_test.cpp", "runtime/test_against_torch.py"],
    "runtime/ops/reduction.cpp": ["runtime/reductions_test.cpp"],
    **_each("runtime/ops", "slicing view", ["runtime/tensor_test.cpp"]),
    "runtime/ops/softmax.cpp": ["runtime/softmax_test.cpp", "runtime/test_against_torch.py"],
    **_each("runtime/optim", "adagrad adam optimizer rmsprop sgd", ["runtime/optim_test.cpp"]),
    "sources/buffers.cpp": ["sources/mspti_traps_test.cpp", "sources/cupti_faults_test.cpp"],
    "sources/deadline.cpp": ["sources/mspti_faults_test.cpp", "sources/cupti_faults_test.cpp"],
    **_each("sources", "decode_thread", ["sources/source_contract.cpp", "sources/cupti_faults_test.cpp"]),
    "sources/cupti/api_names.cpp": ["sources/cupti_source_test.cpp"],
    "sources/cupti/captured_ops.cpp": ["sources/cupti_graphs_test.cpp"],
    **_each("sources/cupti", "cupti_source decode", ["sources/cupti_source_test.cpp", "sources/cupti_contract_test.cpp"]),
    "sources/cupti/decode_finish.cpp": ["sources/cupti_graphs_test.cpp", "sources/cupti_contract_test.cpp"],
    "sources/cupti/driver.cpp": ["sources/cupti_source_test.cpp", "sources/cupti_faults_test.cpp"],
    **_each("sources/cupti", "extra_kinds extra_records pm_sampling", ["sources/cupti_extras_test.cpp"]),
    "sources/cupti/graph_nodes.cpp": ["sources/cupti_graphs_test.cpp", "sources/cupti_captures_test.cpp"],
    "sources/cupti/library.cpp": ["sources/cupti_faults_test.cpp"],
    "sources/cupti/occupancy.cpp": ["sources/occupancy_test.cpp"],
    "sources/cupti/record_reader.cpp": ["sources/cupti_subscribers_test.cpp", "sources/cupti_captures_test.cpp"],
    **_each("sources/cupti", "classic_subscription shared_subscription subscription", ["sources/cupti_subscribers_test.cpp"]),
    **_each(
        "sources/mspti", "ascend_cl call_links decode mspti_source", ["sources/mspti_source_test.cpp", "sources/mspti_contract_test.cpp"]
    ),
    **_each("sources/mspti", "decode_finish library", ["sources/mspti_traps_test.cpp", "sources/mspti_source_test.cpp"]),
    **_each(
        "sources/reference",
        "decode reference_source",
        ["sources/reference_source_test.cpp", "sources/reference_contract_test.cpp"],
    ),
    "trace/file.cpp": ["ingest/recording_file_test.cpp"],
}


def untested(root, table):
    """The sources, relative to mindtorch/, that have no test of their own name and no row in the table."""
    for path in sorted((root / "mindtorch").rglob("*.cpp")):
        source = path.relative_to(root / "mindtorch")
        if (root / "tests" / source.with_name(source.stem + "_test.cpp")).exists():
            continue
        if source.as_posix() not in table:
            yield source.as_posix()


def check_tree(root, table=None):
    table = TESTED_ELSEWHERE if table is None else table
    for source in untested(root, table):
        test = Path(source).with_name(Path(source).stem + "_test.cpp").as_posix()
        yield f"mindtorch/{source} has no test: write tests/{test}, or say in tools/check_tests.py what tests it"
    needed = set(untested(root, {}))
    for source, tests in table.items():
        if source not in needed:
            yield f"tools/check_tests.py: '{source}' is not needed: there is no such source, or it has a test of its own name"
        for test in tests:
            if not (root / "tests" / test).exists():
                yield f"tools/check_tests.py: '{source}' is said to be tested by tests/{test}, which does not exist"


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    problems = list(check_tree(root))
    for problem in problems:
        print(problem)
    print(f"check_tests: {len(problems)} problems", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
