// SPDX-License-Identifier: Apache-2.0
// Declares the generated messages that functions take or return. The definitions are in <crochet/proto/*.pb.h>, which
// only programs that build messages include.
#pragma once

namespace crochet::proto {
class CallTraceback;
class DebuggedSourceFiles;
class Event;
class GraphDef;
class MetaGraphDef;
class RunMetadata;
class StepStats;
class Summary;  // NOLINT(bugprone-forward-declaration-namespace): io::Summary is another class
enum SessionLog_SessionStatus : int;
}  // namespace crochet::proto

namespace crochet::proto::perfetto {
class DebugAnnotation;
class InternedData;
class TracePacket;
class TrackDescriptor;
class TrackEvent;
}  // namespace crochet::proto::perfetto
