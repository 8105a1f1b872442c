// SPDX-License-Identifier: Apache-2.0
// Sessions under faults at random places. Checks the rules that hold for every session, whatever call fails. The number
// of a trial determines it.
#include <crochet/session/run_session.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/testing/manual_clock.hpp>

namespace crochet {
namespace random_faults_test {

using crochet::testing::ManualClock;

/// An event of a trial. `who` is a hook's letter, or 'e' for the executor. `what` is a letter of the reference traces,
/// or M, R, L: session created, run, closed. `failed`: the call threw.
struct Event {
  char who;
  char what;
  bool failed;
};

/// The state of a trial: its random numbers, its rate of faults, and its events.
struct World {
  std::mt19937 random;
  double rate = 0;
  std::vector<Event> events;
  std::vector<std::string> thrown;
  bool stop_requested = false;  // by a hook in a run
  bool anonymous_stop = false;  // by the coordinator, before a thread reported an error
  bool error_was_reported = false;

  void happens(char who, char what, bool may_fail = true) {
    events.push_back({who, what, false});
    if (!may_fail || std::uniform_real_distribution<>{}(random) >= rate) return;
    events.back().failed = true;
    const std::string name = std::string{who, what} + std::to_string(events.size());
    thrown.push_back(name);
    switch (random() % 6) {
      case 0:
      case 1:
        throw AbortedError(name);
      case 2:
        throw UnavailableError(name);
      case 3:
        throw OutOfRangeError(name);
      case 4:
        throw DataError(name);
      default:
        throw std::runtime_error(name);
    }
  }
};

template <char Letter>
struct Watched {
  World* world;
  void begin() { world->happens(Letter, 'B'); }
  void after_create_session(auto&, Coordinator& coordinator) {
    world->happens(Letter, 'C');
    if (world->random() % 60 == 0) {
      coordinator.request_stop();
      world->anonymous_stop = world->anonymous_stop || !world->error_was_reported;
    }
    if (world->random() % 20 == 0) {
      world->error_was_reported = true;
      coordinator.request_stop(std::make_exception_ptr(AbortedError("reported")), "a thread");
    }
  }
  void before_run(auto& run) {
    attempts += run.attempt() > 1 ? 1 : 0;
    world->happens(Letter, 'b');
  }
  void after_run(auto& run, const auto&) {
    if (world->random() % 30 == 0) {
      run.request_stop("enough");
      world->stop_requested = true;
    }
    world->happens(Letter, 'a');
  }
  void end(auto&) { world->happens(Letter, 'E'); }
  void on_error(std::exception_ptr) { world->happens(Letter, 'X'); }
  int attempts = 0;
};

class Machine {
 public:
  struct Workspace {};
  static constexpr std::array<std::string_view, 0> fetchable{};
  static constexpr std::array<std::string_view, 0> feedable{};
  static constexpr std::array<std::string_view, 1> targets{"train"};
  template <class N>
  using fetched_t = float;
  template <class N>
  using fed_t = float;
  template <class N, class X>
  [[maybe_unused]] static constexpr bool accepts_feed = false;

  explicit Machine(World& world) : world_(&world) {}
  void initialize() { world_->happens('e', 'M'); }
  void close() { world_->happens('e', 'L'); }  // the session must discard its exceptions
  template <class D, class... F>
  void run(Workspace&, const F&...) {
    world_->happens('e', 'R');
  }

 private:
  World* world_;
};

/// Checks the rules. Returns the first one that was broken.
class Rules {
 public:
  std::string check(const std::vector<Event>& events, bool constructed) {
    for (const Event& event : events) {
      see(event);
      if (!broken_.empty()) return broken_ + " at " + text_;
    }
    if (open_) return "a session was left open: " + text_;
    if (constructed && ends_ != 3 && errors_ != 3) return "not every hook saw the end: " + text_;
    if (ends_ > 0 && errors_ > 0) return "some saw end and some on_error: " + text_;
    return {};
  }

 private:
  static constexpr std::string_view hooks = "abc";

  void require(bool holds, const char* rule) {
    if (!holds && broken_.empty()) broken_ = rule;
  }
  /// Hooks are called in order. Each phase starts with the first hook. No hook is called after one that failed.
  void in_order(const Event& event, char phase_before_may_be) {
    const bool first = event.who == hooks.front();
    if (first) {
      require(phase_before_may_be == 0 || last_ == phase_before_may_be, "a phase began too early");
    } else {
      require(last_ == event.what && hooks.find(event.who) == hooks.find(who_) + 1, "hooks out of order");
      require(!failed_ || event.what == 'E' || event.what == 'X', "a hook was called behind one that failed");
    }
  }
  void see(const Event& event) {
    const bool creation_failed = failed_ && (last_ == 'M' || last_ == 'C');
    require(!creation_failed || event.what == 'L', "a creation that failed was not closed at once");
    text_ += std::string{event.who, event.what} + (event.failed ? "! " : " ");
    switch (event.what) {
      case 'B':
        require(created_ == 0, "begin after a session was made");
        in_order(event, 0);
        ++begins_;
        require(begins_ <= 3, "begin twice");
        break;
      case 'M':
        require(begins_ == 3 && !open_, "a session was made while one was open, or before begin");
        ++created_;
        open_ = true;
        hooked_ = 0;
        break;
      case 'C':
        in_order(event, 'M');
        require(open_, "after_create_session of a closed session");
        hooked_ += event.failed ? 0 : 1;
        break;
      case 'b':
        in_order(event, 0);
        require(open_ && hooked_ == 3 && ends_ + errors_ == 0, "before_run of a session that is not ready");
        break;
      case 'R':
        require(last_ == 'b' && who_ == hooks.back() && !failed_, "a run without every before_run");
        require(open_, "a run of a closed session");
        break;
      case 'a':
        in_order(event, 'R');
        require(event.who != hooks.front() || !failed_, "after_run of a run that failed");
        break;
      case 'L':
        require(open_, "closed twice");
        open_ = false;
        break;
      case 'E':
        in_order(event, 0);
        ++ends_;
        require(ends_ <= 3, "end twice");
        break;
      case 'X':
        in_order(event, 0);
        ++errors_;
        require(errors_ <= 3, "on_error twice");
        break;
      default:
        require(false, "unknown");
    }
    last_ = event.what, who_ = event.who, failed_ = event.failed;
  }

  std::string text_, broken_;
  char last_ = 0, who_ = 0;
  bool failed_ = false, open_ = false;
  int begins_ = 0, created_ = 0, hooked_ = 0, ends_ = 0, errors_ = 0;
};

/// Totals for one kind of session.
struct Tally {
  int trials = 0, recoveries = 0, clean = 0, failed = 0, not_constructed = 0, caught = 0;
  int stopped_in_a_failed_run = 0, anonymous_stops = 0;
};

template <template <class...> class Session>
std::string trial(unsigned number, Tally& tally) {
  World world;
  world.random.seed(number);
  world.rate = std::array{0.0, 0.01, 0.05, 0.2}[number % 4];
  ManualClock clock;
  const SessionOptions options{.recovery = {.max_attempts = 3}, .clock = clock};
  bool constructed = false;
  std::string left, broken;
  ++tally.trials;
  try {
    using Chain = HookChain<Watched<'a'>, Watched<'b'>, Watched<'c'>>;
    Session<Machine, Chain> session{Machine{world}, Chain{{&world}, {&world}, {&world}}, options};
    constructed = true;
    try {
      run_session(session, [&](auto& s) {
        for (int i = 0; i < 40 && !s.should_stop(); ++i) {
          try {
            s.run("train"_n);
          } catch (const DataError&) {
            ++tally.caught;
            if (world.random() % 2 == 0) throw;  // otherwise the loop continues
            if (world.stop_requested) ++tally.stopped_in_a_failed_run;
          }
          if (world.stop_requested && !s.should_stop()) broken = "a stop that was requested was not latched";
          if (world.random() % 100 == 0) throw std::logic_error("body");
          if (world.random() % 50 == 0 && !s.should_stop()) {
            s.run_step_fn([&](auto& context) {
              context.run_with_hooks("train"_n);
              if (world.random() % 10 == 0) context.request_stop();
            });
          }
        }
      });
      ++tally.clean;
    } catch (...) {
      left = detail::what_of(std::current_exception());
      ++tally.failed;
    }
    tally.recoveries += session.recoveries();
    if (!broken.empty()) return broken;
    if (!session.closed()) return "the session is not closed";
    if (world.anonymous_stop) {
      ++tally.anonymous_stops;
      if (session.stop_reason().hook == "a thread") return "a thread is named for a stop that was requested before";
    }
    session.close();
    const int told = session.hooks().template at<0>().attempts;
    if (session.recoveries() == 0 && tally.caught == 0 && told > 0) return "told of a retry that there was not";
  } catch (...) {
    left = detail::what_of(std::current_exception());
    ++tally.not_constructed;
  }
  const bool known = left.empty() || left == "body" || left == "reported" ||
                     std::find(world.thrown.begin(), world.thrown.end(), left) != world.thrown.end();
  if (!known) return "an error left that nobody threw: " + left;
  return Rules{}.check(world.events, constructed);
}

class RandomFaults : public ::testing::Test {
 protected:
  RandomFaults() : before_(set_diagnostic_sink([](std::string_view) {})) {}
  ~RandomFaults() override { set_diagnostic_sink(before_); }

  template <template <class...> class Session>
  static Tally play() {
    Tally tally;
    for (unsigned number = 0; number < 20'000 && !HasFailure(); ++number) {
      EXPECT_EQ(trial<Session>(number, tally), "") << "trial " << number;
    }
    return tally;
  }

 private:
  DiagnosticSink before_;
};

template <class... A>
using Recovering = MonitoredSession<A...>;
template <class... A>
using NotRecovering = SingularMonitoredSession<A...>;

TEST_F(RandomFaults, BreakNoRuleOfASessionThatRecovers) {
  const Tally tally = play<Recovering>();
  EXPECT_GT(tally.recoveries, 5'000);  // enough faults for a meaningful test
  EXPECT_GT(tally.stopped_in_a_failed_run, 10);
  EXPECT_GT(tally.anonymous_stops, 500);
  EXPECT_GT(tally.clean, 1'000);
  EXPECT_GT(tally.failed, 1'000);
  EXPECT_GT(tally.not_constructed, 1'000);
}

TEST_F(RandomFaults, BreakNoRuleOfASingularSession) {
  const Tally tally = play<NotRecovering>();
  EXPECT_EQ(tally.recoveries, 0);
  EXPECT_GT(tally.clean, 1'000);
  EXPECT_GT(tally.failed, 1'000);
  EXPECT_GT(tally.not_constructed, 1'000);
}

}  // namespace random_faults_test
}  // namespace crochet
