// SPDX-License-Identifier: Apache-2.0
// Gates: the gated watches that a debug server has switched on.
#pragma once

#include <crochet/proto/debug.pb.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace crochet::debug {

/// The last state that a server has set for a watch key `<node>:<slot>:<op>`.
enum class Gate : std::uint8_t {
  closed,      ///< a gated operation is not published; the initial state
  read_only,   ///< published
  read_write,  ///< published, and the server replies to each tensor: a breakpoint. Also for ungated operations
};

/// The state of each watch key of one address. Any thread.
class Gates {
 public:
  static constexpr std::size_t max_keys = 65'536;       ///< keys of an address
  static constexpr std::size_t max_key_length = 4'096;  ///< bytes of one key
  static constexpr std::size_t max_bytes = std::size_t{16}
                                           << 20;  ///< bytes of all keys; changes beyond a limit are refused

  [[nodiscard]] Gate of(std::string_view key) const {
    const std::lock_guard lock(mutex_);
    const auto found = states_.find(key);
    return found == states_.end() ? Gate::closed : found->second;
  }

  static std::string key_of(const proto::EventReply::DebugOpStateChange& change) {
    return change.node_name() + ":" + std::to_string(change.output_slot()) + ":" + change.debug_op();
  }
  /// The keys that are breakpoints.
  [[nodiscard]] std::set<std::string, std::less<>> breakpoints() const {
    const std::lock_guard lock(mutex_);
    std::set<std::string, std::less<>> keys;
    for (const auto& [key, state] : states_) {
      if (state == Gate::read_write) keys.insert(keys.end(), key);
    }
    return keys;
  }

  /// Applies the changes of a reply. The device is not part of a key: a change applies on all devices. Unknown states
  /// are ignored, as in TensorFlow. Returns the number of refused changes.
  std::size_t apply(const proto::EventReply& reply) {
    using Change = proto::EventReply::DebugOpStateChange;
    std::size_t refused = 0;
    for (const Change& change : reply.debug_op_state_changes()) {
      std::string key = key_of(change);
      if (change.state() == Change::DISABLED) {
        close(key);
      } else if (change.state() == Change::READ_ONLY || change.state() == Change::READ_WRITE) {
        refused +=
            open(std::move(key), change.state() == Change::READ_WRITE ? Gate::read_write : Gate::read_only) ? 0 : 1;
      }
    }
    return refused;
  }

  /// No reply is expected to tensors of this key any more, which are published.
  void end_breakpoint(std::string_view key) {
    const std::lock_guard lock(mutex_);
    const auto found = states_.find(key);
    if (found != states_.end() && found->second == Gate::read_write) found->second = Gate::read_only;
  }

  /// Resets to the state at process start.
  void clear() {
    const std::lock_guard lock(mutex_);
    states_.clear();
    bytes_ = 0;
  }

 private:
  void close(std::string_view key) {
    const std::lock_guard lock(mutex_);
    const auto found = states_.find(key);
    if (found == states_.end()) return;
    bytes_ -= key.size();
    states_.erase(found);
  }
  bool open(std::string key, Gate state) {
    const std::lock_guard lock(mutex_);
    if (const auto found = states_.find(key); found != states_.end()) {
      found->second = state;
      return true;
    }
    if (key.size() > max_key_length || states_.size() >= max_keys || key.size() > max_bytes - bytes_) return false;
    bytes_ += key.size();
    states_.emplace(std::move(key), state);
    return true;
  }

  mutable std::mutex mutex_;
  std::map<std::string, Gate, std::less<>> states_;
  std::size_t bytes_ = 0;  // total size of the keys
};

/// The gates of an address in this process. They outlive runs, streams and hooks. `url` is the whole address, with its
/// path if there is one, both for changes and for lookups. (TensorFlow stores changes without the path and looks them
/// up with it, so that gates never open at an address with a path.) Any thread.
inline std::shared_ptr<Gates> gates_of(const std::string& url) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<Gates>> all;
  const std::lock_guard lock(mutex);
  std::shared_ptr<Gates>& gates = all[url];
  if (!gates) gates = std::make_shared<Gates>();
  return gates;
}

}  // namespace crochet::debug
