// SPDX-License-Identifier: Apache-2.0
// Parses the names in a dump of TensorFlow's debugger: runs, devices and tensors. See docs/debugging.md.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include <crochet/base/error.hpp>

namespace crochet::debug {

inline constexpr std::string_view core_metadata_prefix = "_tfdbg_core_metadata_";
inline constexpr std::string_view fetches_prefix = "_tfdbg_fetches_info_";
inline constexpr std::string_view feeds_prefix = "_tfdbg_feed_keys_info_";
inline constexpr std::string_view device_prefix = "_tfdbg_device_";
inline constexpr std::string_view graph_prefix = "_tfdbg_graph_";
/// A text file in a run's directory with the reason why the run is incomplete. An extension that TensorFlow ignores.
inline constexpr std::string_view incomplete_mark = ".incomplete";

namespace detail {
/// Parses `text` as a decimal number of type T, without sign or blanks. Returns false for any other text.
template <class T>
bool read_decimal(std::string_view text, T& to) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return error == std::errc{} && end == text.data() + text.size();
}

/// Splits `text` at the last underscore; false without one.
inline bool take_last_part(std::string_view& text, std::string_view& part) {
  const std::size_t at = text.rfind('_');
  if (at == std::string_view::npos) return false;
  part = text.substr(at + 1);
  text = text.substr(0, at);
  return true;
}
}  // namespace detail

/// The parts of a tensor's file name: `<node>_<slot>_<op>_<time>`, with `-<firing>` appended if that name was already
/// in use.
struct DumpName {
  std::string node{};
  std::int32_t slot = 0;
  std::string op{};
  std::uint64_t time = 0;         // microseconds since 1970, UTC
  std::uint32_t debug_event = 0;  // 0 for the first firing in that microsecond
};

/// Parses the path of a tensor's file relative to its device directory, with '/' between folders. Node names may
/// contain underscores and slashes, debug operations may not. Throws DataLossError with the error in the name.
inline DumpName parse_dump_name(std::string_view path) {
  DumpName name;
  std::string_view node = path, slot, op, time;
  if (!detail::take_last_part(node, time) || !detail::take_last_part(node, op) || !detail::take_last_part(node, slot) ||
      op.find('/') != op.npos || slot.find('/') != slot.npos || time.find('/') != time.npos) {
    throw DataLossError("its name is not <node>_<slot>_<debug op>_<time>");
  }
  if (!detail::read_decimal(slot, name.slot)) throw DataLossError("its name has no output slot before the debug op");
  if (op.empty()) throw DataLossError("its name has no debug op");
  const std::size_t dash = time.find('-');
  if (!detail::read_decimal(time.substr(0, dash), name.time) ||
      (dash != time.npos && !detail::read_decimal(time.substr(dash + 1), name.debug_event))) {
    throw DataLossError("its name ends in no time stamp");
  }
  if (node.empty() || node.back() == '/') throw DataLossError("its name has no node");
  name.node = node;
  name.op = op;
  return name;
}

/// The device of a directory `_tfdbg_device_,job_localhost,...`: "/job:localhost/...". As in TensorFlow, a device type
/// with an underscore is not restored correctly.
inline std::string device_of_directory(std::string_view directory) {
  directory.remove_prefix(device_prefix.size());
  std::string device;
  for (bool more = true; more;) {
    const std::size_t comma = directory.find(',');
    std::string item{directory.substr(0, comma)};
    constexpr std::string_view kind = "device_";
    for (std::size_t at = 0; (at = item.find(kind, at)) != std::string::npos; at += kind.size()) {
      item[at + kind.size() - 1] = ':';
    }
    if (const std::size_t first = item.find('_'); first != std::string::npos) item[first] = ':';
    device += item;
    more = comma != directory.npos;
    if (more) device += '/', directory.remove_prefix(comma + 1);
  }
  return device;
}

/// The time and number of a run in its session: `run_<time>_<number>`.
struct RunName {
  std::uint64_t time = 0;    // microseconds since 1970, UTC
  std::uint64_t number = 0;  // number of the run in its hook, from 0
};

/// Parses the name of a run directory; false for any other name.
inline bool parse_run_name(std::string_view name, RunName& run) {
  constexpr std::string_view prefix = "run_";
  if (!name.starts_with(prefix)) return false;
  name.remove_prefix(prefix.size());
  const std::size_t at = name.find('_');
  return at != name.npos && detail::read_decimal(name.substr(0, at), run.time) &&
         detail::read_decimal(name.substr(at + 1), run.number);
}

}  // namespace crochet::debug
