// SPDX-License-Identifier: Apache-2.0
// What a debug server receives about the program: the call stack of session.run, and source files.
#pragma once

#include <crochet/proto/debug.pb.h>
#include <crochet/proto/graph.pb.h>

#include <cxxabi.h>
#include <execinfo.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <crochet/base/utf8.hpp>
#include <crochet/debug/probe/debug_run.hpp>
#include <crochet/debug/probe/source_line.hpp>

namespace crochet::debug {

namespace detail {

/// Assigns numbers to texts, in a table of the message; the empty text has 0.
class TextIds {
 public:
  explicit TextIds(google::protobuf::Map<std::int64_t, std::string>& table) : table_(table) { id(""); }
  std::int64_t id(const std::string& text) {
    const auto [found, added] = ids_.try_emplace(text, static_cast<std::int64_t>(ids_.size()));
    if (added) table_[found->second] = text;
    return found->second;
  }

 private:
  google::protobuf::Map<std::int64_t, std::string>& table_;
  std::map<std::string, std::int64_t> ids_;
};

/// Splits `program(mangled+0x1f) [0x55..]`, the C library's description of a frame, into the file and the demangled
/// function.
inline std::pair<std::string, std::string> file_and_function(const std::string& frame) {
  const std::size_t open = frame.find('('), plus = frame.find('+', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || plus == std::string::npos) return {frame, ""};
  const std::string mangled = frame.substr(open + 1, plus - open - 1);
  int status = 1;
  char* const readable = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  std::pair<std::string, std::string> parts{frame.substr(0, open), status == 0 ? readable : mangled};
  std::free(readable);  // NOLINT(cppcoreguidelines-no-malloc): made by __cxa_demangle
  return parts;
}

}  // namespace detail

/// Adds the caller's stack, outermost call first. Each frame has its file, and its function if the symbol is exported
/// (-rdynamic exports more), but no line number. The last entry is `made`, the source line that constructed the hook.
inline void add_stack(proto::CallTraceback& traceback, const SourceLine& made) {
  detail::TextIds texts(*traceback.mutable_origin_id_to_string());
  const auto add = [&](const std::string& file, const std::string& function, int line) {
    proto::tfprof::CodeDef::Trace& trace = *traceback.mutable_origin_stack()->add_traces();
    trace.set_file_id(texts.id(file));
    trace.set_function_id(texts.id(function));
    trace.set_lineno(line);
  };
  std::array<void*, 128> frames{};
  const int depth = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  char** const symbols = ::backtrace_symbols(frames.data(), depth);
  for (int i = symbols == nullptr ? 0 : depth; i-- > 1;) {
    const auto [file, function] = detail::file_and_function(symbols[i]);
    add(file, function, 0);
  }
  std::free(symbols);  // NOLINT(cppcoreguidelines-no-malloc): made by backtrace_symbols
  add(made.file.string(), made.function, made.line);
}

/// The traceback of a run: its call stack and the nodes of its graph. The nodes have no stacks, because the compiler
/// builds the graph. Call it on the thread that runs the session.
inline proto::CallTraceback call_traceback(const DebugRun& run, const std::vector<std::string>& nodes,
                                           const SourceLine& made) {
  proto::CallTraceback traceback;
  traceback.set_call_type(proto::CallTraceback::GRAPH_EXECUTION);
  const auto list = [](const std::vector<std::string>& names) {
    return names.empty() ? nlohmann::json{"None"} : nlohmann::json(names);
  };
  // The list with the spaces of Python's repr.
  const auto text = [](const nlohmann::json& names) {
    std::string line = "[";
    for (const auto& name : names) {
      line += (line.size() > 1 ? ", " : "") + name.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    }
    return line + "]";
  };
  traceback.set_call_key("[" + text(list(run.caller_feeds)) + ", " + text(list(run.caller_fetches)) + "]");
  add_stack(traceback, made);
  (*traceback.mutable_graph_traceback()->mutable_id_to_string())[0] = "none";
  for (const std::string& node : nodes) traceback.mutable_graph_traceback()->add_log_entries()->set_name(node);
  traceback.set_graph_version(static_cast<std::int64_t>(nodes.size()));
  return traceback;
}

/// The nodes of a run's graph, without the inserted debug nodes.
inline std::vector<std::string> graph_nodes(const DebugRun& run) {
  proto::GraphDef graph;
  std::vector<std::string> names;
  if (run.graph == nullptr || !graph.ParseFromString(*run.graph->serialized())) return names;
  for (const proto::NodeDef& node : graph.node()) {
    if (!node.name().starts_with("__copy_") && !node.name().starts_with("__dbg_")) names.push_back(node.name());
  }
  return names;
}

/// A source file as a message for servers. A file that is unreadable or larger than 4,000,000 bytes has no lines.
inline proto::DebuggedSourceFiles source_file(const std::filesystem::path& path) {
  constexpr std::uintmax_t max_bytes = 4'000'000;
  proto::DebuggedSourceFiles message;
  proto::DebuggedSourceFile& file = *message.add_source_files();
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  file.set_host(host.data());
  file.set_file_path(crochet::detail::valid_utf8(path.string()));
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) return message;
  file.set_bytes(static_cast<std::int64_t>(bytes));
  const auto time = std::filesystem::last_write_time(path, error);
  const auto since_1970 = std::chrono::file_clock::to_sys(time).time_since_epoch();
  file.set_last_modified(std::chrono::duration_cast<std::chrono::nanoseconds>(since_1970).count());
  if (bytes > max_bytes) return message;
  std::ifstream in(path, std::ios::binary);
  for (std::string line; std::getline(in, line);) {
    if (line.ends_with('\r')) line.pop_back();
    file.add_lines(crochet::detail::valid_utf8(line));
  }
  return message;
}

}  // namespace crochet::debug
