// SPDX-License-Identifier: Apache-2.0
// The chain of every program in this folder: checkpoints, event files, early stopping, profile, dump, log, rows.
#pragma once

#include <crochet/checkpoint/saver.hpp>
#include <crochet/crochet.hpp>
#include <crochet/hooks.hpp>
#include <crochet/hooks/io/dumping_debug.hpp>
#include <crochet/hooks/io/profiler_hook.hpp>
#include <crochet/io/event_writer.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>

namespace loops {

namespace cr = crochet;

/// One start of a loop.
struct Run {
  std::filesystem::path folder{};  ///< of all files
  std::int64_t last_step = 0;      ///< the loop stops here at the latest
  std::int64_t rarely = 500;       ///< steps between checkpoints, and between profiles
  std::int64_t patience = 4;       ///< values without improvement until early stopping
  cr::Sink sink{};                 ///< of the log
};

/// The part of a loop's state that is no array. Its class may have
///   resume()                          called with a session, after the variables have been restored
///   save_state(out), load_state(in)   as in a hook
template <class Loop>
struct LoopState {
  using handles = cr::Phases<cr::phase::after_create_session, cr::phase::save_state, cr::phase::load_state>;
  static constexpr std::string_view state_key = "loop";

  Loop* loop = nullptr;

  void after_create_session(auto& /*session*/, auto& /*coordinator*/) {
    if constexpr (requires { loop->resume(); }) loop->resume();
  }
  void save_state(auto& out) const {
    if constexpr (requires { loop->save_state(out); }) loop->save_state(out);
  }
  void load_state(auto& in) {
    if constexpr (requires { loop->load_state(in); }) loop->load_state(in);
  }
};

/// A folder that does not exist yet: each start of a program has dumps of its own.
inline std::filesystem::path next_dump(const std::filesystem::path& dumps) {
  std::error_code none;
  const auto count = std::distance(std::filesystem::directory_iterator{dumps, none}, {});
  return dumps / ("start-" + std::to_string(count + 1));
}

/// For a loop with the output "loss". In every step `Every` the loss is logged, stored and judged.
template <std::int64_t Every, class Loop>
auto chain_of(Loop& loop, const Run& run) {
  return cr::HookChain{cr::StopOnSignal{},
                       cr::StopAtStep{.last_step = run.last_step},
                       cr::EveryN<Every, cr::EarlyStopping<"loss">>{
                           {.aim = cr::Aim::lowest, .patience = run.patience, .min_delta = Loop::min_delta}},
                       cr::LoggingTensor<"loss">{.every_steps = Every, .sink = run.sink},
                       cr::CsvLogger<"loss">{.path = run.folder / "log.csv", .every_steps = Every},
                       cr::SummarySaver<cr::summary::Scalar<"loss">>{
                           .every_steps = Every, .summaries = cr::io::EventWriter{run.folder / "events"}},
                       cr::ProfilerHook{{.save_steps = run.rarely, .output_dir = run.folder / "profile"}},
                       cr::EveryN<Every, cr::DumpingDebugHook<>>{{next_dump(run.folder / "dumps")}},
                       LoopState<Loop>{&loop},
                       cr::CheckpointSaver{cr::Saver{run.folder / "checkpoints"}, {.save_steps = run.rarely}}};
}

}  // namespace loops
