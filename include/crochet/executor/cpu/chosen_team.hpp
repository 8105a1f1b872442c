// SPDX-License-Identifier: Apache-2.0
// ChosenTeam: an executor's team, of which each run takes as many threads as make it fastest.
#pragma once
#include <cstdint>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/instruction_set.hpp>
#include <crochet/base/message.hpp>
#include <crochet/executor/cpu/thread_choices.hpp>
#include <crochet/executor/cpu/usable_processors.hpp>
#include <crochet/graph/core/shape.hpp>
#include <crochet/kernels/exchange.hpp>
#include <crochet/kernels/spin.hpp>
#include <crochet/kernels/team.hpp>

namespace crochet::cpu::CROCHET_ISA {

/// Settings of a CPU executor.
struct Settings {
  int threads = 1;  ///< the limit; 0: usable_processors()
  std::uint64_t seed = 0;
  kernel::Exchange* exchange = nullptr;  ///< on one of several ranks; borrowed
  // For tests:
  int running = 0;           ///< the number of threads that run, at most the limit; 0: chosen by measurement
  bool divides_all = false;  ///< see kernel::Parts
};

/// A team of as many threads as the limit. Movable. One thread at a time may call it.
class ChosenTeam {
 public:
  /// Throws LogicError if the number of threads is negative, and ResourceExhaustedError if the system cannot start
  /// them.
  CROCHET_COLD explicit ChosenTeam(const Settings& settings)
      : team_(limit(settings.threads), settings.divides_all), running_(settings.running) {}

  /// The limit of threads.
  int size() const { return team_->size(); }

  /// Runs the steps of plan P on as many threads as make them fastest. As kernel::Team::run().
  template <class P, class Steps>
  CROCHET_HOST_ALWAYS_INLINE void run(ThreadChoices& choices, const Dims& dims, const Steps& steps) {
    if (chooses()) return run_chosen<P>(choices, dims, steps);
    team_->run(steps, fixed_members());
  }
  /// Runs the steps on `members` threads.
  template <class Steps>
  void run_on(int members, const Steps& steps) {
    team_->run(steps, members);
  }
  /// Runs the steps on the calling thread.
  template <class Steps>
  void run_alone(const Steps& steps) {
    team_->run_alone(steps);
  }
  /// The number of threads that runs of plan P have which are no tries.
  template <class P>
  int members(const ThreadChoices& choices, const Dims& dims) const {
    return chooses() ? choices.chosen(&plan_key<P>, dims, size()) : fixed_members();
  }

 private:
  CROCHET_COLD static int limit(int threads) {
    if (threads < 0) {
      throw LogicError(crochet::detail::message({"crochet: Cpu's threads is ", threads,
                                                 "; give the number of threads, or 0 for as many as the process has "
                                                 "processors"}));
    }
    if (threads == 0) threads = usable_processors();
    return threads < kernel::Team::most ? threads : kernel::Team::most;
  }

  bool chooses() const { return team_->size() > 1 && running_ == 0; }
  int fixed_members() const { return running_ > 0 ? running_ : 1; }

  // Not inlined, so that a limit of one thread has no overhead.
  template <class P, class Steps>
  [[gnu::noinline]] void run_chosen(ThreadChoices& choices, const Dims& dims, const Steps& steps) {
    ThreadChoice& threads = choices.find(&plan_key<P>, dims, team_->size());
    const bool timed = threads.times_next();
    const std::int64_t start = timed ? kernel::monotonic_ns() : 0;
    team_->run(steps, threads.threads());
    if (timed) threads.took(kernel::monotonic_ns() - start);
  }

  kernel::OwnedTeam team_;
  int running_;  ///< the number of threads that run; 0: chosen
};

}  // namespace crochet::cpu::CROCHET_ISA
