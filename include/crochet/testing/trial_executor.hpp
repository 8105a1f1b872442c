// SPDX-License-Identifier: Apache-2.0
// An executor whose values depend on the step, for trials: series<"loss">(1.0f, 0.5f).
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <crochet/base/number_text.hpp>
#include <crochet/hook/due_probes.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/session/demand.hpp>
#include <crochet/testing/scripted_value.hpp>

namespace crochet::testing {

/// A value that changes from step to step and keeps its last value. Made by series<"loss">(1.0f, 0.5f).
template <class N, class T, std::size_t Count>
struct Series {
  using name = N;
  using type = T;

  std::array<T, Count> values;
};
template <FixedString Text, class First, class... Rest>
constexpr Series<Name<Text>, First, 1 + sizeof...(Rest)> series(First first, Rest... rest) {
  return {{first, static_cast<First>(rest)...}};
}

namespace detail {

template <class N, class T, std::size_t Count>
struct ScriptParts<Series<N, T, Count>> : ScriptParts<void> {
  using values = List<Series<N, T, Count>>;
};

template <class N, class T>
const T& value_in_step(const ScriptedValue<N, T>& entry, std::size_t) {
  return entry.value;
}
template <class N, class T, std::size_t Count>
const T& value_in_step(const Series<N, T, Count>& entry, std::size_t step) {
  return entry.values[step < Count ? step : Count - 1];
}

template <class N, class... Entry>
constexpr std::size_t position_of() {
  std::size_t index = 0;
  (void)((std::is_same_v<N, typename Entry::name> || (++index, false)) || ...);
  return index;
}

/// An executor whose values depend on the step. In contrast to ScriptedExecutor it does not allocate in a hooked run.
template <class PlaceholderList, class TargetList, class ValueList>
class TrialExecutor;
template <class... P, class... T, class... V>
class TrialExecutor<List<P...>, List<T...>, List<V...>> {
  template <class N, class Entry>
  using type_if = std::conditional_t<std::is_same_v<N, typename Entry::name>, List<typename Entry::type>, List<>>;

 public:
  struct Workspace {};
  using Request = RunArgs<Fetches<>, Targets<T...>, Feeds<>>;

  static constexpr std::array<std::string_view, sizeof...(V)> fetchable{V::name::view()...};
  static constexpr std::array<std::string_view, sizeof...(P)> feedable{P::name::view()...};
  static constexpr std::array<std::string_view, sizeof...(T)> targets{T::view()...};

  template <class N>
  using fetched_t = typename crochet::detail::SoleType<decltype((List<>{} + ... + type_if<N, V>{}))>::type;
  template <class N>
  using fed_t = typename crochet::detail::SoleType<decltype((List<>{} + ... + type_if<N, P>{}))>::type;
  template <class N, class X>
  static constexpr bool accepts_feed = std::is_same_v<fed_t<N>, X>;

  /// The record since the last reset.
  struct Notes {
    std::array<bool, sizeof...(V)> fetched{};
    std::array<int, sizeof...(V)> reads{};
    std::array<bool, sizeof...(P)> fed{};
    std::array<double, sizeof...(P)> numbers{};  // a scalar's value, a range's size
    std::string side_runs{};
  };

  template <class... Part>
  explicit TrialExecutor(const Part&... part) : values_{detail::pick<V>(part...)...} {}

  template <class D, class... F>
  void run(Workspace& workspace, const F&... fed) {
    if (&workspace != hooked) {
      notes.side_runs += " [";
      ((notes.side_runs += D::template fetches<typename V::name> ? std::string(V::name::view()) + " " : ""), ...);
      notes.side_runs += "]";
    } else {
      notes.fetched = {D::template fetches<typename V::name>...};
      (note_feed<typename F::name>(fed.value), ...);
    }
  }
  /// The values for probes, as a StepExecutor's outputs are.
  static constexpr bool takes_probes = true;
  template <class D, class... Probe, class... F>
  void run_probed(Workspace& workspace, const DueProbes<Probe...>& probes, const F&... fed) {
    using Shown = crochet::detail::ProbedOutputs<crochet::detail::ShownOutput<typename V::name, typename V::type>...>;
    static constexpr std::array<std::string_view, sizeof...(F)> feeds{F::name::view()...};
    Shown::template run<D>(
        probes, names_of(static_cast<D*>(nullptr)), feeds, [&] { run<D>(workspace, fed...); },
        [&]<class N>(N) -> const auto& { return value_in_step(std::get<position_of<N, V...>()>(values_), step); });
  }

  template <class N>
  fetched_t<N> fetch(Workspace&) {
    constexpr std::size_t at = position_of<N, V...>();
    ++notes.reads[at];
    return value_in_step(std::get<at>(values_), step);
  }

  /// "fetched loss read loss*2 fed rate=0.1 ran on the side [accuracy ]".
  [[nodiscard]] std::string text() const {
    std::string all;
    for (std::size_t i = 0; i < fetchable.size(); ++i) {
      if (notes.fetched[i]) all.append(" fetched ").append(fetchable[i]);
      if (notes.reads[i] > 0) all.append(" read ").append(fetchable[i]).append("*" + std::to_string(notes.reads[i]));
    }
    for (std::size_t i = 0; i < feedable.size(); ++i) {
      if (notes.fed[i])
        all.append(" fed ").append(feedable[i]).append("=").append(crochet::detail::general_text(notes.numbers[i]));
    }
    return notes.side_runs.empty() ? all : all + " ran on the side" + notes.side_runs;
  }

  Notes notes{};
  std::size_t step = 0;
  const Workspace* hooked = nullptr;

 private:
  template <class... N, class R>
  static std::span<const std::string_view> names_of(Demand<Names<N...>, R>*) {
    static constexpr std::array<std::string_view, sizeof...(N)> all{N::view()...};
    return all;
  }
  template <class N, class X>
  void note_feed(const X& fed) {
    constexpr std::size_t at = position_of<N, P...>();
    notes.fed[at] = true;
    if constexpr (std::is_arithmetic_v<X>) {
      notes.numbers[at] = static_cast<double>(fed);
    } else {
      notes.numbers[at] = static_cast<double>(std::size(fed));
    }
  }

  std::tuple<V...> values_;
};

template <class... Part>
using trial_executor =
    TrialExecutor<all_placeholders<Part...>,
                  decltype(crochet::detail::unique(crochet::detail::List<>{}, all_targets<Part...>{})),
                  all_values<Part...>>;

}  // namespace detail

}  // namespace crochet::testing
