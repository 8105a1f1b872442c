// SPDX-License-Identifier: Apache-2.0
// The choices of threads of a workspace: one for each plan and sizes.
#pragma once
#include <cstddef>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/executor/cpu/thread_choice.hpp>
#include <crochet/graph/core/shape.hpp>

namespace crochet::cpu {

/// The address identifies a plan.
template <class P>
inline constexpr char plan_key = 0;

class ThreadChoices {
 public:
  /// The choice for a plan and its dimensions. A new one begins with the number of threads that the plan's last sizes
  /// have, else with `limit`. The last 16 are kept.
  ThreadChoice& find(const char* plan, const Dims& dims, int limit) {
    if (last_ < known_.size() && is(known_[last_], plan, dims)) [[likely]]
      return known_[last_].choice;
    return search(plan, dims, limit);
  }

 private:
  static constexpr std::size_t most = 16;
  struct Entry {
    const char* plan;
    Dims dims;
    ThreadChoice choice;
  };

  static bool is(const Entry& e, const char* plan, const Dims& dims) { return e.plan == plan && e.dims == dims; }

  [[gnu::noinline]] ThreadChoice& search(const char* plan, const Dims& dims, int limit) {
    const Entry* other = nullptr;
    for (std::size_t k = 0; k < known_.size(); ++k) {
      if (is(known_[k], plan, dims)) return known_[last_ = k].choice;
      if (known_[k].plan == plan) other = &known_[k];
    }
    // Sizes that occur a few times only are not worth the tries.
    constexpr int runs_of_rare_sizes = 8;
    const Entry entry{plan, dims,
                      other == nullptr ? ThreadChoice(limit, limit)
                                       : ThreadChoice(limit, other->choice.chosen(), runs_of_rare_sizes)};
    if (known_.capacity() == 0) known_.reserve(most);  // so that later sizes allocate nothing
    if (known_.size() < most) {
      known_.push_back(entry);
      last_ = known_.size() - 1;
    } else {
      last_ = oldest_++ % most;
      known_[last_] = entry;
    }
    return known_[last_].choice;
  }

  std::vector<Entry> known_;
  std::size_t last_ = 0, oldest_ = 0;
};

}  // namespace crochet::cpu
