// SPDX-License-Identifier: Apache-2.0
// cadence_of(): the Cadence of a hook's options, and its text.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/hook/type_name.hpp>
#include <crochet/hooks/kit/anchor.hpp>
#include <crochet/hooks/kit/cadence.hpp>

namespace crochet {

/// The interval settings of a hook; at most one of them is set.
struct Intervals {
  std::optional<std::int64_t> steps{};
  std::optional<double> seconds{};
  std::optional<std::int64_t> epochs{};

  [[nodiscard]] constexpr bool any() const { return steps || seconds || epochs; }
  /// With an interval in steps if none is set.
  [[nodiscard]] constexpr Intervals or_every(std::int64_t default_steps) const {
    return any() ? *this : Intervals{.steps = default_steps};
  }
};

/// The text of the interval settings of a hook: "every 100 steps".
inline std::string cadence_text(const Intervals& every, Anchor anchor = Anchor::global_step) {
  const auto counted = [](std::int64_t count, const std::string& unit) {
    return count == 1 ? "every " + unit : "every " + std::to_string(count) + " " + unit + "s";
  };
  if (every.steps) {
    const std::string steps = counted(*every.steps, "step");
    return anchor == Anchor::first_run ? steps + " from the first run on" : steps;
  }
  if (every.epochs) return counted(*every.epochs, "epoch");
  if (!every.seconds) return "";
  char seconds[32];  // in the same form in every locale
  const auto form =
      *every.seconds >= 1 && *every.seconds < 1e16 ? std::chars_format::fixed : std::chars_format::general;
  const char* const end = std::to_chars(seconds, seconds + sizeof seconds, *every.seconds, form).ptr;
  return "every " + std::string(static_cast<const char*>(seconds), end) + " s";
}

/// The names of these options in a hook.
struct CadenceNames {
  std::string_view steps = "every_steps", seconds = "every_seconds", epochs = "every_epochs";
};

namespace detail {

template <class H>
[[noreturn]] CROCHET_COLD void refuse_cadence(const std::string& why) {
  throw LogicError("crochet: " + detail::type_name<H>() + ": " + why);
}
/// Throws LogicError if two intervals are set.
template <class H>
CROCHET_COLD void want_one_interval(const Intervals& every, const CadenceNames& names) {
  std::string set;
  const auto add = [&](bool is_set, std::string_view name) {
    if (is_set) (set += set.empty() ? "" : " and ").append(name);
  };
  add(every.steps.has_value(), names.steps);
  add(every.seconds.has_value(), names.seconds);
  add(every.epochs.has_value(), names.epochs);
  const bool all = every.steps && every.seconds && every.epochs;
  if (set.find(' ') == std::string::npos) return;
  refuse_cadence<H>((all ? "" : "both ") + set + " are set; keep exactly one of them");
}

/// For hook H, which makes runs that all ranks make together. Throws LogicError for an interval in seconds on several
/// ranks, whose clocks differ.
template <class H>
void require_no_clock_on_ranks(const Intervals& every, auto& session) {
  if constexpr (requires { session.executor().ranks(); }) {
    if (every.seconds && session.executor().ranks().size() > 1) {
      refuse_cadence<H>("the clocks of ranks differ: on several ranks set every_steps or every_epochs");
    }
  }
}

}  // namespace detail

/// The cadence of the options of hook H. `first` is for seconds: with Anchor::first_run they, too, end with the first
/// run. Without an interval the cadence is never due. Throws LogicError if several intervals are given or one is out of
/// range: steps and epochs above 0, seconds not below 0; and for epochs with Anchor::first_run.
template <class H>
CROCHET_COLD Cadence cadence_of(const Intervals& every, Anchor anchor, Cadence::First first = Cadence::First::at_once,
                                const CadenceNames& names = {}) {
  detail::want_one_interval<H>(every, names);
  const auto want_above_0 = [](std::string_view name, const std::optional<std::int64_t>& count) {
    if (!count || *count > 0) return;
    detail::refuse_cadence<H>("invalid " + std::string(name) + " = " + std::to_string(*count) +
                              "; it has to be above 0");
  };
  want_above_0(names.steps, every.steps);
  want_above_0(names.epochs, every.epochs);
  if (every.seconds && !(*every.seconds >= 0)) {
    detail::refuse_cadence<H>("invalid " + std::string(names.seconds) + " = " + std::to_string(*every.seconds) +
                              "; it must not be below 0");
  }
  if (every.steps) return Cadence::every_steps(*every.steps, anchor);
  if (every.epochs && anchor == Anchor::first_run) {
    detail::refuse_cadence<H>("Anchor::first_run does not apply to " + std::string(names.epochs) +
                              "; remove one of them");
  }
  if (every.epochs) return Cadence::every_epochs(*every.epochs);
  if (anchor == Anchor::first_run) first = Cadence::First::at_once;
  return every.seconds ? Cadence::every_seconds(*every.seconds, first) : Cadence{};
}

/// cadence_of for a hook that requires an interval: throws LogicError also when none is given.
template <class H>
CROCHET_COLD Cadence required_cadence_of(const Intervals& every, Anchor anchor,
                                         Cadence::First first = Cadence::First::at_once,
                                         const CadenceNames& names = {}) {
  if (!every.any()) {
    detail::refuse_cadence<H>("set exactly one of " + std::string(names.steps) + ", " + std::string(names.seconds) +
                              " and " + std::string(names.epochs));
  }
  return cadence_of<H>(every, anchor, first, names);
}

}  // namespace crochet
