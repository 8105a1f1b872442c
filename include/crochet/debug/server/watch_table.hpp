// SPDX-License-Identifier: Apache-2.0
// WatchTable: which gated watches a debug server wants to have open, and what each client has yet to be told of it.
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

/// What a server wants of a watch key. The values are those of `EventReply.DebugOpStateChange.State`.
enum class WatchState { off = 1, on = 2, breakpoint = 3 };

/// Clients remember the states over runs, but a server cannot know which client it talks to, nor whether that was
/// started anew. So the first reply on each stream says all that is on, which does no harm when it is said again, and
/// what was switched off is said once, and once more when a tensor shows that a client has not heard it. (The
/// original's servicer says each change once, to whichever stream is answered next.) For several threads.
class WatchTable {
 public:
  using Version = std::uint64_t;

  explicit WatchTable(std::size_t most = 4'096) : most_(most) {}

  /// Throws ResourceExhaustedError if there are too many keys already.
  void set(const WatchKey& key, WatchState state) {
    const std::lock_guard lock(mutex_);
    if (!entries_.contains(key) && entries_.size() >= most_) make_room();
    Entry& entry = entries_[key];
    entry.state = state;
    entry.version = ++version_;
    entry.said_off = 0;
    entry.told = false;
    entry.was_breakpoint = entry.was_breakpoint || state == WatchState::breakpoint;
  }

  /// The next reply on a stream that has heard all up to `heard`, which is 0 at its beginning.
  proto::EventReply reply(Version& heard) {
    const std::lock_guard lock(mutex_);
    proto::EventReply reply;
    for (auto& [key, entry] : entries_) {
      if (entry.version <= heard || (entry.state == WatchState::off && std::exchange(entry.told, true))) continue;
      auto& change = *reply.add_debug_op_state_changes();
      change.set_state(static_cast<proto::EventReply::DebugOpStateChange::State>(entry.state));
      change.set_node_name(key.node);
      change.set_output_slot(key.slot);
      change.set_debug_op(key.debug_op);
    }
    heard = version_;
    return reply;
  }

  /// A tensor came. True if its sender may wait for a reply: the key is or was a breakpoint. A reply too many does no
  /// harm, one too few would stop the sender for good.
  bool tensor_came(const WatchKey& key) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end()) return false;
    Entry& entry = found->second;
    if (entry.state == WatchState::off && entry.told && entry.said_off < max_times_said_off) {
      entry.told = false;
      entry.version = ++version_;
      ++entry.said_off;
    }
    return entry.was_breakpoint;
  }

  [[nodiscard]] bool is_breakpoint(const WatchKey& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    return found != entries_.end() && found->second.state == WatchState::breakpoint;
  }
  /// All that is on, in the order of the keys.
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
    int said_off =
        0;  // once more after a tensor came; an op that is not gated never stops, and need not be told for ever
    bool told = false;
    bool was_breakpoint = false;
  };
  static constexpr int max_times_said_off = 3;

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
