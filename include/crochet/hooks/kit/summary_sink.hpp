// SPDX-License-Identifier: Apache-2.0
// SummarySink: the destination of hooks' summaries: an event file for TensorBoard, or a user's object.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include <crochet/storage/summary.hpp>

namespace crochet {

namespace detail {

struct SummaryTarget {
  SummaryTarget() = default;
  SummaryTarget(const SummaryTarget&) = delete;
  SummaryTarget& operator=(const SummaryTarget&) = delete;
  virtual ~SummaryTarget() = default;
  virtual void add(io::Summary summary, std::int64_t step) = 0;
  virtual void start(std::int64_t step) = 0;
  virtual void checkpoint(std::int64_t step, std::string_view path) = 0;
  virtual void stop(std::int64_t step, std::string_view why) = 0;
  virtual void flush() = 0;
};

/// A writer, with its optional members beside add_summary.
template <class W>
struct SummaryTargetOf final : SummaryTarget {
  explicit SummaryTargetOf(W given) : writer(one_source(std::move(given))) {}
  static W one_source(W given) {
    if constexpr (requires { W(given.for_one_source()); }) return given.for_one_source();
    return given;
  }
  void add(io::Summary summary, std::int64_t step) override {
    start(step);
    writer.add_summary(std::move(summary), step);
  }
  void start([[maybe_unused]] std::int64_t step) override {
    if constexpr (requires { writer.start(step); }) writer.start(step);
  }
  void checkpoint([[maybe_unused]] std::int64_t step, [[maybe_unused]] std::string_view path) override {
    if constexpr (requires { writer.checkpoint(step, path); }) writer.checkpoint(step, path);
  }
  void stop([[maybe_unused]] std::int64_t step, [[maybe_unused]] std::string_view why) override {
    if constexpr (requires { writer.stop(step, why); }) writer.stop(step, why);
  }
  void flush() override {
    if constexpr (requires { writer.flush(); }) writer.flush();
  }

  W writer;
};

}  // namespace detail

/// Receives summaries. `SummarySink{}` is empty: a hook without a sink fetches nothing for it.
/// - Made from any copyable object with `add_summary(io::Summary, std::int64_t step)`, such as an io::EventWriter.
/// - Optional members that are called too: `start(step)` before each summary, and by a SummarySaver in the first run;
///   `stop(step, why)`, `checkpoint(step, path)`, `flush()`; and first `for_one_source()`, which returns the object to
///   use (EventWriter).
/// - Copies share one sink.
/// - Cost: a virtual call per summary.
/// - Throws: what the object throws.
class SummarySink {
 public:
  SummarySink() = default;
  template <class W>
  requires(!std::same_as<W, SummarySink> && requires(W & writer, io::Summary summary) {
    writer.add_summary(std::move(summary), std::int64_t{});
  }) SummarySink(W writer) {  // NOLINT(google-explicit-constructor): `.summaries = events`
    if constexpr (std::is_constructible_v<bool, W>) {
      if (!static_cast<bool>(writer)) return;
    }
    target_ = std::make_shared<detail::SummaryTargetOf<W>>(std::move(writer));
  }

  [[nodiscard]] explicit operator bool() const { return target_ != nullptr; }

  void add(io::Summary summary, std::int64_t step) const {
    if (target_ && !summary.empty()) target_->add(std::move(summary), step);
  }
  void scalar(std::string_view tag, double value, std::int64_t step) const {
    if (target_) target_->add(std::move(io::Summary{}.scalar(tag, value)), step);
  }
  /// The first run of a session has ended at this step.
  void start(std::int64_t step) const {
    if (target_) target_->start(step);
  }
  /// A checkpoint was saved.
  void checkpoint(std::int64_t step, std::string_view path) const {
    if (target_) target_->checkpoint(step, path);
  }
  /// The session has ended.
  void stop(std::int64_t step, std::string_view why = {}) const {
    if (target_) target_->stop(step, why);
  }
  void flush() const {
    if (target_) target_->flush();
  }

 private:
  std::shared_ptr<detail::SummaryTarget> target_;
};

}  // namespace crochet
