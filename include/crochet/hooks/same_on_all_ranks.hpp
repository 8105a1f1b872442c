// SPDX-License-Identifier: Apache-2.0
// SameOnAllRanks: checks that the variables have the same bits on all ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/message.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hooks/kit/cadence.hpp>

namespace crochet {

/// Compares a hash of each variable between the ranks of a session: `SameOnAllRanks{.every_steps = 1000}`. Variables
/// differ if a program changes one on one rank (`executor.variable(...)`), or if ranks have other processors, compilers
/// or libraries. Gradient accumulators and variables that are divided over the ranks are not compared.
///   every_steps   global steps  1000   must be positive, else begin throws LogicError
/// - Fires: after each run that makes a multiple of every_steps; once after a run of several steps that passes one. On
///   one machine never.
/// - Fetches: nothing. Reads the variables of the executor (session/variables.hpp), which must have some.
/// - Cost when due: a pass over the variables, and 32 bytes a variable and rank; else a comparison.
/// - Throws RanksDisagreeError on all ranks, with the name of the variable and the rank.
/// - TensorFlow has no such hook.
struct SameOnAllRanks {
  using handles = Phases<phase::begin, phase::after_create_session, phase::after_run>;

  std::int64_t every_steps = 1000;

  Cadence timer{};

  void begin() {
    if (every_steps < 1) {
      throw LogicError(detail::message({"crochet: SameOnAllRanks's every_steps is ", every_steps, "; set at least 1"}));
    }
    timer = Cadence::every_steps(every_steps);
  }
  void after_create_session(auto& session, auto& /*coordinator*/) { timer.session_begins(session, 0); }
  void after_run(auto& run, const auto& /*values*/) {
    if constexpr (requires { run.session().executor().ranks(); }) {
      if (timer.due(run.step(), [] { return 0.0; })) [[unlikely]] {
        timer.triggered(run.step(), 0);
        compare(run.session().executor(), run.step());
      }
    }
  }
  [[nodiscard]] std::string cadence() const { return "every " + std::to_string(every_steps) + " steps"; }

 private:
  template <class E>
  CROCHET_COLD static void compare(E& executor, std::int64_t step) {
    auto& ranks = executor.ranks();
    const E& variables = executor;
    const auto compare_one = [&](std::string_view name, auto elements, std::span<const std::int64_t> /*shape*/) {
      if (name.ends_with("/gradient_accumulator")) return;  // each rank has its own until they are applied
      const auto all = ranks.meet({.kind = ranks.kind_of("SameOnAllRanks"), .bits = hash_of(std::as_bytes(elements))});
      for (std::size_t r = 1; r < all.size(); ++r) {
        if (all[r].bits != all[0].bits) fail(name, static_cast<std::int64_t>(r), step);
      }
    };
    if constexpr (requires { variables.for_each_common_variable(compare_one); }) {
      variables.for_each_common_variable(compare_one);
    } else {
      variables.for_each_variable(compare_one);
    }
  }
  /// FNV-1a of 64-bit words, the last one filled with zeros.
  static std::uint64_t hash_of(std::span<const std::byte> bytes) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (std::size_t i = 0; i < bytes.size(); i += sizeof hash) {
      std::uint64_t word = 0;
      __builtin_memcpy(&word, bytes.data() + i, bytes.size() - i < sizeof word ? bytes.size() - i : sizeof word);
      hash = (hash ^ word) * 0x100000001b3U;
    }
    return hash;
  }
  [[noreturn]] CROCHET_COLD static void fail(std::string_view name, std::int64_t rank, std::int64_t step) {
    throw RanksDisagreeError(
        detail::message({"crochet: at step ", step, " variable '", name, "' differs between ranks 0 and ", rank,
                         "; change variables on all ranks alike, and run one program on all"}));
  }
};

}  // namespace crochet
