// SPDX-License-Identifier: Apache-2.0
// MetricCursor: how far a hook has read a MetricChannel, and what of the channel travels in checkpoints.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include <crochet/hooks/kit/metric_channel.hpp>

namespace crochet {

/// Base of hooks that publish to a MetricChannel in after_run. Hooks that read one state `using after =
/// Hooks<PublishesMetrics>`, so that a chain in which the reader comes first does not compile: the reader would act one
/// run late.
struct PublishesMetrics {};

/// A hook's position in a channel. The hook calls begin, open, save_state and load_state in the phases of these names
/// (open in after_create_session). The channel is then the same after a resume as without an interruption:
/// - save_state writes the whole history, under `metrics` in the hook's own section. Of several hooks of a chain with
///   one channel the first one writes it.
/// - load_state adds what was saved to the channel. Values that others published meanwhile stay.
/// - open removes, in a session that was restored or created anew, the values of steps that the session has not
/// reached:
///   their weights are gone.
/// Cost: has_news one load.
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

  /// Was something published since the last call of next() or mark_read()?
  [[nodiscard]] bool has_news(const MetricChannel& metrics) const { return metrics.version() != version_; }
  void mark_read(const MetricChannel& metrics) { version_ = metrics.version(); }
  /// The newest value of the metric if its step is above all that next() returned before. Throws LogicError as
  /// MetricChannel::latest does.
  [[nodiscard]] std::optional<MetricChannel::Entry> next(const MetricChannel& metrics, std::string_view metric) {
    mark_read(metrics);
    const auto newest = metrics.latest(metric);
    if (!newest || newest->step <= step_) return {};
    step_ = newest->step;
    return newest;
  }

  /// The step of the last value that next() returned; -1 if there was none.
  [[nodiscard]] std::int64_t last_step() const { return step_; }

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
  std::int64_t step_ = -1;  // of the last value that next() returned
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
