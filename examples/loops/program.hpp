// SPDX-License-Identifier: Apache-2.0
// The main function of every program in this folder:
//   PROGRAM FOLDER [--until STEP] [--kill-at STEP]   runs the loop; continues it if FOLDER has checkpoints
//   PROGRAM --bench FOLDER                           measures it with and without the chain (bench.hpp)
#pragma once

#include <crochet/checkpoint/saver.hpp>
#include <crochet/crochet.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench.hpp"
#include "chain.hpp"

namespace loops {

/// A number of all bits of the executor's variables (FNV-1a): equal states have equal numbers.
inline std::uint64_t digest(const auto& executor) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  executor.for_each_variable([&](std::string_view /*name*/, auto elements, auto /*shape*/) {
    for (const std::byte byte : std::as_bytes(elements))
      hash = (hash ^ std::to_integer<unsigned>(byte)) * 0x100000001b3U;
  });
  return hash;
}

/// Runs the loop under its chain until a hook stops it, or kills the program as a power failure would.
template <class Loop>
void run(const Run& how, std::int64_t kill_at) {
  Loop loop;
  auto step = loop.executor();
  cr::MonitoredSession session{step, chain_of<50>(loop, how),
                               cr::restore_latest(cr::Saver{how.folder / "checkpoints"})};
  std::printf("begins at step %lld\n", static_cast<long long>(session.step()));
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) {
      s.run();
      if (s.step() == kill_at) std::_Exit(9);
    }
  });
  const auto why = session.stop_reason();
  std::printf("%s\nended: step %lld, loss %a, state %016llx\n", to_string(why).c_str(),
              static_cast<long long>(session.step()), static_cast<double>(loop.loss()),
              static_cast<unsigned long long>(digest(step)));
}

/// The number that follows an option; `otherwise` without it.
inline std::int64_t number_of(const std::vector<std::string>& arguments, std::string_view option,
                              std::int64_t otherwise) {
  for (std::size_t i = 0; i + 1 < arguments.size(); ++i)
    if (arguments[i] == option) return std::stoll(arguments[i + 1]);
  return otherwise;
}

template <class Loop>
int program(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (arguments.size() == 2 && arguments[0] == "--bench") return bench<Loop>(arguments[1]);
    if (arguments.empty()) throw cr::LogicError("usage: FOLDER [--until STEP] [--kill-at STEP] | --bench FOLDER");
    run<Loop>({.folder = arguments[0], .last_step = number_of(arguments, "--until", Loop::last_step)},
              number_of(arguments, "--kill-at", -1));
    return cr::StopOnSignal::exit_code();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace loops
