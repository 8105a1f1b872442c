// SPDX-License-Identifier: Apache-2.0
// Selects the instantiation of a run when hooks declare probes: the plain one if none is due; one that watches tensors
// if a due probe observes tensors; otherwise one that calls probes around the steps of the plain plan.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>

#include <crochet/base/config.hpp>
#include <crochet/hook/due_probes.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/session/raw_session.hpp>

namespace crochet::detail {

/// The names of a request, as strings.
template <class Args>
struct RequestNames;
template <class... F, class... T, class... N, class... X>
struct RequestNames<RunArgs<Fetches<F...>, Targets<T...>, Feeds<Feed<N, X>...>>> {
  static constexpr std::array<std::string_view, sizeof...(F)> fetches{F::view()...};
  static constexpr std::array<std::string_view, sizeof...(T)> targets{T::view()...};
  static constexpr std::array<std::string_view, sizeof...(N)> feeds{N::view()...};
};

/// Replaces a RawSession: its runs call the probes.
template <class E, class Probes>
struct ProbedSession {
  RawSession<E>& raw;
  const Probes& probes;

  [[nodiscard]] E& executor() const { return raw.executor(); }
  template <class D, class... F>
  void run_hooked(const F&... feeds) {
    raw.template run_probed<D>(probes, feeds...);
  }
};

template <class P>
constexpr auto unless_watching(P* probe) {
  if constexpr (Watches<P>) {
    return std::tuple<>{};
  } else {
    return std::tuple<P*>{probe};
  }
}
template <class... P>
constexpr bool any_due(const P*... probe) {
  return ((probe != nullptr) || ...);
}
template <class... P>
constexpr bool any_watching(const P*... probe) {
  return ((Watches<P> && probe != nullptr) || ...);
}

/// `Plans`: PlannedRun. Not inlined: most runs do not take this path. `due` by value: in registers, not in memory.
template <class Plans, class E, class Args, class AllRequests, class... P>
[[gnu::noinline]] void run_probed(RawSession<E>& raw, const Args& args, const AllRequests& requests,
                                  std::tuple<P*...> due) {
  using Names = RequestNames<Args>;
  const ProbeRequest request{raw.step(), Names::fetches, Names::targets, Names::feeds};
  const auto run = [&](auto*... probe) {
    const DueProbes probes(request, probe...);
    ProbedSession<E, DueProbes<std::remove_pointer_t<decltype(probe)>...>> probed{raw, probes};
    Plans::run(probed, args, requests);
  };
  if constexpr ((Watches<P> || ...)) {
    if (std::apply(any_watching<P...>, due)) return std::apply(run, due);
  }
  if constexpr (!(Watches<P> && ...)) {
    std::apply(run, std::apply([](P*... probe) { return std::tuple_cat(unless_watching(probe)...); }, due));
  }
}

/// `due`: the result of the chain's due_probes.
template <class Plans, class E, class Args, class AllRequests, class... P>
CROCHET_HOST_ALWAYS_INLINE void run_as_due(RawSession<E>& raw, const Args& args, const AllRequests& requests,
                                           [[maybe_unused]] const std::tuple<P*...>& due) {
  if constexpr (sizeof...(P) > 0) {
    if (std::apply(any_due<P...>, due)) [[unlikely]] {
      return run_probed<Plans>(raw, args, requests, due);
    }
  }
  Plans::run(raw, args, requests);
}

}  // namespace crochet::detail
