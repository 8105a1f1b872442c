// SPDX-License-Identifier: Apache-2.0
// CapturedRun: a debugged run in memory, until the program decides whether to publish it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/debug/ops/tensor.hpp>
#include <crochet/debug/probe/debug_run.hpp>

namespace crochet::debug {

/// One run with copies of its firings. Memory: all bytes published in the run; the capacity is reused by the next run.
/// A copy of a CapturedRun is empty, and so is a moved-from one: a run exists in one place only.
class CapturedRun {
 public:
  CapturedRun() = default;
  CapturedRun(const CapturedRun&) {}
  CapturedRun(CapturedRun&& other) noexcept { *this = std::move(other); }
  CapturedRun& operator=(const CapturedRun&) {
    clear();
    return *this;
  }
  CapturedRun& operator=(CapturedRun&& other) noexcept {
    run_ = std::exchange(other.run_, std::nullopt);
    debug_events_ = std::move(other.debug_events_);
    bytes_ = std::move(other.bytes_);
    return *this;
  }
  ~CapturedRun() = default;

  void begin(const DebugRun& run) {
    clear();
    run_ = run;
  }
  void add(const DebugEvent& debug_event) {
    Copy copy{std::string(debug_event.node),
              debug_event.slot,
              std::string(debug_event.op),
              debug_event.microseconds,
              debug_event.tensor.dtype,
              bytes_.size(),
              debug_event.tensor.bytes.size(),
              {},
              {debug_event.tensor.strings.begin(), debug_event.tensor.strings.end()}};
    copy.shape.assign(debug_event.tensor.shape.begin(), debug_event.tensor.shape.end());
    bytes_.insert(bytes_.end(), debug_event.tensor.bytes.begin(), debug_event.tensor.bytes.end());
    debug_events_.push_back(std::move(copy));
  }

  /// Whether there is a run.
  [[nodiscard]] bool any() const { return run_.has_value(); }
  [[nodiscard]] const DebugRun& run() const { return *run_; }
  /// Calls `visit(const DebugEvent&)` for each firing, in order.
  template <class Visit>
  void each(Visit&& visit) const {
    for (const Copy& copy : debug_events_) {
      const Tensor tensor{copy.dtype, copy.shape, std::span(bytes_).subspan(copy.begin, copy.size), true, copy.strings};
      visit(DebugEvent{run_->device, copy.node, copy.slot, copy.op, copy.microseconds, tensor});
    }
  }
  void clear() {
    run_.reset();
    debug_events_.clear();
    bytes_.clear();
  }

 private:
  struct Copy {
    std::string node;
    std::int32_t slot;
    std::string op;
    std::int64_t microseconds;
    io::DataType dtype;
    std::size_t begin, size;  // in `bytes_`
    std::vector<std::int64_t> shape;
    std::vector<std::string> strings;
  };

  std::optional<DebugRun> run_;
  std::vector<Copy> debug_events_;
  std::vector<std::byte> bytes_;
};

}  // namespace crochet::debug
