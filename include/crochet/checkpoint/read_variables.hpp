// SPDX-License-Identifier: Apache-2.0
// ReadVariables: the part of an executor that the runs of one demand read, for restore_session.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <crochet/hook/state.hpp>
#include <crochet/session/raw_session.hpp>

namespace crochet::detail {

/// The variables of an executor that the demand D reads. Others are not visited, so a checkpoint may lack them: slots
/// of optimizers, and those of what the model computes besides the outputs. E: an executor with
/// `reads_variable<D>(name)`; it must outlive the object.
template <class E, class D>
class ReadVariables {
 public:
  explicit ReadVariables(E& executor) : executor_(&executor) {}

  /// See HasVariables (session/variables.hpp).
  template <class Visit>
  void for_each_variable(Visit&& visit) {
    visit_read(*executor_, visit);
  }
  template <class Visit>
  void for_each_variable(Visit&& visit) const {
    visit_read(static_cast<const E&>(*executor_), visit);
  }
  [[nodiscard]] bool variables_initialized() const { return executor_->variables_initialized(); }
  [[nodiscard]] std::vector<std::string> uninitialized_variables() const {
    return executor_->uninitialized_variables();
  }

 private:
  template <class X, class Visit>
  static void visit_read(X& executor, Visit& visit) {
    executor.for_each_variable([&](std::string_view name, auto elements, std::span<const std::int64_t> shape) {
      if (!E::template reads_variable<D>(name)) return false;
      if constexpr (std::is_void_v<decltype(visit(name, elements, shape))>) {
        visit(name, elements, shape);
        return true;
      } else {
        return visit(name, elements, shape);
      }
    });
  }

  E* executor_;
};

/// What restore_session needs of a session: these variables, the step of the checkpoint (0 if it has none), and the
/// state of the given hooks.
template <class E, class D>
class RestoredPart {
 public:
  explicit RestoredPart(E& executor, const HookStates& hooks = {}) : variables_(executor), hooks_(hooks) {}

  [[nodiscard]] ReadVariables<E, D>& executor() { return variables_; }
  [[nodiscard]] std::int64_t step() const { return step_; }
  void set_step(std::int64_t step) { step_ = step; }
  void save_hook_state(StateWriter& out) const {
    if (hooks_.save != nullptr) hooks_.save(hooks_.chain, out);
  }
  void load_hook_state(StateReader& in) {
    if (hooks_.load != nullptr) hooks_.load(hooks_.chain, in);
  }

 private:
  ReadVariables<E, D> variables_;
  HookStates hooks_;
  std::int64_t step_ = 0;
};

}  // namespace crochet::detail
