// Field numbers of the Perfetto trace messages that are written (protos/perfetto/trace in Perfetto's sources).
#pragma once

#include <cstdint>

namespace mindtorch::exporter::perfetto {

using Field = std::uint32_t;

namespace trace_file {
inline constexpr Field kPacket = 1;
}

namespace trace_packet {
inline constexpr Field kClockSnapshot = 6;
inline constexpr Field kTimestamp = 8;
inline constexpr Field kSequenceId = 10;
inline constexpr Field kTrackEvent = 11;
inline constexpr Field kInternedData = 12;
inline constexpr Field kSequenceFlags = 13;
inline constexpr Field kTimestampClockId = 58;
inline constexpr Field kDefaults = 59;
inline constexpr Field kTrackDescriptor = 60;
inline constexpr Field kPerfSample = 66;
inline constexpr std::uint32_t kStateCleared = 1;
inline constexpr std::uint32_t kNeedsState = 2;
}  // namespace trace_packet

namespace packet_defaults {
inline constexpr Field kTrackEventDefaults = 11;
inline constexpr Field kTimestampClockId = 58;
}  // namespace packet_defaults

namespace clock_snapshot {
inline constexpr Field kClocks = 1;
inline constexpr Field kClockId = 1;
inline constexpr Field kTimestamp = 2;
inline constexpr Field kIsIncremental = 3;
inline constexpr std::uint32_t kRealtime = 1;
inline constexpr std::uint32_t kBoottime = 6;
inline constexpr std::uint32_t kSequenceClock = 64;  // ours, of one sequence
}  // namespace clock_snapshot

namespace track_event {
inline constexpr Field kCategoryIds = 3;
inline constexpr Field kDebugAnnotations = 4;
inline constexpr Field kType = 9;
inline constexpr Field kNameId = 10;
inline constexpr Field kTrackUuid = 11;
inline constexpr Field kName = 23;
inline constexpr Field kCounterValue = 30;
inline constexpr Field kDoubleCounterValue = 44;
inline constexpr Field kFlowIds = 47;             // fixed64
inline constexpr Field kTerminatingFlowIds = 48;  // fixed64
inline constexpr std::uint32_t kSliceBegin = 1;
inline constexpr std::uint32_t kSliceEnd = 2;
inline constexpr std::uint32_t kInstant = 3;
inline constexpr std::uint32_t kCounter = 4;
}  // namespace track_event

namespace interned_data {
inline constexpr Field kCategories = 1;
inline constexpr Field kEventNames = 2;
inline constexpr Field kAnnotationNames = 3;
inline constexpr Field kFunctionNames = 5;
inline constexpr Field kFrames = 6;
inline constexpr Field kCallstacks = 7;
inline constexpr Field kMappingPaths = 17;
inline constexpr Field kSourcePaths = 18;
inline constexpr Field kMappings = 19;
inline constexpr Field kAnnotationStrings = 29;
inline constexpr Field kId = 1;
inline constexpr Field kText = 2;
}  // namespace interned_data

namespace frame_fields {
inline constexpr Field kFunctionId = 2;
inline constexpr Field kMappingId = 3;
inline constexpr Field kSourcePathId = 5;
inline constexpr Field kLine = 6;
}  // namespace frame_fields

namespace callstack_fields {
inline constexpr Field kFrameIds = 2;
}  // namespace callstack_fields

namespace mapping_fields {
inline constexpr Field kPathIds = 7;
}  // namespace mapping_fields

namespace perf_sample {
inline constexpr Field kCpu = 1;
inline constexpr Field kPid = 2;
inline constexpr Field kTid = 3;
inline constexpr Field kCallstackId = 4;
inline constexpr Field kCpuMode = 5;
inline constexpr std::uint32_t kUserMode = 2;
}  // namespace perf_sample

namespace debug_annotation {
inline constexpr Field kNameId = 1;
inline constexpr Field kBool = 2;
inline constexpr Field kInt = 4;
inline constexpr Field kDouble = 5;
inline constexpr Field kString = 6;
inline constexpr Field kName = 10;
inline constexpr Field kStringId = 17;
}  // namespace debug_annotation

namespace track_descriptor {
inline constexpr Field kUuid = 1;
inline constexpr Field kName = 2;
inline constexpr Field kProcess = 3;
inline constexpr Field kThread = 4;
inline constexpr Field kParentUuid = 5;
inline constexpr Field kCounter = 8;
inline constexpr Field kChildOrdering = 11;
inline constexpr Field kSiblingOrderRank = 12;
inline constexpr Field kSiblingMergeBehavior = 15;
inline constexpr Field kProcessPid = 1;
inline constexpr Field kProcessName = 6;
inline constexpr Field kThreadPid = 1;
inline constexpr Field kThreadTid = 2;
inline constexpr Field kThreadName = 5;
inline constexpr Field kCounterUnit = 3;
inline constexpr Field kCounterUnitName = 6;
inline constexpr std::uint32_t kUnitBytes = 3;
inline constexpr std::uint32_t kExplicitOrder = 3;
inline constexpr std::uint32_t kNeverMerge = 2;
}  // namespace track_descriptor

}  // namespace mindtorch::exporter::perfetto
