// SPDX-License-Identifier: Apache-2.0
// The choices of threads of a workspace: one for each plan, limit and sizes.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/instruction_set.hpp>
#include <crochet/executor/cpu/thread_choice.hpp>
#include <crochet/graph/core/shape.hpp>

namespace crochet::cpu::CROCHET_ISA {

/// The address identifies a plan.
template <class P>
inline constexpr char plan_key = 0;

class ThreadChoices {
 public:
  ThreadChoices() = default;
  ThreadChoices(ThreadChoices&& from) noexcept
      : known_(std::move(from.known_)), last_(std::exchange(from.last_, nullptr)), oldest_(from.oldest_) {}
  ThreadChoices& operator=(ThreadChoices&& from) noexcept {
    known_ = std::move(from.known_);
    last_ = std::exchange(from.last_, nullptr);
    oldest_ = from.oldest_;
    return *this;
  }

  /// The choice for a plan and its dimensions, of at most `limit` threads. A new one begins with the number of threads
  /// that the plan's last sizes have with this limit, else with `limit`. The last 16 are kept. (The limit differs if
  /// executors with teams of different sizes use the workspace.)
  ThreadChoice& find(const char* plan, const Dims& dims, int limit) {
    if (last_ == nullptr || !is(*last_, plan, dims, limit)) [[unlikely]]
      last_ = &search(plan, dims, limit);
    return last_->choice;
  }

  /// The number of threads that runs of the plan have which are no tries; `limit` if there was none.
  CROCHET_COLD int chosen(const char* plan, const Dims& dims, int limit) const {
    for (const Entry& e : known_) {
      if (is(e, plan, dims, limit)) return e.choice.chosen();
    }
    return limit;
  }

 private:
  static constexpr std::size_t most = 16;
  struct Entry {
    const char* plan;
    int limit;
    Dims dims;
    ThreadChoice choice;
  };

  static bool is(const Entry& e, const char* plan, const Dims& dims, int limit) {
    return e.plan == plan && e.limit == limit && e.dims == dims;
  }

  [[gnu::noinline]] Entry& search(const char* plan, const Dims& dims, int limit) {
    const Entry* other = nullptr;
    for (Entry& e : known_) {
      if (is(e, plan, dims, limit)) return e;
      if (e.plan == plan && e.limit == limit) other = &e;
    }
    // Sizes that occur a few times only are not worth the tries.
    constexpr int runs_of_rare_sizes = 8;
    return add({plan, limit, dims,
                other == nullptr ? ThreadChoice(limit, limit)
                                 : ThreadChoice(limit, other->choice.chosen(), runs_of_rare_sizes)});
  }
  Entry& add(const Entry& entry) {
    known_.reserve(most);  // so that later sizes allocate nothing, and entries stay where they are
    if (known_.size() < most) return known_.emplace_back(entry);
    Entry& oldest = known_[oldest_++ % most];
    oldest = entry;
    return oldest;
  }

  std::vector<Entry> known_;
  Entry* last_ = nullptr;
  std::size_t oldest_ = 0;
};

}  // namespace crochet::cpu::CROCHET_ISA
