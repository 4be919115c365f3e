"""Chakra execution traces against the schema, as torch's own observer fills it (2.13, float32 on the CPU)."""

import json

import pytest

SAMPLES = ["cpu", "full", "npu", "cuda", "hostile", "empty"]
ATTRIBUTES = {
    "rf_id": "uint64",
    "fw_parent": "uint64",
    "seq_id": "int64",
    "scope": "uint64",
    "tid": "uint64",
    "fw_tid": "uint64",
    "op_schema": "string",
    "kernel_backend": "string",
    "kernel_file": "string",
    "tensor_range": "string",
}


@pytest.fixture(params=SAMPLES)
def trace(request, traces):
    return json.loads((traces / f"{request.param}.et.json").read_bytes())


def test_the_file_has_the_keys_of_the_schema(trace):
    assert list(trace) == ["schema", "pid", "time", "start_ts", "nodes", "finish_ts"]
    assert trace["schema"] == "1.1.1-chakra.0.0.4"
    assert trace["start_ts"] <= trace["finish_ts"]


def test_every_node_has_the_keys_and_typed_attributes_of_the_schema(trace):
    for node in trace["nodes"]:
        assert list(node) == ["id", "name", "ctrl_deps", "inputs", "outputs", "attrs"]
        assert {attribute["name"]: attribute["type"] for attribute in node["attrs"]} == ATTRIBUTES
        for attribute in node["attrs"]:
            assert isinstance(attribute["value"], str if attribute["type"] == "string" else int)
            assert attribute["type"] != "uint64" or attribute["value"] >= 0


def test_values_shapes_types_and_strides_have_one_item_an_argument(trace):
    for node in trace["nodes"]:
        for side in (node["inputs"], node["outputs"]):
            assert list(side) == ["values", "shapes", "types", "strides"]
            assert len({len(items) for items in side.values()}) == 1
            for value, shape, kind in zip(side["values"], side["shapes"], side["types"], strict=False):
                if kind.startswith("Tensor("):
                    assert len(value) == 6
                    assert all(isinstance(size, int) for size in shape)


def test_the_nodes_are_a_tree_with_the_process_at_its_root(trace):
    parents = {node["id"]: node["ctrl_deps"] for node in trace["nodes"]}
    assert len(parents) == len(trace["nodes"])
    assert trace["nodes"][-1]["id"] == 1
    for node in parents:
        seen = set()
        while node != 1:
            assert node not in seen
            seen.add(node)
            node = parents[node]
