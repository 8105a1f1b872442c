// SPDX-License-Identifier: Apache-2.0
// MetricCursor: a hook's read position in a MetricChannel, and the channel's state in checkpoints.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include <crochet/hooks/kit/metric_channel.hpp>

namespace crochet {

/// Base of hooks that publish to a MetricChannel in after_run. Hooks that read one declare `using after =
/// Hooks<PublishesMetrics>`, so that a chain with the reader first does not compile: the reader would act one run late.
struct PublishesMetrics {};

/// A hook's position in a channel. The hook calls begin, open, save_state and load_state in the phases of these names
/// (open in after_create_session). After a resume the channel is then as without an interruption:
/// - save_state writes the whole history, under `metrics` in the hook's own section. Of several hooks with one channel
///   the first one writes it.
/// - load_state adds the saved values to the channel. Values published meanwhile stay.
/// - open, in a restored or recovered session, removes the values of steps that the session has not reached, since
///   their weights no longer exist.
///
/// Cost: has_news is one load.
class MetricCursor {
 public:
  void begin(const MetricChannel& metrics) {
    version_ = metrics.version();
    step_ = -1;
    restored_ = false;
  }
  template <class Session>
  void open(const MetricChannel& metrics, const Session& session) {
    if (!restored_ && session.creation() == 1) return;
    restored_ = false;
    metrics.forget_after(session.step());
    if (step_ > session.step()) step_ = session.step();
  }

  /// Whether a metric was published since the last call of next() or mark_read().
  [[nodiscard]] bool has_news(const MetricChannel& metrics) const { return metrics.version() != version_; }
  void mark_read(const MetricChannel& metrics) { version_ = metrics.version(); }
  /// The newest value of the metric if its step is above all steps returned before. Throws LogicError as
  /// MetricChannel::latest does.
  [[nodiscard]] std::optional<MetricChannel::Entry> next(const MetricChannel& metrics, std::string_view metric) {
    mark_read(metrics);
    const auto newest = metrics.latest(metric);
    if (!newest || newest->step <= step_) return {};
    step_ = newest->step;
    return newest;
  }

  void save_state(const MetricChannel& metrics, auto& out) const {
    out.section("metrics", [&] {
      out.put("read", step_);
      metrics.save_history(out);
    });
  }
  void load_state(const MetricChannel& metrics, auto& in) {
    in.section("metrics", [&] {
      restored_ = in.get("read", step_);
      metrics.load_history(in);
    });
  }

 private:
  std::uint64_t version_ = 0;
  std::int64_t step_ = -1;  // of the last value returned by next()
  bool restored_ = false;
};

namespace detail {

/// Calls `use(channel)` if the function is a MetricChannel, as after `.then = metrics`.
template <class R, class... A, class Use>
void with_channel([[maybe_unused]] const std::function<R(A...)>& function, [[maybe_unused]] Use&& use) {
#ifdef __cpp_rtti
  if (const auto* metrics = function.template target<MetricChannel>()) use(*metrics);
#endif
}

}  // namespace detail

}  // namespace crochet
