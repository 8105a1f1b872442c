// SPDX-License-Identifier: Apache-2.0
// DynamicHooks: hooks that are only known at run time (plug-ins, a configuration file), behind a virtual interface, as
// one element of a chain. The one place with virtual calls; everything else of the chain stays free of them.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hook/state.hpp>

namespace crochet {

/// A run as a plug-in sees it. Valid during the call.
class DynamicRun {
 public:
  virtual ~DynamicRun() = default;

  /// The global step: in before_run without, in after_run with the run at hand.
  [[nodiscard]] virtual std::int64_t step() const = 0;
  /// Asks the loop to end after this run.
  virtual void request_stop(std::string_view reason) = 0;
  /// The scalar value of a name that the DynamicHooks lists, in after_run of a run for which this or another plug-in
  /// wanted values. Throws LogicError if the name is not listed or nobody wanted values.
  [[nodiscard]] virtual double value(std::string_view name) const = 0;
};

/// Base of plug-ins: override what you need. Owned by the chain, so they may hold resources.
class DynamicHook {
 public:
  virtual ~DynamicHook() = default;

  virtual void begin() {}
  virtual void after_create_session() {}
  /// Returns whether the plug-in wants the listed values after this run.
  virtual bool before_run(DynamicRun& /*run*/) { return false; }
  virtual void after_run(DynamicRun& /*run*/) {}
  virtual void end() {}
  virtual void on_error(const std::exception_ptr& /*error*/) {}

  /// The plug-in's own state, for checkpoints; under its key, or if that is empty under its number.
  virtual void save_state(StateWriter& /*out*/) const {}
  virtual void load_state(StateReader& /*in*/) {}
  [[nodiscard]] virtual std::string state_key() const { return {}; }
};

namespace detail {

/// The typed run and values behind DynamicRun; both live on the stack of the call.
template <class Run, class Values, class... N>
class DynamicRunOf final : public DynamicRun {
 public:
  DynamicRunOf(Run& run, const Values* values) : run_(run), values_(values) {}

  [[nodiscard]] std::int64_t step() const override { return run_.step(); }
  void request_stop(std::string_view reason) override { run_.request_stop(reason); }
  [[nodiscard]] double value(std::string_view name) const override {
    std::optional<double> found;
    if constexpr (requires(const Values& values) { values.requested(); }) {
      if (values_ != nullptr && values_->requested()) {
        ((found || name != N::view() ? void() : void(found = static_cast<double>((*values_)[N{}]))), ...);
      }
    }
    if (!found)
      throw LogicError("crochet: a plug-in reads \"" + std::string(name) + "\", which is not there in this run");
    return *found;
  }

 private:
  Run& run_;
  const Values* values_;
};

}  // namespace detail

/// Plug-ins behind DynamicHook, called in the order of `add`. The names they may read are listed here, so that the plan
/// is known to the compiler; they are fetched only in runs for which a plug-in wants values. Listed values must be
/// scalars. `DynamicHooks<"loss"> plugins; plugins.add(std::make_unique<MyPlugin>());` Cost: two virtual calls a run
/// for each plug-in; an empty one costs a test.
template <FixedString... Text>
class DynamicHooks {
 public:
  using handles = Phases<phase::begin, phase::after_create_session, phase::before_run, phase::after_run, phase::end,
                         phase::on_error, phase::save_state, phase::load_state>;
  static constexpr auto fetches = crochet::fetches<Text...>;

  /// Adds a plug-in, also between runs and in a call of another plug-in. It sees the phases that come after.
  DynamicHooks& add(std::unique_ptr<DynamicHook> hook) {
    hooks_.push_back(std::move(hook));
    return *this;
  }
  /// Adds a plug-in of type H, made from the arguments. Returns it; valid as long as this object or what it is moved
  /// to.
  template <std::derived_from<DynamicHook> H, class... A>
  H& emplace(A&&... args) {
    auto hook = std::make_unique<H>(std::forward<A>(args)...);
    H& made = *hook;
    add(std::move(hook));
    return made;
  }
  [[nodiscard]] std::size_t size() const { return hooks_.size(); }

  void begin() {
    each([](DynamicHook& hook) { hook.begin(); });
  }
  void after_create_session(auto& /*session*/, auto& /*coordinator*/) {
    each([](DynamicHook& hook) { hook.after_create_session(); });
  }
  template <class Run>
  MaybeFetch<Text...> before_run(Run& run) {
    detail::DynamicRunOf<Run, Nothing> seen{run, nullptr};
    bool wanted = false;
    each([&](DynamicHook& hook) { wanted |= hook.before_run(seen); });
    if (!wanted) return std::nullopt;
    return RunArgs{fetches};
  }
  template <class Run, class Values>
  void after_run(Run& run, const Values& values) {
    detail::DynamicRunOf<Run, Values, Name<Text>...> seen{run, &values};
    each([&](DynamicHook& hook) { hook.after_run(seen); });
  }
  void end(auto& /*session*/) {
    each([](DynamicHook& hook) { hook.end(); });
  }
  void on_error(const std::exception_ptr& error) {
    each([&](DynamicHook& hook) { hook.on_error(error); });
  }
  void save_state(StateWriter& out) const {
    for (std::size_t i = 0; i < hooks_.size(); ++i) {
      out.section(key_of(i), [&] { hooks_[i]->save_state(out); });
    }
  }
  void load_state(StateReader& in) {
    for (std::size_t i = 0; i < hooks_.size(); ++i) {
      in.section(key_of(i), [&] { hooks_[i]->load_state(in); });
    }
  }

 private:
  struct Nothing {};

  /// Calls the plug-ins that are there now. One that is added meanwhile, by another's call, is called from the next
  /// phase on.
  template <class Call>
  void each(const Call& call) {
    for (std::size_t i = 0, count = hooks_.size(); i < count; ++i) call(*hooks_[i]);
  }
  [[nodiscard]] std::string key_of(std::size_t i) const {
    const std::string key = hooks_[i]->state_key();
    return key.empty() ? std::to_string(i) : key;
  }

  std::vector<std::unique_ptr<DynamicHook>> hooks_;
};

}  // namespace crochet
