// SPDX-License-Identifier: Apache-2.0
// The changes of a board as JSON, for the script of the live page.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <crochet/web/board.hpp>
#include <crochet/web/json_text.hpp>

namespace crochet::detail {

using web::append_json;

/// Appends `[a,b,...]`.
template <class Range, class Append>
void append_json_list(std::string& out, const Range& range, Append append) {
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
inline std::string& json_key(std::string& out, std::string_view name) {
  return ((out += out.back() == '{' ? "\"" : ",\"") += name) += "\":";
}

/// `[first, last, mean, least, greatest, non-finite]`.
inline void append_bucket(std::string& out, const web::Bucket& bucket) {
  append_json(out += '[', bucket.first);
  append_json(out += ',', bucket.last);
  append_json(out += ',', bucket.sum / static_cast<double>(bucket.finite));  // 0 / 0: null
  append_json(out += ',', bucket.least);
  append_json(out += ',', bucket.greatest);
  append_json(out += ',', bucket.points - bucket.finite);
  out += ']';
}

inline void append_curve(std::string& out, const web::BoardChanges::Curve& curve) {
  append_json(json_key(out += '{', "name"), curve.name);
  append_json(json_key(out, "from"), curve.from);
  append_json(json_key(out, "stride"), curve.stride);
  append_json_list(json_key(out, "points"), curve.buckets,
                   [&](const web::Bucket& bucket) { append_bucket(out, bucket); });
  out += '}';
}

inline void append_bars(std::string& out, std::string_view name, const web::Bars& bars) {
  append_json(json_key(out += '{', "name"), name);
  append_json(json_key(out, "step"), bars.step);
  append_json(json_key(out, "least"), bars.least);
  append_json(json_key(out, "greatest"), bars.greatest);
  append_json(json_key(out, "nonFinite"), bars.non_finite);
  append_json_list(json_key(out, "bars"), bars.bars, [&](std::uint64_t n) { append_json(out, n); });
  out += '}';
}

/// `[calls, seconds]`.
inline void append_time(std::string& out, const web::CallTime& time) {
  append_json(out += '[', time.calls);
  append_json(out += ',', time.seconds);
  out += ']';
}

inline void append_cost(std::string& out, const web::HookCost& cost) {
  append_json(json_key(out += '{', "hook"), cost.hook);
  append_time(json_key(out, "before"), cost.before_run);
  append_time(json_key(out, "after"), cost.after_run);
  out += '}';
}

}  // namespace crochet::detail

namespace crochet::web {

/// An object with `version`, `step`, `total` (or null), `rate`, `elapsed`, `state`, `running`, `stopping`; with the
/// changed `curves`, `histograms` and `lines`; with `chain` and `hooks` if they have changed.
inline std::string board_json(const BoardChanges& all) {
  using detail::append_json_list;
  using detail::json_key;
  std::string out = "{";
  append_json(json_key(out, "version"), all.version);
  append_json(json_key(out, "step"), all.progress.step);
  json_key(out, "total");
  all.progress.total ? append_json(out, *all.progress.total) : void(out += "null");
  append_json(json_key(out, "rate"), all.progress.rate);
  append_json(json_key(out, "elapsed"), all.progress.elapsed);
  append_json(json_key(out, "state"), all.state);
  json_key(out, "running") += all.running ? "true" : "false";
  json_key(out, "stopping") += all.stopping ? "true" : "false";
  append_json_list(json_key(out, "curves"), all.curves, [&](const auto& curve) { detail::append_curve(out, curve); });
  append_json_list(json_key(out, "histograms"), all.histograms,
                   [&](const auto& h) { detail::append_bars(out, h.first, h.second); });
  append_json_list(json_key(out, "lines"), all.lines, [&](const std::string& line) { append_json(out, line); });
  if (all.chain) append_json(json_key(out, "chain"), *all.chain);
  if (all.hooks)
    append_json_list(json_key(out, "hooks"), *all.hooks, [&](const auto& cost) { detail::append_cost(out, cost); });
  return out += '}';
}

}  // namespace crochet::web
