// SPDX-License-Identifier: Apache-2.0
// The smallest executor for wrong requests: it fetches "loss" and "accuracy", has the placeholder "rate" (float), and
// runs "train".
#pragma once

#include <array>
#include <string_view>
#include <type_traits>

#include <crochet/crochet.hpp>

using namespace crochet::literals;

struct Toy {
  struct Workspace {};
  static constexpr std::array<std::string_view, 2> fetchable{"loss", "accuracy"};
  static constexpr std::array<std::string_view, 1> feedable{"rate"};
  static constexpr std::array<std::string_view, 1> targets{"train"};
  template <class N>
  using fetched_t = float;
  template <class N>
  using fed_t = float;
  template <class N, class X>
  static constexpr bool accepts_feed = std::is_same_v<X, float>;
  template <class... H>
  using extended_by = Toy;

  template <class D, class... F>
  void run(Workspace&, const F&...) {}
  template <class N>
  float fetch(Workspace&) {
    return 0;
  }
};

struct Counter {
  void after_run(auto&, const auto&) { ++runs; }
  int runs = 0;
};
