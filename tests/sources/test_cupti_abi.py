"""Our declarations of CUPTI's binary interface against NVIDIA's headers: each offset, size, enumerator and argument."""

import dataclasses
import re
import subprocess
from pathlib import Path

import pytest
from vendor_headers import download

ROOT = Path(__file__).resolve().parents[2]
OURS = [ROOT / "mindtorch" / "sources" / "cupti" / name for name in ("cupti_abi.h", "cupti_abi_v2.h", "pm_sampling_abi.h")]
CHECK = Path(__file__).with_name("cupti_abi_check.h")

# CUDA's release -> the packages that hold its headers. CUDA 12 has the headers in crt/ in its compiler; those of CUDA 13 are the same.
RELEASES = {
    "12.8": ["nvidia-cuda-cupti-cu12==12.8.90", "nvidia-cuda-runtime-cu12==12.8.90", "nvidia-cuda-crt==13.0.88"],
    "13.0": ["nvidia-cuda-cupti==13.0.85", "nvidia-cuda-runtime==13.0.96", "nvidia-cuda-crt==13.0.88"],
    "13.4": ["nvidia-cuda-cupti==13.4.92", "nvidia-cuda-runtime==13.4.92", "nvidia-cuda-crt==13.4.92"],
}

# Our struct -> the vendor's; "#" stands for the highest number that the headers have.
STRUCTS = {
    "Activity": "CUpti_Activity",
    "KernelRecord": "CUpti_ActivityKernel#",
    "MemcpyRecord": "CUpti_ActivityMemcpy#",
    "PeerCopyRecord": "CUpti_ActivityMemcpyPtoP#",
    "MemsetRecord": "CUpti_ActivityMemset#",
    "SynchronizationRecord": "CUpti_ActivitySynchronization#",
    "ApiRecord": "CUpti_ActivityAPI",
    "OverheadRecord": "CUpti_ActivityOverhead#",
    "GraphTraceRecord": "CUpti_ActivityGraphTrace#",
    "EnvironmentRecord": "CUpti_ActivityEnvironment",
    "EnvironmentSpeed": "CUpti_ActivityEnvironmentSpeed",
    "EnvironmentPower": "CUpti_ActivityEnvironmentPower",
    "CudaEventRecord": "CUpti_ActivityCudaEvent#",
    "CallbackData": "CUpti_CallbackData",
    "ResourceData": "CUpti_ResourceData",
    "GraphData": "CUpti_GraphData",
    "SubscriberParams": "CUpti_SubscriberParams",
    "ProfilerInitializeParams": "CUpti_Profiler_Initialize_Params",
    "GetChipNameParams": "CUpti_Device_GetChipName_Params",
    "GetCounterAvailabilityParams": "CUpti_PmSampling_GetCounterAvailability_Params",
    "HostInitializeParams": "CUpti_Profiler_Host_Initialize_Params",
    "HostDeinitializeParams": "CUpti_Profiler_Host_Deinitialize_Params",
    "ConfigAddMetricsParams": "CUpti_Profiler_Host_ConfigAddMetrics_Params",
    "GetConfigImageSizeParams": "CUpti_Profiler_Host_GetConfigImageSize_Params",
    "GetConfigImageParams": "CUpti_Profiler_Host_GetConfigImage_Params",
    "GetNumOfPassesParams": "CUpti_Profiler_Host_GetNumOfPasses_Params",
    "SamplingEnableParams": "CUpti_PmSampling_Enable_Params",
    "SamplingObjectParams": "CUpti_PmSampling_Start_Params",
    "SetConfigParams": "CUpti_PmSampling_SetConfig_Params",
    "GetCounterDataSizeParams": "CUpti_PmSampling_GetCounterDataSize_Params",
    "CounterDataInitializeParams": "CUpti_PmSampling_CounterDataImage_Initialize_Params",
    "DecodeDataParams": "CUpti_PmSampling_DecodeData_Params",
    "GetCounterDataInfoParams": "CUpti_PmSampling_GetCounterDataInfo_Params",
    "GetSampleInfoParams": "CUpti_PmSampling_CounterData_GetSampleInfo_Params",
    "EvaluateToGpuValuesParams": "CUpti_Profiler_Host_EvaluateToGpuValues_Params",
    "SharedSubscriberParams": "CUpti_SubscriberParams",
    "FieldSelection": "CUpti_ActivityFieldSelection",
    "ActivityConfig": "CUpti_ActivityConfig",
    "FieldEntry": "CUpti_ActivityFieldLayoutEntry",
    "LayoutOfKind": "CUpti_ActivityRecordLayout",
    "RequestInfo": "CUpti_BufferCallbackRequestInfo",
    "CompleteInfo": "CUpti_BufferCallbackCompleteInfo",
}
# Structs of which early releases have a part -> a field that only later ones have.
LAST_FIELDS = {"SharedSubscriberParams": "allowMultipleSubscribers", "ActivityConfig": "pKindOptions"}
# Structs that the library fills or reads as a whole; records may be longer than what we declare of them.
WHOLE_STRUCTS = {
    "ResourceData",
    "GraphData",
    "ApiRecord",
    "EnvironmentRecord",
    "EnvironmentSpeed",
    "EnvironmentPower",
    "CudaEventRecord",
    "SharedSubscriberParams",
    "FieldSelection",
    "ActivityConfig",
    "FieldEntry",
    "LayoutOfKind",
    "CompleteInfo",
}
# Our field -> the vendor's, where it is not the same name in camel case.
FIELDS = {
    "callback_id": "cbid",
    "cache_config": "cacheConfig",
    "partitioned_cache_requested": "partitionedGlobalCacheRequested",
    "partitioned_cache_executed": "partitionedGlobalCacheExecuted",
    "carveout_requested": "isSharedMemoryCarveoutRequested",
    "carveout": "sharedMemoryCarveoutRequested",
    "shared_memory_limit_config": "shmemLimitConfig",
    "source_kind": "srcKind",
    "destination_kind": "dstKind",
    "source_device_id": "srcDeviceId",
    "source_context_id": "srcContextId",
    "destination_device_id": "dstDeviceId",
    "destination_context_id": "dstContextId",
    "site": "callbackSite",
    "handle": "resourceHandle",
    "descriptor": "resourceDescriptor",
    "priv": "pPriv",
    "host_object": "pHostObject",
    "sampling_object": "pPmSamplingObject",
    "append_mode": "hwBufferAppendMode",
    "chip_name": "pChipName",
    "config": "pConfig",
    "config_image": "pConfigImage",
    "counter_availability_image": "pCounterAvailabilityImage",
    "counter_data": "pCounterData",
    "counter_data_image": "pCounterDataImage",
    "metric_names": "ppMetricNames",
    "metric_values": "pMetricValues",
    "sampled_metric_names": "pMetricNames",
    "field_ids": "pFieldIds",
    "kind_options": "pKindOptions",
    "entries": "pEntries",
    "record_layouts": "ppRecordLayouts",
}
NOT_COMPARED = {"padding", "padding2", "reserved0"}

# Enums of fields: kKernelStart of KernelField -> KERNEL_FIELD_START.
FIELD_PREFIXES = {
    "Kernel": "KERNEL",
    "Memcpy": "MEMCPY",
    "Memcpy2": "MEMCPY2",
    "Memset": "MEMSET",
    "Api": "API",
    "Overhead": "OVERHEAD",
    "Synchronization": "SYNCHRONIZATION",
    "GraphTrace": "GRAPH_TRACE",
    "Environment": "ENVIRONMENT",
    "CudaEvent": "CUDA_EVENT",
}

# Our enumerators -> the vendor's: by the enum that they are in, a prefix, and exceptions.
ENUMS = {
    "Result": ("CUPTI_ERROR_", {"kSuccess": "CUPTI_SUCCESS", "kUnknownError": "CUPTI_ERROR_UNKNOWN"}),
    "ActivityKind": ("CUPTI_ACTIVITY_KIND_", {"kMemcpyPeer": "CUPTI_ACTIVITY_KIND_MEMCPY2"}),
    "CopyKind": (
        "CUPTI_ACTIVITY_MEMCPY_KIND_",
        {
            "kHostToDevice": "CUPTI_ACTIVITY_MEMCPY_KIND_HTOD",
            "kDeviceToHost": "CUPTI_ACTIVITY_MEMCPY_KIND_DTOH",
            "kDeviceToDevice": "CUPTI_ACTIVITY_MEMCPY_KIND_DTOD",
            "kHostToHost": "CUPTI_ACTIVITY_MEMCPY_KIND_HTOH",
            "kPeerToPeer": "CUPTI_ACTIVITY_MEMCPY_KIND_PTOP",
        },
    ),
    "MemoryKind": (
        "CUPTI_ACTIVITY_MEMORY_KIND_",
        {"kUnknownMemory": "CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN", "kDeviceMemory": "CUPTI_ACTIVITY_MEMORY_KIND_DEVICE"},
    ),
    "SynchronizationType": ("CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_", {}),
    "OverheadKind": (
        "CUPTI_ACTIVITY_OVERHEAD_",
        {
            "kBufferFlush": "CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH",
            "kInstrumentation": "CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION",
            "kResource": "CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE",
            "kModuleLoading": "CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING",
            "kBufferRequest": "CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST",
            "kUvmInit": "CUPTI_ACTIVITY_OVERHEAD_UVM_ACTIVITY_INIT",
        },
    ),
    "EnvironmentKind": ("CUPTI_ACTIVITY_ENVIRONMENT_", {}),
    "ObjectKind": (
        "CUPTI_ACTIVITY_OBJECT_",
        {f"k{name}Object": f"CUPTI_ACTIVITY_OBJECT_{name.upper()}" for name in ("Process", "Thread", "Device", "Context", "Stream")},
    ),
    "ApiSite": ("CUPTI_", {"kApiEnter": "CUPTI_API_ENTER", "kApiExit": "CUPTI_API_EXIT"}),
    "CallbackDomain": (
        "CUPTI_CB_DOMAIN_",
        {"kResourceDomain": "CUPTI_CB_DOMAIN_RESOURCE", "kSynchronizeDomain": "CUPTI_CB_DOMAIN_SYNCHRONIZE"},
    ),
    "ResourceCallback": (
        "CUPTI_CBID_RESOURCE_",
        {
            "kGraphNodeCreated": "CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED",
            "kGraphNodeDestroyStarting": "CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING",
            "kGraphNodeCloned": "CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED",
            "kGraphExecCreated": "CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED",
            "kGraphExecDestroyStarting": "CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING",
        },
    ),
    "Attribute": ("CUPTI_ACTIVITY_ATTR_", {}),
    "ProfilerType": ("CUPTI_PROFILER_TYPE_", {"kPmSamplingProfiler": "CUPTI_PROFILER_TYPE_PM_SAMPLING"}),
    "TriggerMode": ("CUPTI_PM_SAMPLING_TRIGGER_MODE_", {}),
    "AppendMode": ("CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_", {}),
    "DecodeStopReason": (
        "CUPTI_PM_SAMPLING_DECODE_STOP_REASON_",
        {"kStoppedOtherwise": "CUPTI_PM_SAMPLING_DECODE_STOP_REASON_OTHER"},
    ),
    "SubscriberAttribute": ("CUPTI_ACTIVITY_ATTR_", {}),
    **{f"{kind}Field": ("", {}) for kind in FIELD_PREFIXES},
    "ThreadIdType": (
        "CUPTI_ACTIVITY_THREAD_ID_TYPE_",
        {
            "kDefaultThreadId": "CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT",
            "kSystemThreadId": "CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM",
        },
    ),
}
CONSTANTS = {"kFlushForced": "CUPTI_ACTIVITY_FLAG_FLUSH_FORCED", "kFieldOfKind": "KERNEL_FIELD_KIND"}
# Numbers of ours that no header has.
OWN_CONSTANTS = {
    "kFirstVersionThatTakesNoBuffer",
    "kFirstVersionWithEventTimes",
    "kFirstVersionWithUserDefinedRecords",
    "kFirstVersionWithApiOptions",
}


@dataclasses.dataclass
class Declarations:
    """What our headers declare, as read from their texts."""

    structs: dict[str, list[str]]
    enums: dict[str, list[str]]
    constants: set[str]
    required: list[str]
    optional: list[str]


def our_declarations():
    text = re.sub(r"//.*", "", "\n".join(path.read_text() for path in OURS))
    structs = {}
    for name, body in re.findall(r"^struct (\w+) \{(.*?)^\};", text, re.DOTALL | re.MULTILINE):
        fields = [
            re.sub(r"\[\d+\]", "", part).split()[-1].lstrip("*") for line in body.split(";") for part in line.split(",") if part.strip()
        ]
        structs[name] = fields
    del structs["Functions"], structs["SubscriberFunctions"], structs["PmFunctions"]
    enums = {}
    for name, base, body in re.findall(r"^enum (\w*) ?: ([\w:]+) \{(.*?)\};", text, re.DOTALL | re.MULTILINE):
        enums[name or base] = re.findall(r"\b(k\w+)", body)
    constants = set(re.findall(r"inline constexpr [\w:]+ (k\w+)", text))
    required, optional = (re.findall(rf"\b(?:{kind})\((cupti\w+)", text) for kind in ("REQUIRED", "OPTIONAL|FUNCTION"))
    return Declarations(structs, enums, constants, required, optional)


def vendor_name(enum, enumerator):
    """kStart of KernelField -> KERNEL_FIELD_START, and what ENUMS says of the others."""
    kind = enum.removesuffix("Field")
    if kind in FIELD_PREFIXES:
        return f"{FIELD_PREFIXES[kind]}_FIELD_{upper_case('k' + enumerator.removeprefix('k' + kind))}"
    prefix, exceptions = ENUMS[enum]
    return exceptions.get(enumerator, prefix + upper_case(enumerator))


def camel_case(name):
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def upper_case(enumerator):
    """kGraphCreated -> GRAPH_CREATED"""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", enumerator[1:]).upper()


def highest(headers, pattern):
    """CUpti_ActivityKernel# -> the latest of those that are declared."""
    if "#" not in pattern:
        return pattern
    numbers = re.findall(rf"\}} {pattern.replace('#', '')}(\d*);", headers)
    assert numbers, f"the headers have no {pattern}"
    return pattern.replace("#", max(numbers, key=lambda number: int(number or 1)))


def comparisons(ours, headers):
    """The lines of a program that compares every declaration; `headers` is the text of the vendor's."""
    has = set(re.findall(r"\w+", headers)).__contains__
    for struct, fields in ours.structs.items():
        theirs = highest(headers, STRUCTS[struct])
        if not has(theirs) or not has(LAST_FIELDS.get(struct, theirs)):
            continue  # newer than these headers
        for field in fields:
            if field not in NOT_COMPARED:
                yield f"COMPARE_FIELD({struct}, {field}, {theirs}, {FIELDS.get(field, camel_case(field))});"
        yield f"COMPARE_SIZE({struct}, {theirs}, {'==' if struct in WHOLE_STRUCTS else '<='});"
    for enum, enumerators in ours.enums.items():
        for enumerator in enumerators:
            theirs = vendor_name(enum, enumerator)
            if has(theirs):
                yield f"COMPARE_VALUE({enumerator}, {theirs});"
    for constant, theirs in CONSTANTS.items():
        if has(theirs):
            yield f"COMPARE_VALUE({constant}, {theirs});"
    for function in [*ours.required, *ours.optional]:
        if has(function):
            yield f"COMPARE_FUNCTION({function});"


def compile_and_run(lines, include_folders, folder):
    source = folder / "check.cpp"
    body = "\n  ".join(lines)
    source.write_text(f'#include "{CHECK}"\n\nint main() {{\n  {body}\n  return 0;\n}}\n')
    folders = [f"-isystem{path}" for path in include_folders]
    program = folder / "check"
    subprocess.run(["c++", "-std=c++20", "-Wno-invalid-offsetof", f"-I{ROOT}", *folders, source, "-o", program], check=True)
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout


def vendor_headers(folders):
    return "\n".join(path.read_text(errors="replace") for folder in folders for path in sorted(folder.glob("cupti*.h")))


def test_every_declaration_has_a_counterpart_to_be_compared_with():
    ours = our_declarations()
    assert set(ours.structs) == set(STRUCTS)
    assert set(ours.enums) == set(ENUMS)
    assert ours.constants == set(CONSTANTS) | OWN_CONSTANTS
    assert len(ours.required) > 10
    assert {"cuptiSubscribe_v2", "cuptiActivityEnable_v2"} <= set(ours.optional)
    assert {"start", "end", "grid_x", "grid_y", "block_z", "graph_node_id"} <= set(ours.structs["KernelRecord"])


@pytest.mark.torch
@pytest.mark.vendor
@pytest.mark.parametrize("release", RELEASES)
def test_declarations_are_those_of_the_vendor(release, vendor_folder, tmp_path):
    folders = download(RELEASES[release], vendor_folder)
    headers = vendor_headers(folders)
    ours = our_declarations()
    missing = [function for function in ours.required if function not in headers]
    assert missing == []
    lines = list(comparisons(ours, headers))
    assert len(lines) > 150
    assert compile_and_run(lines, folders, tmp_path) == ""


@pytest.mark.torch
@pytest.mark.vendor
def test_the_newest_headers_have_every_name_that_we_declare(vendor_folder):
    headers = vendor_headers(download(RELEASES["13.4"], vendor_folder))
    names = set(re.findall(r"\w+", headers))
    ours = our_declarations()
    vendor_names = {theirs for theirs in STRUCTS.values() if "#" not in theirs} | {*ours.required, *ours.optional}
    for enum, enumerators in ours.enums.items():
        vendor_names |= {vendor_name(enum, enumerator) for enumerator in enumerators}
    assert vendor_names - names == set()


@pytest.mark.torch
@pytest.mark.vendor
def test_a_wrong_declaration_is_found(vendor_folder, tmp_path):
    folders = download(RELEASES["13.0"], vendor_folder)
    wrong = ["COMPARE_FIELD(KernelRecord, start, CUpti_ActivityKernel10, end);", "COMPARE_VALUE(kMemcpy, CUPTI_ACTIVITY_KIND_MEMSET);"]
    assert len(compile_and_run(wrong, folders, tmp_path).splitlines()) == 2
