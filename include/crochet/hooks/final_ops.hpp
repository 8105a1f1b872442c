// SPDX-License-Identifier: Apache-2.0
// FinalOps<"accuracy">: fetches values when the session ends.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/sink.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hooks/kit/kept_value.hpp>

namespace crochet {

/// Fetches values when the session ends, by one run without hooks, and keeps them:
///   FinalOps<"accuracy">{}                               without feeds
///   final_ops<"accuracy">(feed<"images">(x), ...)        with feeds; fed views must stay valid until the end
///   Text...  -  -               the names
///   feeds    -  none            the feeds of that run
///   sink     -  standard error  receives a line if the values need input and the data are exhausted
/// - Result: `session.hooks().get<FinalOps<"accuracy">>()["accuracy"_n].as<float>()`. Empty before the end, and after a
///   session that ended by an error.
/// - Fires: in `end`.
/// - Fetches: the names, in that run. The run executes what it fetches, so a step function makes a step.
/// - Cost: nothing before the end.
/// - Throws: what the run throws.
template <class D, FixedString... Text>
struct FinalOpsFed {
  static_assert(sizeof...(Text) > 0, "crochet: FinalOps needs a name: FinalOps<\"accuracy\">");
  using handles = Phases<phase::begin, phase::before_run, phase::end>;
  static constexpr Fetches<Name<Text>...> fetches{};  // checked at compile time, fetched in `end`

  CROCHET_NO_UNIQUE_ADDRESS D feeds{};
  Sink sink{};
  // Not `{}`, as in LoggingTensor.
  std::array<KeptValue, sizeof...(Text)> values = std::array<KeptValue, sizeof...(Text)>();

  void mute() { sink = no_lines; }
  void begin() { values = {}; }
  RunArgs<> before_run(auto& /*run*/) const { return {}; }

  void end(auto& session) {
    try {
      keep(session.run(fetches, feeds));
    } catch (const OutOfRangeError&) {
      explain();
      throw;
    } catch (const StopIteration&) {
      explain();
      throw;
    }
  }

  /// The fetched value of the name.
  template <class N>
  [[nodiscard]] const KeptValue& operator[](N) const {
    static_assert((std::is_same_v<N, Name<Text>> || ...), "crochet: FinalOps does not fetch this name");
    std::size_t index = 0;
    (void)((std::is_same_v<N, Name<Text>> || (++index, false)) || ...);
    return values[index];
  }

  [[nodiscard]] std::string cadence() const { return "at the end"; }

 private:
  CROCHET_COLD void explain() const {
    sink("crochet: FinalOps: the final values need input, and the data has come to its end");
  }
  void keep(const auto& fetched) {
    std::size_t i = 0;
    (values[i++].keep(fetched[Name<Text>{}]), ...);
  }
};

template <FixedString... Text>
using FinalOps = FinalOpsFed<Feeds<>, Text...>;

template <FixedString... Text, class... F>
auto final_ops(F... feed) {
  return FinalOpsFed<Feeds<F...>, Text...>{.feeds = Feeds<F...>{std::move(feed)...}};
}

}  // namespace crochet
