// SPDX-License-Identifier: Apache-2.0
// GuardedRun: the run as a hook sees it that is called on one of several ranks.
#pragma once

namespace crochet {

/// Context: a RunContext. Its session is the GuardedSession of the guard.
template <class Context, class Guard>
class GuardedRun : public Context {
 public:
  constexpr explicit GuardedRun(const Context& run) : Context(run) {}

  [[nodiscard]] constexpr auto& session() const { return Context::session().template guarded_by<Guard>(); }

  /// As RunContext::as.
  template <class Other>
  [[nodiscard]] constexpr auto as() const {
    auto run = Context::template as<Other>();
    return GuardedRun<decltype(run), Guard>{run};
  }
};

}  // namespace crochet
