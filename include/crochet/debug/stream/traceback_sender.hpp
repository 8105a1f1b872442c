// SPDX-License-Identifier: Apache-2.0
// TracebackSender: sends the location of the run call, and source files, to debug servers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <crochet/debug/probe/debug_run.hpp>
#include <crochet/debug/probe/source_line.hpp>
#include <crochet/debug/stream/event_stream.hpp>

namespace crochet::debug {

/// Sends each server a traceback of the run and the source files before the first run, when a graph has more nodes than
/// the last one, and after a failure of the server. `here`: the line that constructs the hook; its file is sent, too.
class TracebackSender {
 public:
  TracebackSender(const SourceLine& here, const std::vector<std::filesystem::path>& more);

  /// Called on the thread that runs the session, before the run is passed to `stream`.
  void operator()(const DebugRun& run, EventStream& stream);

 private:
  struct Sent {
    std::uint64_t combination = 0, failures = 0;
    std::size_t nodes = 0;
  };

  SourceLine here_;
  std::vector<std::filesystem::path> sources_;
  std::map<std::string, Sent> sent_;  // by the server's address
};

}  // namespace crochet::debug

#ifdef CROCHET_HEADER_ONLY
#include <crochet/debug/stream/traceback_sender.ipp>
#endif
