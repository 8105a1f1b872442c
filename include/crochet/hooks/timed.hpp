// SPDX-License-Identifier: Apache-2.0
// Timed<H>: measures the hook's time in each phase.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <crochet/base/clock.hpp>
#include <crochet/base/number_text.hpp>
#include <crochet/base/sink.hpp>
#include <crochet/hook/type_name.hpp>
#include <crochet/hooks/kit/decorated.hpp>

namespace crochet {

/// Time spent in one phase, in seconds.
struct PhaseTime {
  std::int64_t calls = 0;
  double seconds = 0;
  double longest = 0;
};

/// Measures the calls of H.
template <class H>
struct Stopwatch : PassOn<Stopwatch<H>> {
  using phases = Phases<phase::begin, phase::end>;

  struct options {
    /// Receives the times at the end, in one line.
    Sink sink{};
    Clock clock{};
    bool report_at_end = true;
  };

  Stopwatch() = default;
  explicit Stopwatch(options how) : how_(std::move(how)) {}

  void mute() { how_.report_at_end = false; }
  void begin() { times_ = {}; }
  void end() {
    if (how_.report_at_end) how_.sink(report());
  }
  template <class Phase, class Call>
  decltype(auto) around(Call&& call) {
    const Lap lap{how_.clock, times_[index_of<Phase>()], how_.clock()};
    return call();
  }

  /// The time in one phase: `in<phase::after_run>()`.
  template <class Phase>
  [[nodiscard]] const PhaseTime& in() const {
    return times_[index_of<Phase>()];
  }
  [[nodiscard]] double total_seconds() const {
    double sum = 0;
    for (const PhaseTime& time : times_) sum += time.seconds;
    return sum;
  }
  /// `LoggingTensor<"loss">: before_run 100 x 0.1 us, after_run 100 x 2.3 us, 0.0002 s in all`.
  [[nodiscard]] std::string report() const {
    std::string text = detail::type_name<H>() + ": ";
    add_all(text, All{});
    return text + detail::general_text(total_seconds(), 4) + " s in all";
  }

 private:
  using All = Phases<phase::begin, phase::after_create_session, phase::before_run, phase::after_run, phase::end,
                     phase::on_error>;

  struct Lap {
    const Clock& clock;
    PhaseTime& time;
    double start;
    ~Lap() {
      const double seconds = clock() - start;
      ++time.calls;
      time.seconds += seconds;
      if (seconds > time.longest) time.longest = seconds;
    }
  };

  template <class Wanted, class... P>
  static constexpr std::size_t find(Phases<P...>) {
    std::size_t index = 0;
    (void)((std::is_same_v<Wanted, P> || (++index, false)) || ...);
    return index;
  }
  template <class Phase>
  static constexpr std::size_t index_of() {
    static_assert(detail::is_listed<Phase, All>, "crochet: Timed does not time this phase");
    return find<Phase>(All{});
  }
  template <class... P>
  void add_all(std::string& text, Phases<P...>) const {
    (add(text, P::name, in<P>()), ...);
  }
  static void add(std::string& text, std::string_view name, const PhaseTime& time) {
    if (time.calls == 0) return;
    text.append(name).append(" ").append(std::to_string(time.calls)).append(" x ");
    text.append(detail::general_text(1e6 * time.seconds / static_cast<double>(time.calls), 4)).append(" us, ");
  }

  options how_;
  std::array<PhaseTime, 6> times_{};
};

/// Calls H in every phase and measures it, exceptions included: `Timed<H>{{...}, {.sink = my_sink}}`.
/// - Not measured: extend_graph, save_state and load_state.
/// - Writes the times at the end; `timed.policy.in<phase::after_run>()` returns them.
/// - On several ranks each measures its own calls, and rank 0 writes its times.
/// - Cost: two clock readings per phase.
template <class H>
struct Timed : Decorated<H, Stopwatch<H>> {
  using Base = Decorated<H, Stopwatch<H>>;
  using Base::Base;
};
template <class H>
Timed(H) -> Timed<H>;
template <class H>
Timed(H, typename Stopwatch<H>::options) -> Timed<H>;

}  // namespace crochet
