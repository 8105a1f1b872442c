// SPDX-License-Identifier: Apache-2.0
// The executor's threads. A busy team forks and joins in a fraction of a microsecond: members spin briefly, then block.
#pragma once
#include <cstddef>
#include <cstring>
#include <exception>
#include <forward_list>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/forks.hpp>
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/aligned_bytes.hpp>
#include <crochet/kernels/barrier.hpp>
#include <crochet/kernels/thread.hpp>
#include <crochet/kernels/worker.hpp>

namespace crochet {

namespace kernel::CROCHET_ISA {

/// Threads of which a run takes as many as it is worth. Neither copyable nor movable.
/// - One thread at a time may call it. Several teams do not disturb each other.
/// - A child of fork() has none of the threads. Its runs have the caller as their only member.
class Team {
 public:
  /// The maximum size of a team.
  static constexpr int most = Barrier::most;

  /// `count`: from 1 to `most`. `divides_all`: see Parts. Throws ResourceExhaustedError if the system cannot start
  /// `count` - 1 threads; those already started are joined. Throws it, too, without memory for a handler of fork().
  CROCHET_COLD explicit Team(int count, bool divides_all = false)
      : forks_(count > 1 ? crochet::detail::Forks::count() : 0),
        parts_{.most = count, .all = divides_all},
        barrier_(count),
        scratch_(static_cast<std::size_t>(count)),
        // NOLINTNEXTLINE(bugprone-throw-keyword-missing): errors_ is a vector of exceptions
        errors_(static_cast<std::size_t>(count)) {
    try {
      for (int t = 1; t < count; ++t) threads_.emplace_front([this, t] { serve(t); });
    } catch (...) {
      end_threads();
      throw;
    }
  }
  ~Team() { end_threads(); }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return static_cast<int>(scratch_.size()); }

  /// Calls body(worker) on the first `members` members, at least 1 and at most size(); the caller is the first. Returns
  /// when all are done. The other members are not woken. An exception in a member ends the run of the others at their
  /// next barrier and is rethrown here; of several, that of the first member.
  template <class Body>
  void run(Body&& body, int members) {
    if (members > 1) return run_together(body, members);
    run_alone(body);
  }
  /// As above, on all members.
  template <class Body>
  void run(Body&& body) {
    run(body, size());
  }
  /// Calls body(worker) on the caller alone, for work that would end before another member starts.
  template <class Body>
  void run_alone(Body&& body) {
    Worker alone(0, 1, barrier_, scratch_, parts_);
    body(alone);
  }

 private:
  /// The work of the members, read at the start of every run. It is written only if it differs from the previous run: a
  /// step run in a loop then causes no cache line transfer from the caller.
  struct alignas(64) Job {
    void (*work)(const void*, Worker&) = nullptr;
    /// the function object itself if it is small and trivially copyable, else its address
    alignas(void*) std::byte body[24]{};
    bool stop = false;

    template <class Body>
    static constexpr bool holds = std::is_trivially_copyable_v<Body> && sizeof(Body) <= sizeof body;

    template <class Body>
    void set(Body& b) {
      if constexpr (holds<Body>) {
        assign(&b, sizeof b, [](const void* p, Worker& w) { (*static_cast<Body*>(const_cast<void*>(p)))(w); });
      } else {
        Body* at = &b;
        assign(&at, sizeof at, [](const void* p, Worker& w) { (**static_cast<Body* const*>(p))(w); });
      }
    }

   private:
    void assign(const void* from, std::size_t size, void (*how)(const void*, Worker&)) {
      if (work == how && std::memcmp(body, from, size) == 0) return;
      std::memcpy(body, from, size);
      work = how;
    }
  };

  // Not inlined, so that a run with one member has no overhead.
  template <class Body>
  [[gnu::noinline]] void run_together(Body& body, int members) {
    if (is_child()) [[unlikely]]
      return run_alone(body);
    Worker first(0, members, barrier_, scratch_, parts_);
    job_.set(body);
    barrier_.release(members);
    if (!came_to_the_end(0, [&] {
          body(first);
          barrier_.gather();
        })) {
      rethrow();
    }
  }

  /// Does a member's work in a run. Returns false if the run was broken off; all members can then start a new one.
  template <class Work>
  bool came_to_the_end(int index, Work&& work) {
    try {
      work();
      return true;
    } catch (const BrokenOff&) {
    } catch (...) {
      errors_[static_cast<std::size_t>(index)] = std::current_exception();
    }
    barrier_.break_off(index);
    barrier_.recover(index);
    return false;
  }
  [[noreturn]] CROCHET_COLD void rethrow() {
    std::exception_ptr thrown;
    for (std::exception_ptr& error : errors_) {
      if (!thrown) thrown = error;
      error = nullptr;
    }
    std::rethrow_exception(thrown);
  }

  bool is_child() const { return forks_ != crochet::detail::Forks::counted(); }

  void end_threads() {
    if (threads_.empty()) return;
    if (is_child()) {
      for (Thread& t : threads_) t.forget();
      return;
    }
    job_.stop = true;
    barrier_.release(static_cast<int>(std::distance(threads_.begin(), threads_.end())) + 1);
    for (Thread& t : threads_) t.join();
  }

  void serve(int index) {
    for (bool stop = false; !stop;) {
      came_to_the_end(index, [&] {
        const int members = barrier_.await_release(index);
        stop = job_.stop;
        if (stop) return;
        Worker me(index, members, barrier_, scratch_, parts_);
        job_.work(job_.body, me);
        barrier_.leave(index);
      });
    }
  }

  Job job_;
  int forks_;  ///< of the process that has the threads
  Parts parts_;
  alignas(64) Barrier barrier_;
  std::vector<AlignedBytes> scratch_;
  std::vector<std::exception_ptr> errors_;  ///< exceptions of this run, by member
  std::forward_list<Thread> threads_;       // no vector: its growth alone is 8 kB of code
};

/// A movable team.
class OwnedTeam {
 public:
  OwnedTeam(int count, bool divides_all) : team_(new Team(count, divides_all)) {}
  OwnedTeam(OwnedTeam&& other) noexcept : team_(std::exchange(other.team_, nullptr)) {}
  OwnedTeam& operator=(OwnedTeam&& other) noexcept {
    std::swap(team_, other.team_);
    return *this;
  }
  ~OwnedTeam() { delete team_; }

  Team* operator->() const { return team_; }

 private:
  Team* team_;
};

}  // namespace kernel::CROCHET_ISA
}  // namespace crochet
