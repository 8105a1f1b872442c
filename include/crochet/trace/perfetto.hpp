// SPDX-License-Identifier: Apache-2.0
// Recorded runs as a native Perfetto trace, written packet by packet.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/io/messages.hpp>
#include <crochet/trace/run_trace.hpp>
#include <crochet/trace/wiring.hpp>

namespace crochet::trace {

namespace detail {

/// Texts that are written once to a file and referred to by numbers from then on.
class InternedTexts {
 public:
  /// The text's number, and whether it is new.
  std::pair<std::uint64_t, bool> number(std::string_view text);

 private:
  std::map<std::string, std::uint64_t, std::less<>> numbers_;
};

}  // namespace detail

/// Makes the bytes of a trace (proto/crochet/proto/perfetto.proto), run by run; append them to one file.
/// - A program may stop at any byte: every whole number of packets is a trace, and readers drop an incomplete last one.
/// - Tracks of the process: `runs`, with a slice per run; `hooks`, their phases; each thread of the executor's team,
///   with a slice for each part of a step. Such a slice has the node's name, the operation and figures_of() as
///   arguments, and a flow to the steps that read its result. A run on a GPU has these on the track `GPU:0 stream:all`,
///   and the launches on the thread's, in the category `launch`. Two counters: `workspace`, the bytes of the plan in
///   use at each step, and `variables`.
/// - Times are nanoseconds since 1970.
/// - Cost: about 1 us and 200 bytes per slice.
/// - Memory: the texts, which are names of nodes and hooks.
class PerfettoWriter {
 public:
  /// `name`: that of the process in the viewer, followed by its rank if there are several.
  explicit PerfettoWriter(std::string name = "crochet") : process_(std::move(name)) {}

  /// The packets of one run. Before the first run they include those that describe the tracks.
  [[nodiscard]] std::string packets(const RunTrace& run);

 private:
  using Packet = proto::perfetto::TracePacket;
  using Event = proto::perfetto::TrackEvent;
  using Track = proto::perfetto::TrackDescriptor;
  static constexpr int max_threads = 4096;  // of a rank, whose numbers are distinct in a file of several ranks
  enum : std::uint64_t { process = 1, runs, hooks, workspace, variables, device, first_member = 16 };

  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

  // ---- packets

  void append(Packet& packet);

  void begin(const RunTrace& run);
  void describe_member(int member);
  void describe_device(const RunTrace& run);
  Track* describe(Packet& packet, std::uint64_t track) const;

  /// A slice: a packet for its begin, which `fill` completes, and one for its end.
  template <class Fill>
  void slice(std::uint64_t track, std::int64_t begin, std::int64_t end, std::string_view name,
             std::string_view category, Fill fill);
  template <class Add>
  static std::uint64_t intern(detail::InternedTexts& texts, std::string_view text, Add add);
  proto::perfetto::DebugAnnotation& annotation(Event& event, std::string_view name);
  void annotate(Event& event, std::string_view name, double value);
  void annotate(Event& event, std::string_view name, std::string_view value);
  void count(std::uint64_t track, std::int64_t time, std::int64_t value);

  // ---- a run

  void write_steps(const RunTrace& run);
  void write_launches(const RunTrace& run);
  static std::vector<std::vector<std::size_t>> readers_of(const RunTrace& run, const Wiring& wiring);

  void write_memory(const RunTrace& run);

  const std::string process_;
  int pid_ = 1;              // of the process in the file: the ranks of one training differ
  std::uint64_t base_ = 0;   // of the tracks' numbers; 0: nothing is written yet
  std::uint64_t flows_ = 1;  // the next flow's number
  int members_ = 0;          // number of members whose tracks are described
  bool begun_ = false;
  bool has_device_ = false;  // its track is described
  detail::InternedTexts names_, categories_, arguments_;
  proto::perfetto::InternedData* new_texts_ = nullptr;  // of the current packet
  std::string bytes_;
};

}  // namespace crochet::trace

#ifdef CROCHET_HEADER_ONLY
#include <crochet/trace/perfetto.ipp>
#endif
