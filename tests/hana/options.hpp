// SPDX-License-Identifier: Apache-2.0
// A hook with state and options that are declared for Hana, with members of every kind.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <crochet/hana/members.hpp>
#include <crochet/hana/saved_members.hpp>

namespace crochet {

enum class Mode : unsigned char { slow, fast };

struct Rule {
  double rate = 0.1;
  float floor = 0;
};
struct Options {
  int patience = 20;
  double min_delta = 1e-5;
  bool verbose = false;
  Mode mode = Mode::slow;
  std::string name = "loss";
  std::vector<int> milestones{100, 200};
  std::array<double, 2> range{0, 1};
  Rule rule = {};
};

/// A hook with state and with options, which are not part of the state.
struct Plateau {
  CROCHET_SAVED_MEMBERS;
  void after_run(auto&, const auto&) { ++since; }
  Options options = {};
  double best = std::numeric_limits<double>::infinity();
  std::int64_t since = 0;
  std::vector<float> history = {};
  Rule rule = {};
};

/// Declared with the other macro.
struct Defined {
  BOOST_HANA_DEFINE_STRUCT(Defined, (int, count), (std::string, text));
};
struct Empty {};

struct Limits {
  std::optional<int> steps = {};
  std::optional<Rule> rule = {};
};

/// An enumeration over bool.
struct Switches {
  enum class State : bool { off, on };
  State state = State::off;
};

}  // namespace crochet

BOOST_HANA_ADAPT_STRUCT(crochet::Rule, rate, floor);
BOOST_HANA_ADAPT_STRUCT(crochet::Options, patience, min_delta, verbose, mode, name, milestones, range, rule);
BOOST_HANA_ADAPT_STRUCT(crochet::Plateau, best, since, history, rule);
BOOST_HANA_ADAPT_STRUCT(crochet::Empty);
BOOST_HANA_ADAPT_STRUCT(crochet::Switches, state);
BOOST_HANA_ADAPT_STRUCT(crochet::Limits, steps, rule);
