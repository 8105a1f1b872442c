// SPDX-License-Identifier: Apache-2.0
// A program small enough for hundreds of saves: a step function with variables, and a hook with state.
#pragma once

#include <cstdint>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <crochet/executor/step/step_executor.hpp>
#include <crochet/hook/chain.hpp>
#include <crochet/session/run_session.hpp>

namespace crochet {

struct Count {
  void after_run(auto&, const auto&) { ++runs; }
  void save_state(auto& out) const {
    out.put("runs", runs);
    out.put("said", said);
    out.put("texts", texts);
    out.put("flags", flags);
  }
  void load_state(auto& in) {
    in.get("runs", runs);
    in.get("said", said);
    in.get("texts", texts);
    in.get("flags", flags);
  }
  std::int64_t runs = 0;
  std::string said;
  std::vector<std::string> texts;
  std::vector<std::uint8_t> flags;
};

/// The variables: w doubles in each step, n counts.
struct Machine {
  std::vector<double> w{1, 2, 3};
  std::int32_t n = 0;
  bool odd = false;

  auto executor() {
    return StepExecutor{[this](auto&) {
                          for (double& x : w) x = x * 1.5 + ++n;
                          odd = !odd;
                        },
                        variable<"w">(w), variable<"n">(n), variable<"odd">(odd)};
  }
};
template <class... H>
struct Program {
  Machine machine;
  decltype(std::declval<Machine&>().executor()) executor = machine.executor();
  HookChain<H...> chain;
  MonitoredSession<decltype(executor)&, HookChain<H...>&> session{executor, chain};
  ~Program() {
    try {
      session.close();
    } catch (const std::bad_alloc&) {  // in a test without memory
    }
  }
};

}  // namespace crochet
