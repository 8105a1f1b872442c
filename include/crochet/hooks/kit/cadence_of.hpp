// SPDX-License-Identifier: Apache-2.0
// cadence_of(): the Cadence of a hook's options, and its text.
#pragma once

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

/// The text of the interval settings of a hook: "every 100 steps".
inline std::string cadence_text(const std::optional<std::int64_t>& every_steps,
                                const std::optional<double>& every_seconds, Anchor anchor = Anchor::global_step) {
  if (every_steps) {
    const std::string steps = *every_steps == 1 ? "every step" : "every " + std::to_string(*every_steps) + " steps";
    return anchor == Anchor::first_run ? steps + " from the first run on" : steps;
  }
  if (!every_seconds) return "";
  std::string seconds = std::to_string(*every_seconds);
  seconds.erase(seconds.find_last_not_of('0') + 1);
  if (seconds.back() == '.') seconds.pop_back();
  return "every " + seconds + " s";
}

/// The names of the two options in a hook.
struct CadenceNames {
  std::string_view steps = "every_steps", seconds = "every_seconds";
};

/// The cadence of the options of hook H. `first` is for seconds: with Anchor::first_run they, too, end with the first
/// run. Without an interval the cadence is never due. Throws LogicError if both intervals are given or one is out of
/// range: steps above 0, seconds not below 0.
template <class H>
CROCHET_COLD Cadence cadence_of(const std::optional<std::int64_t>& every_steps,
                                const std::optional<double>& every_seconds, Anchor anchor,
                                Cadence::First first = Cadence::First::at_once, const CadenceNames& names = {}) {
  const std::string steps(names.steps), seconds(names.seconds);
  const auto refuse = [](const std::string& why) {
    throw LogicError("crochet: " + detail::type_name<H>() + ": " + why);
  };
  if (every_steps && every_seconds) refuse("both " + steps + " and " + seconds + " are set; keep exactly one of them");
  if (every_steps && *every_steps <= 0) {
    refuse("invalid " + steps + " = " + std::to_string(*every_steps) + "; it has to be above 0");
  }
  if (every_seconds && !(*every_seconds >= 0)) {
    refuse("invalid " + seconds + " = " + std::to_string(*every_seconds) + "; it must not be below 0");
  }
  if (every_steps) return Cadence::every_steps(*every_steps, anchor);
  if (anchor == Anchor::first_run) first = Cadence::First::at_once;
  return every_seconds ? Cadence::every_seconds(*every_seconds, first) : Cadence{};
}

/// cadence_of for a hook that requires an interval: throws LogicError also when neither is given.
template <class H>
CROCHET_COLD Cadence required_cadence_of(const std::optional<std::int64_t>& every_steps,
                                         const std::optional<double>& every_seconds, Anchor anchor,
                                         Cadence::First first = Cadence::First::at_once,
                                         const CadenceNames& names = {}) {
  if (!every_steps && !every_seconds) {
    throw LogicError("crochet: " + detail::type_name<H>() + ": set exactly one of " + std::string(names.steps) +
                     " and " + std::string(names.seconds));
  }
  return cadence_of<H>(every_steps, every_seconds, anchor, first, names);
}

}  // namespace crochet
