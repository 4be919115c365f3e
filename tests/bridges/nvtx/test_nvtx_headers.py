"""NVTX's own headers: our declarations agree with them, and a library that is built with them reports its ranges to the profiler."""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from vendor_headers import download

pytestmark = [pytest.mark.vendor]
ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ["nvidia-nvtx==13.0.85"]

# A library as a program has it: its own copy of NVTX.
LIBRARY = r"""
#include <nvtx3/nvToolsExt.h>
extern "C" {
int push(const char* name) { return nvtxRangePushA(name); }
int pop() { return nvtxRangePop(); }
void mark(const char* name) { nvtxMarkA(name); }
unsigned long long start(const char* name) { return nvtxRangeStartA(name); }
void end(unsigned long long id) { nvtxRangeEnd(id); }
void in_domain() {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("domain of the library");
  nvtxDomainNameCategoryA(domain, 3, "third");
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.category = 3;
  attributes.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
  attributes.payload.dValue = 2.5;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = nvtxDomainRegisterStringA(domain, "registered");
  nvtxDomainRangePushEx(domain, &attributes);
  nvtxDomainRangePop(domain);
}
}
"""

PROGRAM = textwrap.dedent(
    """
    import ctypes, json, sys, threading
    from mindtorch_v2.profiler import _ExperimentalConfig, dispatch_op_enter, dispatch_op_exit, profile, status

    library = ctypes.CDLL(sys.argv[1])
    library.start.restype = ctypes.c_uint64
    library.end.argtypes = [ctypes.c_uint64]
    before = status().bridges["nvtx"]
    with profile(activities=["cpu"], experimental_config=_ExperimentalConfig(enable_nvtx=True)) as prof:
        library.push(b"outer")
        library.push(b"inner")
        op = dispatch_op_enter("aten::mul")
        dispatch_op_exit(op)
        library.pop()
        library.pop()
        library.mark(b"moment")
        id = library.start(b"asynchronous")
        thread = threading.Thread(target=library.end, args=[id])
        thread.start()
        thread.join()
        library.in_domain()
    prof.export_chrome_trace(sys.argv[2])
    print(before)
    print(status().bridges["nvtx"])
    """
)


@pytest.fixture(scope="module")
def headers(vendor_folder):
    return download(PACKAGES, vendor_folder)


@pytest.fixture(scope="module")
def library(headers, tmp_path_factory):
    folder = tmp_path_factory.mktemp("nvtx")
    (folder / "library.cpp").write_text(LIBRARY)
    path = folder / "liblibrary.so"
    includes = [f"-I{path}" for path in headers]
    subprocess.run(["c++", "-shared", "-fPIC", *includes, folder / "library.cpp", "-o", path, "-ldl"], check=True)
    return path


def test_declarations_are_those_of_the_vendor(headers, tmp_path):
    """Each enumerator by its name, each struct field by field."""
    text = (ROOT / "mindtorch" / "bridges" / "nvtx" / "nvtx_abi.h").read_text()
    bodies = dict(re.findall(r"^enum (\w+) : [\w:]+ \{(.*?)\};", text, re.DOTALL | re.MULTILINE))
    lines = []
    for enum, prefix in (("CoreFunction", "NVTX_CBID_CORE_"), ("Core2Function", "NVTX_CBID_CORE2_")):
        names = re.findall(r"\bk(\w+)", bodies[enum])
        assert len(names) > 10
        lines += [f"static_assert(int(ours::k{name}) == int({prefix}{name}));" for name in names]
    same = {
        "kAsciiMessage": "NVTX_MESSAGE_TYPE_ASCII",
        "kUnicodeMessage": "NVTX_MESSAGE_TYPE_UNICODE",
        "kRegisteredMessage": "NVTX_MESSAGE_TYPE_REGISTERED",
        "kUint64Payload": "NVTX_PAYLOAD_TYPE_UNSIGNED_INT64",
        "kInt64Payload": "NVTX_PAYLOAD_TYPE_INT64",
        "kDoublePayload": "NVTX_PAYLOAD_TYPE_DOUBLE",
        "kUint32Payload": "NVTX_PAYLOAD_TYPE_UNSIGNED_INT32",
        "kInt32Payload": "NVTX_PAYLOAD_TYPE_INT32",
        "kFloatPayload": "NVTX_PAYLOAD_TYPE_FLOAT",
        "kCore": "NVTX_CB_MODULE_CORE",
        "kCore2": "NVTX_CB_MODULE_CORE2",
        "kCallbacksTable": "NVTX_ETID_CALLBACKS",
        "kNoPushPopTracking": "NVTX_NO_PUSH_POP_TRACKING",
    }
    lines += [f"static_assert(int(ours::{ours}) == int({theirs}));" for ours, theirs in same.items()]
    fields = ["version", "size", "category", "payload", "message", "color", "reserved0"]
    pairs = [(name, name) for name in fields] + [
        ("color_type", "colorType"),
        ("payload_type", "payloadType"),
        ("message_type", "messageType"),
    ]
    for ours, theirs in pairs:
        for what in ("offsetof({0}, {1})", "sizeof({0}::{1})"):
            first, second = what.format("ours::EventAttributes", ours), what.format("nvtxEventAttributes_t", theirs)
            lines.append(f"static_assert({first} == {second});")
    lines.append("static_assert(sizeof(ours::EventAttributes) == sizeof(nvtxEventAttributes_t));")
    lines.append("static_assert(sizeof(ours::ExportTableCallbacks) == sizeof(NvtxExportTableCallbacks));")
    source = tmp_path / "check.cpp"
    source.write_text(
        '#include <cstddef>\n#include <nvtx3/nvToolsExt.h>\n#include "mindtorch/bridges/nvtx/nvtx_abi.h"\n'
        "namespace ours = mindtorch::nvtx;\n" + "\n".join(lines) + "\n"
    )
    subprocess.run(["c++", "-std=c++20", "-fsyntax-only", f"-I{ROOT}", *[f"-I{path}" for path in headers], source], check=True)


def _run(program, *arguments, **environment):
    import os

    variables = {name: value for name, value in os.environ.items() if name != "NVTX_INJECTION64_PATH"} | environment
    done = subprocess.run([sys.executable, "-c", program, *map(str, arguments)], capture_output=True, text=True, env=variables)
    assert done.returncode == 0, done.stderr
    return done


def test_a_library_that_uses_nvtx_reports_to_the_profiler(library, tmp_path):
    import json

    done = _run(PROGRAM, library, tmp_path / "trace.json")
    before, after = done.stdout.splitlines()
    assert before.startswith("waiting for the first NVTX call")
    assert after == "active: 1 library reports ranges"
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    scopes = {event["name"]: event for event in events if event.get("cat") == "user_annotation"}
    assert set(scopes) == {"outer", "inner", "asynchronous", "registered"}
    outer, inner = scopes["outer"], scopes["inner"]
    op = next(event for event in events if event.get("name") == "aten::mul")
    assert outer["ts"] <= inner["ts"] <= op["ts"] and op["ts"] + op["dur"] <= inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"]
    details = scopes["registered"]["args"]
    assert (details["domain"], details["category"], details["payload"]) == ("domain of the library", "third", 2.5)
    assert scopes["asynchronous"]["args"]["async"]
    assert "moment" in {event["name"] for event in events if event.get("ph") == "i"}


def test_another_tool_keeps_its_ranges_and_is_named(library, tmp_path):
    done = _run(PROGRAM, library, tmp_path / "trace.json", NVTX_INJECTION64_PATH="/opt/other/tool.so")
    assert "names another tool (/opt/other/tool.so)" in done.stdout
    assert "enable_nvtx: ranges are not recorded" in done.stderr
    assert "outer" not in (tmp_path / "trace.json").read_text()
