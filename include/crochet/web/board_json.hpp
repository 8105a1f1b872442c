// SPDX-License-Identifier: Apache-2.0
// The changes of a board as JSON, for the script of the live page.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <crochet/web/board.hpp>
#include <crochet/web/json_text.hpp>

namespace crochet::web {

namespace detail {

/// Appends `[a,b,...]`.
template <class Range, class Append>
void append_list(std::string& out, const Range& range, Append append) {
  out += '[';
  std::string_view comma;
  for (const auto& item : range) {
    out += comma;
    append(item);
    comma = ",";
  }
  out += ']';
}

/// Appends `"key":`, and a comma before it unless it is the first member.
inline std::string& key(std::string& out, std::string_view name) {
  return ((out += out.back() == '{' ? "\"" : ",\"") += name) += "\":";
}

/// `[first, last, mean, least, greatest, non-finite]`.
inline void append_bucket(std::string& out, const Bucket& bucket) {
  append_json(out += '[', bucket.first);
  append_json(out += ',', bucket.last);
  append_json(out += ',', bucket.sum / static_cast<double>(bucket.finite));  // 0 / 0: null
  append_json(out += ',', bucket.least);
  append_json(out += ',', bucket.greatest);
  append_json(out += ',', bucket.points - bucket.finite);
  out += ']';
}

inline void append_curve(std::string& out, const BoardChanges::Curve& curve) {
  append_json(key(out += '{', "name"), curve.name);
  append_json(key(out, "from"), curve.from);
  append_json(key(out, "stride"), curve.stride);
  append_list(key(out, "points"), curve.buckets, [&](const Bucket& bucket) { append_bucket(out, bucket); });
  out += '}';
}

inline void append_bars(std::string& out, std::string_view name, const Bars& bars) {
  append_json(key(out += '{', "name"), name);
  append_json(key(out, "step"), bars.step);
  append_json(key(out, "least"), bars.least);
  append_json(key(out, "greatest"), bars.greatest);
  append_json(key(out, "nonFinite"), bars.non_finite);
  append_list(key(out, "bars"), bars.bars, [&](std::uint64_t n) { append_json(out, n); });
  out += '}';
}

inline void append_cost(std::string& out, const HookCost& cost) {
  append_json(key(out += '{', "hook"), cost.hook);
  append_json(key(out, "runs"), cost.runs);
  append_json(key(out, "before"), cost.before_run);
  append_json(key(out, "after"), cost.after_run);
  out += '}';
}

}  // namespace detail

/// An object with `version`, `step`, `total` (or null), `rate`, `elapsed`, `state`, `running`, `stopping`; with the
/// changed `curves`, `histograms` and `lines`; with `chain` and `hooks` if they have changed.
inline std::string board_json(const BoardChanges& all) {
  using namespace detail;  // NOLINT(google-build-using-namespace): of this header
  std::string out = "{";
  append_json(key(out, "version"), all.version);
  append_json(key(out, "step"), all.progress.step);
  key(out, "total");
  all.progress.total ? append_json(out, *all.progress.total) : void(out += "null");
  append_json(key(out, "rate"), all.progress.rate);
  append_json(key(out, "elapsed"), all.progress.elapsed);
  append_json(key(out, "state"), all.state);
  key(out, "running") += all.running ? "true" : "false";
  key(out, "stopping") += all.stopping ? "true" : "false";
  append_list(key(out, "curves"), all.curves, [&](const auto& curve) { append_curve(out, curve); });
  append_list(key(out, "histograms"), all.histograms, [&](const auto& h) { append_bars(out, h.first, h.second); });
  append_list(key(out, "lines"), all.lines, [&](const std::string& line) { append_json(out, line); });
  if (all.chain) append_json(key(out, "chain"), *all.chain);
  if (all.hooks) append_list(key(out, "hooks"), *all.hooks, [&](const auto& cost) { append_cost(out, cost); });
  return out += '}';
}

}  // namespace crochet::web
