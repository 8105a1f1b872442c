// SPDX-License-Identifier: Apache-2.0
// ValueWatch: the watch of launches for values that violate a rule, and what was found.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/executor/cuda/fetched_values.hpp>
#include <crochet/executor/cuda/memory.hpp>
#include <crochet/executor/cuda/queue.hpp>
#include <crochet/executor/cuda/stream.hpp>
#include <crochet/executor/cuda/watch_rules.hpp>
#include <crochet/executor/cuda/watched_values.hpp>
#include <crochet/executor/cuda/workspace.hpp>
#include <crochet/hook/value_rules.hpp>
#include <crochet/kernels/aligned_bytes.hpp>

namespace crochet::cuda {

/// A value of a run that violated its rule.
struct FoundValue {
  std::size_t flag = 0;
  kernel::AlignedBytes bytes;
  Dims dims{};
  std::int64_t run = 0;              ///< the number of the run on its workspace
  std::optional<std::int64_t> step;  ///< the global step after it
};

/// A launch whose runs compute a watched value checks it behind each run. If it violates its rule, the runs behind are
/// skipped, and later launches that watch it do nothing. The flags of a launch are copied to pinned memory behind it,
/// and the host reads them when the next launch is queued, so that the device is busy while the host waits for them.
/// From then on the host launches no run on the workspace, watched or not, until what was found is taken. T: the tables
/// of the graph.
template <class Device, class T>
class ValueWatch {
  using Memory = WorkspaceMemory<Device, T>;
  template <class N>
  static constexpr std::size_t number_of = crochet::detail::index_of_name(N::view(), T::fetchable);

 public:
  /// A hook calls it in each run, with its rule. Throws LogicError if no hook passed this rule in the first run on the
  /// workspace. The rule has then replaced another one. The device would check that one too and skip runs, and no hook
  /// would report why.
  template <class N, class Rule>
  void state(Memory& memory, const Rule& rule) {
    const std::optional<std::size_t> flag = rules_.add(watched_rule(number_of<N>, rule));
    if (flag && memory.stated.changes_with(*flag, memory.runs)) throw_changed(N::view());
  }
  /// Watches a value in all launches of a plan from here on, unless there are too many rules. Returns whether the last
  /// run of the plan is watched. `is_queued`: it is not launched yet.
  template <class N, class Rule>
  bool add(BoundPlan<Device>& plan, const Rule& rule, bool is_queued) {
    const std::optional<std::size_t> flag = rules_.add(watched_rule(number_of<N>, rule));
    if (!flag) return false;
    std::vector<bool>& flags = plan.watch.flags;
    if (flags.size() <= *flag) flags.resize(*flag + 1);
    if (flags[*flag]) return true;
    flags[*flag] = plan.watch.changed = true;
    return is_queued;
  }
  /// Whether a run may be skipped behind one that is no failure.
  bool may_end_early() const { return rules_.any_quiet(); }

  /// Before a launch of plan P for the demand D: makes it watch.
  template <class P, class D, class Runs>
  void prepare(const std::shared_ptr<Device>& device, Launch& launch, const Runs& runs) {
    WatchOf<Device>& watch = runs.plan->watch;
    if (watch.changed) bind<P, D>(device, *runs.plan);
    if (watch.values.empty()) return;
    if (flags_.reserve(device, flag_bytes, "flags")) device->clear(flags_.data(), flag_bytes);
    launch.watched = reinterpret_cast<const WatchedValue*>(watch.memory.data());
    launch.watched_count = static_cast<std::int32_t>(watch.values.size());
    launch.flags = reinterpret_cast<std::int32_t*>(flags_.data());
  }
  /// Behind that launch.
  template <class Runs>
  void launched(const std::shared_ptr<Device>& device, const Launch& launch, const Runs& runs) {
    if (launch.watched_count == 0 || failed_ != nullptr) return;
    found_.clear();
    slot_ = 1 - slot_;
    pinned_[slot_].reserve(device, flag_bytes, "flags");
    device->download_later(pinned_[slot_].data(), flags_.data(), rules_.list().size() * sizeof(std::int32_t),
                           Stream::compute);
    before_ = std::exchange(
        last_, Watched{device->record(Stream::compute), slot_, runs.launch, runs.memory, runs.plan->watch.values,
                       launch.bases, launch.base_count, runs.dims, runs.first_run});
  }
  /// Whether the flags of the last launch must be read before these runs are launched, because they may overwrite its
  /// values.
  template <class Runs>
  bool must_settle_before(const Runs& runs) const {
    return last_ && (last_->launcher != runs.launch || last_->memory != runs.memory || last_->dims != runs.dims);
  }
  /// Whether runs on the workspace are skipped, because a run on it has failed, as the host has read.
  bool skips(const Memory& memory) const { return failed_.get() == &memory; }
  /// Reads the flags of the launch before the last one, and of the last one too if `all`. Waits for them. Returns
  /// whether something was found.
  bool settle(Device& device, bool all) {
    const bool had_failed = failed_ != nullptr;
    read(device, before_);
    if (all) read(device, last_);
    return failed_ != nullptr && !had_failed;
  }

  /// What was found for a value and was not taken; runs are executed again from here on. A view is valid until the next
  /// call. `runs`: those on the workspace.
  template <class N, class Rule>
  auto take(Device& device, const Rule& rule, std::int64_t runs) {
    const WatchedRule wanted = watched_rule(number_of<N>, rule);
    using Found = Violation<decltype(as_fetched<T, N>(nullptr, Dims{}))>;
    const auto at = std::find_if(found_.begin(), found_.end(),
                                 [&](const FoundValue& f) { return rules_.list()[f.flag].checks_as(wanted); });
    if (at == found_.end()) return std::optional<Found>();
    taken_ = std::move(*at);
    found_.erase(at);
    go_on(device);
    return std::optional(Found{as_fetched<T, N>(taken_.bytes.data(), taken_.dims), taken_.step, runs - 1 - taken_.run});
  }
  /// Throws NanLossError if something was found for which FiniteRule::fails holds, and was not taken.
  void refuse_failure() const {
    for (const FoundValue& f : found_) {
      const WatchedRule& rule = rules_.list()[f.flag];
      if (!rule.fails) continue;
      throw NanLossError("crochet: " + std::string(T::fetchable[rule.name]) + " is not finite" +
                         (f.step ? " at step " + std::to_string(*f.step) : ""));
    }
  }
  /// Sets the step of what was found.
  void set_step(std::int64_t step) {
    for (FoundValue& f : found_) f.step = step;
  }
  /// Forgets what was found; runs are executed again.
  void forget(Device& device) {
    found_.clear();
    go_on(device);
  }

  /// For a reader on another thread: the flags as they are behind the queued launches go to `to`, memory of the device
  /// of flag_bytes (VariableSnapshot).
  void copy_flags(Device& device, std::byte* to) const {
    flags_.data() == nullptr ? device.clear(to, flag_bytes) : device.copy(to, flags_.data(), flag_bytes);
  }
  static constexpr std::size_t flag_bytes = WatchRules<T>::most * sizeof(std::int32_t);
  /// The rules, by flag.
  const std::vector<WatchedRule>& rules() const { return rules_.list(); }

 private:
  [[noreturn]] CROCHET_COLD static void throw_changed(std::string_view name) {
    throw LogicError(
        "crochet: the rule by which a hook checks " + std::string(name) +
        " has changed during the session, but a GPU checks all runs by the rules of the first one; set the "
        "hook's bounds before it, or decorate the hook, as EveryN<1, ...>, to check on the host");
  }
  /// A launch whose flags are on their way to the host.
  template <class Launcher>
  struct WatchedLaunch {
    typename Device::Event event;
    std::size_t slot;
    Launcher launcher;
    std::shared_ptr<Memory> memory;
    std::vector<WatchedValue> values;
    unsigned char* const* bases;
    std::int32_t base_count;
    Dims dims;
    std::int64_t first_run;
  };
  using Watched = WatchedLaunch<typename QueuedRuns<Device, T>::Launcher>;

  template <class P, class D>
  void bind(const std::shared_ptr<Device>& device, BoundPlan<Device>& plan) {
    WatchOf<Device>& watch = plan.watch;
    watch.values = WatchedValues<T, P, D>::of(plan, rules_.list());
    watch.changed = false;
    const std::size_t bytes = watch.values.size() * sizeof(WatchedValue);
    watch.memory.reserve(device, bytes, "the watched values of a plan");
    if (bytes > 0) device->upload(watch.memory.data(), watch.values.data(), bytes);
  }
  void read(Device& device, std::optional<Watched>& from) {
    const std::optional<Watched> launch = std::exchange(from, std::nullopt);
    if (!launch || failed_ != nullptr) return;
    device.wait(launch->event);
    for (const WatchedValue& w : launch->values) {
      std::int32_t run = 0;
      std::memcpy(&run, pinned_[launch->slot].data() + static_cast<std::size_t>(w.flag) * sizeof run, sizeof run);
      if (run > 0) found_.push_back(copy(device, *launch, w, run - 1));
    }
    if (found_.empty()) return;
    failed_ = launch->memory;
    failed_->skipped_last = failed_->runs - 1 > found_.back().run;
  }
  static FoundValue copy(Device& device, const Watched& launch, const WatchedValue& w, std::int32_t run) {
    FoundValue found{static_cast<std::size_t>(w.flag), {}, launch.dims, launch.first_run + run, {}};
    const std::byte* base = nullptr;
    device.download(&base, launch.bases + std::int64_t{run} * launch.base_count + w.place.base, sizeof base);
    const std::size_t bytes = static_cast<std::size_t>(w.size) * (w.is_double != 0 ? sizeof(double) : sizeof(float));
    found.bytes.reserve(bytes + 1, "a watched value");
    device.download(found.bytes.data(), base + w.place.offset, bytes);
    return found;
  }
  void go_on(Device& device) {
    before_.reset(), last_.reset();
    failed_.reset();
    if (flags_.data() != nullptr) device.clear(flags_.data(), flag_bytes);
  }

  WatchRules<T> rules_;
  DeviceBytes<Device> flags_;
  std::array<PinnedBytes<Device>, 2> pinned_;
  std::size_t slot_ = 0;
  std::optional<Watched> before_, last_;
  std::shared_ptr<Memory> failed_;  ///< the workspace of the run that failed, as the host has read
  std::vector<FoundValue> found_;
  FoundValue taken_;
};

}  // namespace crochet::cuda
