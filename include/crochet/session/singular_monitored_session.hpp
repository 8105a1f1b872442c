// SPDX-License-Identifier: Apache-2.0
// SingularMonitoredSession: a MonitoredSession without its outermost layer.
#pragma once

#include <crochet/hook/chain.hpp>
#include <crochet/session/monitored_session.hpp>
#include <crochet/session/recoverable.hpp>
#include <crochet/session/session_creator.hpp>
#include <crochet/session/session_options.hpp>

namespace crochet {

/// A session without recovery: every error goes to the caller, and should_stop() throws an error that a thread
/// reported. For programs on one machine that prefer ending to resuming from the last checkpoint. Borrows and owns like
/// MonitoredSession.
template <class Exec, class Chain, class Creator = InitializeCreator>
class SingularMonitoredSession : public MonitoredSession<Exec, Chain, Creator, Singular> {
 public:
  using MonitoredSession<Exec, Chain, Creator, Singular>::MonitoredSession;
};
template <class Exec>
SingularMonitoredSession(Exec&&) -> SingularMonitoredSession<Exec, HookChain<>>;
template <class Exec, class... H>
SingularMonitoredSession(Exec&&, HookChain<H...>) -> SingularMonitoredSession<Exec, HookChain<H...>>;
template <class Exec, class... H>
SingularMonitoredSession(Exec&&, HookChain<H...>, SessionOptions) -> SingularMonitoredSession<Exec, HookChain<H...>>;
template <class Exec, class... H, class Creator>
SingularMonitoredSession(Exec&&, HookChain<H...>, Creator, SessionOptions = {})
    -> SingularMonitoredSession<Exec, HookChain<H...>, Creator>;
template <class Exec, class... H, class Creator, detail::NoSessionOptions Given>
SingularMonitoredSession(Exec&&, HookChain<H...>, Creator, const Given&)
    -> SingularMonitoredSession<Exec, HookChain<H...>, Creator>;

}  // namespace crochet
