// SPDX-License-Identifier: Apache-2.0
// DynamicHooks: hooks chosen at run time (plug-ins, a configuration file), behind a virtual interface, as one element
// of a chain. Only this part of the chain uses virtual calls.
#pragma once

#include <array>
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

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/base/nested_errors.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hook/state.hpp>

namespace crochet {

/// The run that is passed to a plug-in. Valid during the call.
class DynamicRun {
 public:
  virtual ~DynamicRun() = default;

  /// The global step: in before_run the step before the current run, in after_run the step after it.
  [[nodiscard]] virtual std::int64_t step() const = 0;
  /// Number of complete epochs, with the batch of this run. Throws LogicError without data that count epochs.
  [[nodiscard]] virtual std::int64_t epoch() const = 0;
  /// Requests that the loop ends after this run.
  virtual void request_stop(std::string_view reason) = 0;
  /// The scalar value of a name that the DynamicHooks lists. Available in after_run if the before_run of at least one
  /// plug-in returned true for this run. Throws LogicError, with the cause, if the name is not listed or there are no
  /// values.
  [[nodiscard]] virtual double value(std::string_view name) const = 0;
};

/// Base of plug-ins: override the phases that you need. The chain owns plug-ins, so they may hold resources.
class DynamicHook {
 public:
  virtual ~DynamicHook() = default;

  virtual void begin() {}
  virtual void after_create_session() {}
  /// Returns true to request the listed values in after_run of this run.
  virtual bool before_run(DynamicRun& /*run*/) { return false; }
  virtual void after_run(DynamicRun& /*run*/) {}
  virtual void end() {}
  virtual void on_error(const std::exception_ptr& /*error*/) {}

  /// The plug-in's own state, for checkpoints. Saved under its key; under its number if the key is empty.
  virtual void save_state(StateWriter& /*out*/) const {}
  virtual void load_state(StateReader& /*in*/) {}
  [[nodiscard]] virtual std::string state_key() const { return {}; }
};

namespace detail {

/// The error of a plug-in that reads a value that is not there: the name is not listed, or there are no values, for the
/// reason `why`.
[[noreturn]] CROCHET_COLD inline void no_value_for_plug_in(std::string_view name, std::string_view why,
                                                           std::span<const std::string_view> listed) {
  const std::string text = "crochet: a plug-in reads \"" + std::string(name) + "\"";
  for (const std::string_view one : listed) {
    if (one == name) throw LogicError(text + std::string(why));
  }
  const std::string_view near = closest(name, listed);
  throw LogicError(text + ", which its DynamicHooks does not list; " +
                   (near.empty() ? "add it to the names of the type" : "did you mean \"" + std::string(near) + "\"?"));
}

/// The typed run and values behind DynamicRun. Both live on the stack of the call.
template <class Run, class Values, class... N>
class DynamicRunOf final : public DynamicRun {
 public:
  DynamicRunOf(Run& run, const Values* values) : run_(run), values_(values) {}

  [[nodiscard]] std::int64_t step() const override { return run_.step(); }
  [[nodiscard]] std::int64_t epoch() const override { return run_.epoch(); }
  void request_stop(std::string_view reason) override { run_.request_stop(reason); }
  [[nodiscard]] double value(std::string_view name) const override {
    std::optional<double> found;
    if constexpr (requires(const Values& values) { values.requested(); }) {
      if (values_ != nullptr && values_->requested()) {
        ((found || name != N::view() ? void() : void(found = static_cast<double>((*values_)[N{}]))), ...);
      }
    }
    if (!found) {
      static constexpr std::array<std::string_view, sizeof...(N)> listed{N::view()...};
      no_value_for_plug_in(name,
                           values_ == nullptr ? " in before_run, where there are no values; read it in after_run"
                                              : " in a run without values; return true in before_run of such a run",
                           listed);
    }
    return *found;
  }

 private:
  Run& run_;
  const Values* values_;
};

}  // namespace detail

/// Plug-ins behind DynamicHook, called in the order of `add`: `DynamicHooks<"loss"> plugins;
/// plugins.add(std::make_unique<MyPlugin>());`
/// - Text: the names that plug-ins may read, listed here because the plan is made at compile time. Their values must be
///   scalars. They are fetched only in runs for which a plug-in requests values.
/// - `end` and `on_error` of every plug-in are called, also after one that throws.
/// - Cost: two virtual calls per run and plug-in; one test if there is no plug-in.
template <FixedString... Text>
class DynamicHooks {
 public:
  using handles = Phases<phase::begin, phase::after_create_session, phase::before_run, phase::after_run, phase::end,
                         phase::on_error, phase::save_state, phase::load_state>;
  static constexpr auto fetches = crochet::fetches<Text...>;

  /// Adds a plug-in. Allowed between runs and in a call of another plug-in. The plug-in receives the phases that
  /// follow. Throws LogicError if it is null.
  DynamicHooks& add(std::unique_ptr<DynamicHook> hook) {
    if (!hook) {
      throw LogicError(
          "crochet: DynamicHooks::add: the plug-in is null; does the function that makes it know its name?");
    }
    hooks_.push_back(std::move(hook));
    return *this;
  }
  /// Constructs a plug-in of type H from the arguments and adds it. The reference is valid as long as this object or
  /// the object that it is moved to.
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
    detail::DynamicRunOf<Run, Nothing, Name<Text>...> seen{run, nullptr};
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
    each_guarded([](DynamicHook& hook) { hook.end(); });
  }
  void on_error(const std::exception_ptr& error) {
    each_guarded([&](DynamicHook& hook) { hook.on_error(error); });
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

  /// Calls the current plug-ins. A plug-in that is added during a call is called from the next phase on.
  template <class Call>
  void each(const Call& call) {
    for (std::size_t i = 0, count = hooks_.size(); i < count; ++i) call(*hooks_[i]);
  }
  /// The same, also after one that throws. Then throws the first error; further ones are nested in it.
  template <class Call>
  void each_guarded(const Call& call) {
    detail::NestedErrors errors;
    each([&](DynamicHook& hook) {
      try {
        call(hook);
      } catch (...) {
        errors(std::current_exception());
      }
    });
    errors.rethrow_first();
  }
  [[nodiscard]] std::string key_of(std::size_t i) const {
    const std::string key = hooks_[i]->state_key();
    return key.empty() ? std::to_string(i) : key;
  }

  std::vector<std::unique_ptr<DynamicHook>> hooks_;
};

}  // namespace crochet
