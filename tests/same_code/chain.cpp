// SPDX-License-Identifier: Apache-2.0
// One step under a chain of CROCHET_HOOKS hooks, with CROCHET_KEYED each in a decorator. Its twin is hand.cpp.
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include <crochet/hook/chain.hpp>
#include <crochet/hooks/keyed.hpp>
#include <crochet/session/monitored_session.hpp>

#include "same_code.hpp"

namespace cr = crochet;
using namespace cr::literals;

struct Executor {
  struct Workspace {
    float loss = 0;
  };
  static constexpr std::array<std::string_view, 1> fetchable{"loss"};
  static constexpr std::array<std::string_view, 0> feedable{};
  static constexpr std::array<std::string_view, 1> targets{"train"};
  template <class N>
  using fetched_t = float;
  template <class N>
  static constexpr bool fetch_is_free = true;
  template <class N>
  using fed_t = float;
  template <class N, class X>
  static constexpr bool accepts_feed = false;

  template <class D, class... F>
  void run(Workspace& workspace, const F&...) {
    workspace.loss = compute_loss();
  }
  template <class N>
  float fetch(Workspace& workspace) {
    return workspace.loss;
  }
};

// Four kinds of hooks. `I` distinguishes several types of each kind.
template <std::size_t I>
struct Count {
  void after_run(auto&, const auto&) { ++runs; }
  long runs = 0;
};
template <std::size_t I>
struct Sum {
  static constexpr auto fetches = cr::fetches<"loss">;
  void after_run(auto&, const auto& values) { sum += values["loss"_n]; }
  float sum = 0;
};
template <std::size_t I>
struct Largest {
  static constexpr auto fetches = cr::fetches<"loss">;
  void after_run(auto& run, const auto& values) {
    const float loss = values["loss"_n];
    if (loss > largest) largest = loss;
    if (loss > too_large) run.request_stop("the loss is too large");
  }
  float largest = 0;
};
template <std::size_t I>
struct EveryTenth {
  static constexpr auto fetches = cr::fetches<"loss">;
  void after_run(auto&, const auto& values) {
    if (++since != 10) return;
    since = 0;
    last = values["loss"_n];
  }
  int since = 0;
  float last = 0;
};

template <std::size_t I>
auto kind() {
  if constexpr (I % 4 == 0) {
    return Count<I>{};
  } else if constexpr (I % 4 == 1) {
    return Sum<I>{};
  } else if constexpr (I % 4 == 2) {
    return Largest<I>{};
  } else {
    return EveryTenth<I>{};
  }
}
#ifdef CROCHET_KEYED
template <std::size_t I>
using Hook = cr::Keyed<"of its own", decltype(kind<I>())>;
#else
template <std::size_t I>
using Hook = decltype(kind<I>());
#endif
template <std::size_t... I>
cr::HookChain<Hook<I>...> chain_of(std::index_sequence<I...>);

using Chain = decltype(chain_of(std::make_index_sequence<CROCHET_HOOKS>{}));
using Session = cr::MonitoredSession<Executor, Chain>;

void step(Session& session) { session.run("train"_n); }
