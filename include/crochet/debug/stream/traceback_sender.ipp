// SPDX-License-Identifier: Apache-2.0
// The compiled half of traceback_sender.hpp.
#pragma once

#include <crochet/debug/stream/traceback_sender.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/debug/probe/source_path.hpp>
#include <crochet/debug/stream/tracebacks.hpp>

namespace crochet::debug {

CROCHET_INLINE TracebackSender::TracebackSender(const SourceLine& here, const std::vector<std::filesystem::path>& more)
    : here_{source_path(here.file), here.function, here.line}, sources_{here_.file} {
  for (const std::filesystem::path& path : more) sources_.push_back(source_path(path));
}

CROCHET_INLINE void TracebackSender::operator()(const DebugRun& run, EventStream& stream) {
  Sent& sent = sent_[stream.address().url()];
  const std::uint64_t failures = stream.statistics().failures;
  const bool again = failures != sent.failures;
  if (run.combination == sent.combination && !again) return;
  const std::vector<std::string> nodes = graph_nodes(run);
  const bool news = again || nodes.size() > sent.nodes;
  sent = {run.combination, failures, nodes.size()};
  if (!news) return;
  stream.tell(call_traceback(run, nodes, here_));
  for (const std::filesystem::path& path : sources_) stream.tell(source_file(path));
}

}  // namespace crochet::debug
