// SPDX-License-Identifier: Apache-2.0
// The compiled half of profiler_hook.hpp.
#pragma once

#include <crochet/hooks/io/profiler_hook.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <crochet/base/clock.hpp>
#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/sink.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/phase_log.hpp>
#include <crochet/hooks/kit/anchor.hpp>
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/hooks/kit/cadence_of.hpp>
#include <crochet/hooks/kit/rank_folder.hpp>
#include <crochet/io/file_writer_cache.hpp>
#include <crochet/storage/absolute_path.hpp>
#include <crochet/storage/file_system.hpp>
#include <crochet/trace/run_writer.hpp>
#include <crochet/trace/step_recorder.hpp>

namespace crochet {

CROCHET_INLINE void ProfilerHook::join_ranks(int rank, int size) {
  rank_ = rank;
  ranks_ = size;
}

CROCHET_INLINE void ProfilerHook::begin() {
  timer_ = required_cadence_of<ProfilerHook>({options_.save_steps, options_.save_secs, options_.save_epochs},
                                             options_.anchor, Cadence::First::after_interval,
                                             {"save_steps", "save_secs", "save_epochs"});
  writer_ = std::make_shared<trace::RunWriter>(writer_options());
  state_ = State::idle;
  primed_ = looked_ = false;
}

CROCHET_INLINE trace::ProfileTable ProfilerHook::table() {
  if (!writer_) return {};
  if (state_ == State::recorded && !log_.busy()) settle();
  return writer_->table();
}

CROCHET_INLINE std::string ProfilerHook::cadence() const {
  return "one run " + cadence_text({options_.save_steps, options_.save_secs, options_.save_epochs}, options_.anchor);
}

CROCHET_COLD CROCHET_INLINE void ProfilerHook::prime(std::int64_t step) {
  if (!options_.save_epochs) timer_.start(options_.anchor == Anchor::global_step ? step + 1 : step, options_.clock());
  primed_ = true;
}

CROCHET_COLD CROCHET_INLINE void ProfilerHook::recorded(std::int64_t step) {
  timer_.triggered(step, options_.clock());
  step_ = step;
  state_ = State::recorded;
}

CROCHET_COLD CROCHET_INLINE void ProfilerHook::settle() {
  if (std::exchange(state_, State::idle) != State::recorded || !recorder_.complete()) return;
  trace::RunTrace run = recorder_.take();
  run.step = step_;
  run.phases.assign(log_.phases().begin(), log_.phases().end());
  writer_->write(std::move(run));
}

CROCHET_INLINE std::filesystem::path ProfilerHook::output_dir() const {
  return detail::rank_folder(options_.output_dir, rank_, ranks_);
}

CROCHET_INLINE trace::RunWriterOptions ProfilerHook::writer_options() {
  const std::filesystem::path folder = output_dir(), perfetto = detail::rank_file(options_.perfetto, rank_, ranks_);
  return {.output_dir = io::absolute_path(folder.empty() ? "." : folder),
          .timeline = {options_.show_dataflow, options_.show_memory},
          .run_metadata = options_.run_metadata,
          .events = event_writer(),
          .perfetto = perfetto.empty() ? perfetto : io::absolute_path(perfetto),
          .in_background = options_.in_background,
          .on_write_error = options_.on_write_error,
          .report = options_.sink,
          .files = options_.files};
}

CROCHET_INLINE io::EventWriter ProfilerHook::event_writer() {
  if (!options_.event_file) return {};
  io::EventWriterOptions how;  // the writer outlives the hook, so it does not use the hook's sink
  how.log.on_write_error = options_.on_write_error;
  try {
    const std::filesystem::path folder = output_dir();
    return io::FileWriterCache::get(folder.empty() ? "." : folder, how);
  } catch (const IoError& error) {
    if (options_.on_write_error == io::OnWriteError::stop) throw;
    options_.sink(std::string(error.what()) + "; training goes on without an event file of profiles");
    return {};
  }
}

}  // namespace crochet
