// SPDX-License-Identifier: Apache-2.0
// WatchTable: the gated watches of a debug server, and the changes not yet sent to each client.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
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

  /// The states that the replies on one stream have sent. Not thread-safe.
  class SentStates {
   public:
    /// Whether the sender waits for a reply to a tensor of this key: the last state sent for the key is breakpoint. A
    /// reply that it does not wait for would be taken for that of a later tensor; a missing one would block it.
    [[nodiscard]] bool waits_at(const WatchKey& key) const { return breakpoints_.contains(key); }

   private:
    friend class WatchTable;
    void set(const WatchKey& key, WatchState state) {
      if (state == WatchState::breakpoint) {
        breakpoints_.insert(key);
      } else {
        breakpoints_.erase(key);
      }
    }

    Version version_ = 0;  // of the last change
    std::set<WatchKey> breakpoints_;
  };

  explicit WatchTable(std::size_t most = 4'096) : most_(most) {}

  /// Sets the state of a key. Throws ResourceExhaustedError if there are too many keys.
  void set(const WatchKey& key, WatchState state) {
    const std::lock_guard lock(mutex_);
    if (!entries_.contains(key) && entries_.size() >= most_) make_room();
    Entry& entry = entries_[key];
    entry.state = state;
    entry.version = ++version_;
    entry.was_sent = false;
  }

  /// The next reply on a stream: the changes since the last reply on it; at its beginning, all keys.
  proto::EventReply reply(SentStates& sent) {
    const std::lock_guard lock(mutex_);
    proto::EventReply reply;
    for (auto& [key, entry] : entries_) {
      if (entry.version <= sent.version_) continue;
      entry.was_sent = true;
      sent.set(key, entry.state);
      auto& change = *reply.add_debug_op_state_changes();
      change.set_state(static_cast<proto::EventReply::DebugOpStateChange::State>(entry.state));
      change.set_node_name(key.node);
      change.set_output_slot(key.slot);
      change.set_debug_op(key.debug_op);
    }
    sent.version_ = version_;
    return reply;
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
    bool was_sent = false;  // in a reply
  };

  void make_room() {
    for (auto at = entries_.begin(); at != entries_.end(); ++at) {
      if (at->second.state != WatchState::off || !at->second.was_sent) continue;
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
