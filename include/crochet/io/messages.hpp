// SPDX-License-Identifier: Apache-2.0
// The names of the generated messages that functions take or return. What they are is in <crochet/proto/*.pb.h>, which
// a program includes where it makes messages itself.
#pragma once

namespace crochet::proto {
class Event;
class GraphDef;
class MetaGraphDef;
class RunMetadata;
class StepStats;
class Summary;
enum SessionLog_SessionStatus : int;
}  // namespace crochet::proto

namespace crochet::proto::perfetto {
class DebugAnnotation;
class InternedData;
class TracePacket;
class TrackDescriptor;
class TrackEvent;
}  // namespace crochet::proto::perfetto
