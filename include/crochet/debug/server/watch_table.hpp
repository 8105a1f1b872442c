// SPDX-License-Identifier: Apache-2.0
// WatchTable: the gated watches of a debug server, and the changes not yet sent to each client.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <crochet/proto/debug.pb.h>

#include <crochet/base/error.hpp>
#include <crochet/debug/watch/watch_key.hpp>

namespace crochet::debug {

/// The state of a watch key on the server. The values are those of `EventReply.DebugOpStateChange.State`.
enum class WatchState { off = 1, on = 2, breakpoint = 3 };

/// The states of all watch keys. Clients keep states across runs, but a server cannot identify a client or detect its
/// restart. Therefore the first reply on each stream contains all keys, those that are off as well, which is
/// idempotent. (TensorFlow's servicer sends each change once, on whichever stream is next.) Thread-safe.
class WatchTable {
 public:
  using Version = std::uint64_t;

  explicit WatchTable(std::size_t most = 4'096) : most_(most) {}

  /// Sets the state of a key. Throws ResourceExhaustedError if there are too many keys.
  void set(const WatchKey& key, WatchState state) {
    const std::lock_guard lock(mutex_);
    if (!entries_.contains(key) && entries_.size() >= most_) make_room();
    Entry& entry = entries_[key];
    entry.state = state;
    entry.version = ++version_;
    entry.told = false;
    entry.was_breakpoint = entry.was_breakpoint || state == WatchState::breakpoint;
  }

  /// The next reply on a stream that has received all changes up to version `heard`; 0 at its beginning: all keys.
  proto::EventReply reply(Version& heard) {
    const std::lock_guard lock(mutex_);
    proto::EventReply reply;
    for (auto& [key, entry] : entries_) {
      if (entry.version <= heard) continue;
      entry.told = true;
      auto& change = *reply.add_debug_op_state_changes();
      change.set_state(static_cast<proto::EventReply::DebugOpStateChange::State>(entry.state));
      change.set_node_name(key.node);
      change.set_output_slot(key.slot);
      change.set_debug_op(key.debug_op);
    }
    heard = version_;
    return reply;
  }

  /// Whether the sender of a received tensor may wait for a reply: the key is or was a breakpoint. An additional reply
  /// is harmless; a missing one would block the sender forever.
  [[nodiscard]] bool tensor_came(const WatchKey& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    return found != entries_.end() && found->second.was_breakpoint;
  }

  [[nodiscard]] bool is_breakpoint(const WatchKey& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    return found != entries_.end() && found->second.state == WatchState::breakpoint;
  }
  /// All enabled watches, in the order of the keys.
  [[nodiscard]] std::vector<std::pair<WatchKey, WatchState>> list() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::pair<WatchKey, WatchState>> watches;
    for (const auto& [key, entry] : entries_) {
      if (entry.state != WatchState::off) watches.emplace_back(key, entry.state);
    }
    return watches;
  }

 private:
  struct Entry {
    WatchState state = WatchState::off;
    Version version = 0;
    bool told = false;  // in a reply
    bool was_breakpoint = false;
  };

  void make_room() {
    for (auto at = entries_.begin(); at != entries_.end(); ++at) {
      if (at->second.state != WatchState::off || !at->second.told) continue;
      entries_.erase(at);
      return;
    }
    throw ResourceExhaustedError("crochet: a debug server watches at most " + std::to_string(most_) +
                                 " keys; unwatch some, or raise the limit");
  }

  const std::size_t most_;
  mutable std::mutex mutex_;
  std::map<WatchKey, Entry> entries_;
  Version version_ = 0;
};

}  // namespace crochet::debug
